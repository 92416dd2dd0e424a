/** What can be told of a body at a glance. */

const places = 48
const width = 96
/** How many of the places may show something odd in a body that is taken for an ordinary one. */
const mostOdd = places / 8
/** How many names may be found at one place alone: where they are few, most are met again. */
const mostSingle = places / 4

/**
 * Whether a body looks like the objects that people write: a few field names again and again, values of some words, little nesting.
 * `JSON.parse` reads that at 200 MB/s; but each name that it has not seen before costs it a microsecond, as does each level of
 * nesting, and a long text is what patterns are slow on. A sample at random places tells, so that nobody can hide beside it.
 */
export function looksOrdinary(bytes: Uint8Array, random: () => number = Math.random): boolean {
  const names = new Map<string, number>()
  let odd = 0
  for (let place = 0; place < places; place += 1) {
    const start = Math.floor(random() * Math.max(1, bytes.length - width))
    const end = Math.min(start + width, bytes.length)
    let quotes = 0
    let nesting = 0
    let quote = -1
    let name = ''
    for (let at = start; at < end; at += 1) {
      const code = bytes[at]!
      if (code === 0x22) {
        quotes += 1
        // A name is what ends with `":`.
        if (name === '' && quote >= 0 && bytes[at + 1] === 0x3a) name = String.fromCharCode(...bytes.subarray(quote + 1, at))
        quote = at
      } else if (code === 0x7b || code === 0x5b) nesting += 1
      else if (code === 0x7d || code === 0x5d) nesting -= 1
    }
    if (name !== '') names.set(name, (names.get(name) ?? 0) + 1)
    if (quotes === 0 || Math.abs(nesting) > 8) odd += 1
  }
  if (odd > mostOdd) return false
  let single = 0
  for (const count of names.values()) if (count === 1) single += 1
  return single <= mostSingle
}
