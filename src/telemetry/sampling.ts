/** Selects a sample of the requests by their uid. Therefore, either all log lines of a request are in the sample, or none. */
import { ProreusError } from '../api/errors.ts'

/**
 * Returns a function that decides whether an id is sampled. Every process makes the same decision for the same id.
 *
 * @param share from 0 (none) to 1 (all)
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when `share` is not a number from 0 to 1.
 */
export function sampler(share: number): (id: string) => boolean {
  if (!(share >= 0 && share <= 1)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The share of reviews to log is a number from 0 (none) to 1 (all), found ${share}.`)
  }
  const below = share * 2 ** 32
  return share === 0 ? () => false : (id) => hash(id) < below
}

/**
 * Returns a hash code: FNV-1a over the characters, followed by the finalizer of MurmurHash3. Because of the finalizer, the hash codes of
 * two texts differ in many bits even if the texts differ in only one character.
 */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
