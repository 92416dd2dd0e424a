/** Decides, from samples of a body, whether the main thread can evaluate the review without delaying other reviews. */
import { smallBytes } from '../body/memory-budget.ts'

/**
 * Upper limits of an ordinary review: the size of its body in bytes, and the number of its values. A review within these limits takes about
 * 10 ms, and at most 50 ms.
 */
const ordinaryBytes = 1024 * 1024
const ordinaryValues = 60_000

/** The number of samples, and the size of a sample in bytes. */
const places = 96
const width = 96
/**
 * The maximum number of nameless samples of an ordinary body. A sample is nameless if it contains no field name, for example because the
 * sample is part of a long string or of a list of scalars.
 */
const mostNameless = places / 8
/**
 * The maximum number of rare field names in the samples of an ordinary body. A field name is rare if it is found in only one sample. In
 * each sample, only the first field name counts.
 *
 * An ordinary body repeats a few field names many times, so most of its field names are found in several samples.
 */
const mostSingle = places / 8

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** Returns true when the main thread evaluates the review, and false when a worker thread evaluates it. */
export function isSoonEvaluated(bytes: Uint8Array): boolean {
  return bytes.length <= smallBytes || (bytes.length <= ordinaryBytes && looksOrdinary(bytes))
}

/**
 * Returns true if a body looks like an ordinary object, with few distinct field names, few values and short strings. `JSON.parse` handles
 * 200 MB of such JSON per second. The evaluation of other bodies takes longer:
 *
 * - Many distinct field names or many values: each distinct name and each value costs at least a microsecond.
 * - Long strings: the comparison of a long string with a pattern of the schema is slow.
 *
 * Only samples of the body are read. The samples are at random positions, so a client cannot hide slow content between the samples.
 */
export function looksOrdinary(bytes: Uint8Array, random: () => number = Math.random): boolean {
  const names = new Map<string, number>()
  let nameless = 0
  let values = 0
  for (let place = 0; place < places; place += 1) {
    const start = Math.floor(random() * Math.max(1, bytes.length - width))
    const seen = lookAt(bytes.subarray(start, start + width))
    values += seen.values
    if (seen.name === undefined) nameless += 1
    else names.set(seen.name, (names.get(seen.name) ?? 0) + 1)
  }
  const single = [...names.values()].filter((count) => count === 1).length
  return nameless <= mostNameless && single <= mostSingle && (values / (places * width)) * bytes.length <= ordinaryValues
}

/**
 * Returns the first field name in a sample of a body, and the number of values that begin in the sample. Each `{`, `[` and `,` counts as
 * the beginning of a value. Escapes in the name are not decoded.
 */
function lookAt(bytes: Uint8Array): { readonly name: string | undefined; readonly values: number } {
  let name: string | undefined
  let lastQuote = -1
  let values = 0
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case backslash:
        at += 1
        break
      case quote:
        if (name === undefined && lastQuote >= 0 && nextByte(bytes, at + 1) === colon) name = textOf(bytes.subarray(lastQuote + 1, at))
        lastQuote = at
        break
      // `{` and `[`
      case 0x7b:
      case 0x5b:
      // `,`
      case 0x2c:
        values += 1
        break
      default:
    }
  }
  return { name, values }
}

/** Returns the next byte that is not white space. */
function nextByte(bytes: Uint8Array, from: number): number | undefined {
  let at = from
  while (at < bytes.length && bytes[at]! <= 0x20) at += 1
  return bytes[at]
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
