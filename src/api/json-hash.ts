/** `jsonHash`: a short hash of a JSON value, for annotations, labels and names of dependents. */
import { createHash } from 'node:crypto'
import { canonicalJson } from './json.ts'

/** The length of a hash in characters: 32 hexadecimal digits are 128 bits. A label value may have up to 63 characters. */
const length = 32

/**
 * Returns a hash of a JSON value: 32 hexadecimal digits, which are valid as a label value and in names. Equal values have the same hash, on
 * every machine and in every release. The order of keys is irrelevant, but the order of list items is relevant. A key whose value is
 * undefined counts as absent.
 *
 * @example
 * // The Pods restart when the ConfigMap changes.
 * const template = { metadata: { annotations: { 'example.com/config': jsonHash(config.data) } } }
 */
export function jsonHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, length)
}
