/** The source of randomness. Code that makes random choices takes a function such as `systemRandom`, so tests can repeat the choices. */

/** Returns a number in [0, 1). It is not for secrets: whoever sees some of these numbers can predict the next ones. */
export const systemRandom: () => number = () => Math.random()

/** Returns a UUID of version 4 whose 122 random bits come from `random`. The same numbers give the same UUID. */
export function newUuid(random: () => number): string {
  const words = [random(), random(), random(), random()].map((number) => Math.floor(number * 2 ** 32))
  words[1] = (words[1]! & 0xffff_0fff) | 0x4000 // the version
  words[2] = (words[2]! & 0x3fff_ffff) | 0x8000_0000 // the variant of RFC 9562
  const digits = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}
