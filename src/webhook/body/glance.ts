/** What a glance at a body tells: whether the main thread can evaluate its review without holding up the others for long. */
import { smallBytes } from './budget.ts'

/** Up to this size, and with no more values, a review that looks ordinary takes some 10 ms, and 50 at the worst. */
const ordinaryBytes = 1024 * 1024
const ordinaryValues = 60_000

const places = 96
const width = 96
/** How many of the places may show no field name: they are within long texts, or lists of mere values. */
const mostNameless = places / 8
/** How many field names may be found at one place alone: an ordinary body has few names, and each of them many times. */
const mostSingle = places / 8

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** Whether the review in a body is evaluated where it arrives, rather than in a worker thread. */
export function isSoonEvaluated(bytes: Uint8Array): boolean {
  return bytes.length <= smallBytes || (bytes.length <= ordinaryBytes && looksOrdinary(bytes))
}

/**
 * Whether a body looks like the objects that people write: a few field names again and again, and values of some words. `JSON.parse` reads
 * 200 MB of that in a second; but each name that has not been seen before costs a microsecond and more, as does each value, to parse, to
 * validate, to fill in and to patch; and patterns are slow on long texts. It looks at random places, so that nobody can hide beside them.
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

/** One place: its first field name, as it is written, and how many values begin there. */
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
      // { and [
      case 0x7b:
      case 0x5b:
      // ,
      case 0x2c:
        values += 1
        break
      default:
    }
  }
  return { name, values }
}

/** The next byte that is no white space. */
function nextByte(bytes: Uint8Array, from: number): number | undefined {
  let at = from
  while (at < bytes.length && bytes[at]! <= 0x20) at += 1
  return bytes[at]
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
