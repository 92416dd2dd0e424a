/** What a glance at a body tells: whether the main thread can evaluate its review without holding up the others for long. */
import { smallBytes } from './budget.ts'

/** Up to this size, the limit of etcd for an object, a review that looks ordinary takes some 10 ms. */
const ordinaryBytes = 1.5 * 1024 * 1024

const places = 48
const width = 96
/** How many of the places may look odd in an ordinary body. */
const mostOdd = places / 8
/** How many field names may be found at one place alone: an ordinary body has few names, and each of them many times. */
const mostSingle = places / 4
/** How many values may begin at one place: more are short ones, of which there are too many. */
const mostMarks = width / 6
const mostLevels = 8

const quote = 0x22
const colon = 0x3a

/** Whether the review in a body is evaluated where it arrives, rather than in a worker thread. */
export function isSoonEvaluated(bytes: Uint8Array): boolean {
  return bytes.length <= smallBytes || (bytes.length <= ordinaryBytes && looksOrdinary(bytes))
}

/**
 * Whether a body looks like the objects that people write: a few field names again and again, values of some words, little nesting.
 * `JSON.parse` reads 200 MB of that in a second; but it takes a microsecond for each name that it has not seen before and for each level of
 * nesting, and patterns are slow on long texts. It looks at random places, so that nobody can hide beside them.
 */
export function looksOrdinary(bytes: Uint8Array, random: () => number = Math.random): boolean {
  const names = new Map<string, number>()
  let odd = 0
  for (let place = 0; place < places; place += 1) {
    const start = Math.floor(random() * Math.max(1, bytes.length - width))
    const { name, isOdd } = lookAt(bytes.subarray(start, start + width))
    if (name !== undefined) names.set(name, (names.get(name) ?? 0) + 1)
    if (isOdd) odd += 1
  }
  const single = [...names.values()].filter((count) => count === 1).length
  return odd <= mostOdd && single <= mostSingle
}

/** One place: the first field name there, and whether it looks odd. */
function lookAt(bytes: Uint8Array): { readonly name: string | undefined; readonly isOdd: boolean } {
  let name: string | undefined
  let lastQuote = -1
  let marks = 0
  let level = 0
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        // A name is a text with a colon behind it.
        if (name === undefined && lastQuote >= 0 && bytes[at + 1] === colon)
          name = String.fromCharCode(...bytes.subarray(lastQuote + 1, at))
        lastQuote = at
        break
      // { and [
      case 0x7b:
      case 0x5b:
        level += 1
        marks += 1
        break
      // } and ]
      case 0x7d:
      case 0x5d:
        level -= 1
        break
      // ,
      case 0x2c:
        marks += 1
        break
      default:
    }
  }
  return { name, isOdd: lastQuote < 0 || marks > mostMarks || Math.abs(level) > mostLevels }
}
