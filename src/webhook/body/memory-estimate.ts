/** Estimates the memory of a parsed body. A body that consists mostly of brackets takes many times its size. */

/** Memory for each byte of a body: the byte itself, the decoded string, and the parsed values. */
const costOfByte = 3
/** Memory of each bracket, comma and colon, measured for V8's objects, arrays and property names (`test/webhook/body/cost.test.ts`). */
const costOfMark = 48
/** Upper bound for a review: with more values than `evaluation/excess.ts` allows, it is rejected before it is parsed. */
export const maxReviewCost = 60 * 1024 * 1024

const places = 24
const width = 64

const isMark = new Uint8Array(256)
for (const mark of '{[,:') isMark[mark.charCodeAt(0)] = 1

/**
 * Estimates the memory that `JSON.parse` needs for the bytes, rather too high than too low. The samples are at random places: a sender
 * cannot hide dense parts between them.
 */
export function costOf(bytes: Uint8Array, random: () => number = Math.random): number {
  const { length } = bytes
  const marks = length <= places * width ? marksIn(bytes, 0, length) : (sampledMarks(bytes, random) / (places * width)) * length
  return Math.min(maxReviewCost, costOfMarks(length, marks))
}

/** Returns the estimate for this number of bytes with this number of brackets, commas and colons. */
export function costOfMarks(length: number, marks: number): number {
  return Math.ceil(costOfByte * length + costOfMark * marks)
}

function sampledMarks(bytes: Uint8Array, random: () => number): number {
  let marks = 0
  for (let place = 0; place < places; place += 1) {
    const start = Math.floor(random() * (bytes.length - width))
    marks += marksIn(bytes, start, start + width)
  }
  return marks
}

function marksIn(bytes: Uint8Array, start: number, end: number): number {
  let marks = 0
  for (let at = start; at < end; at += 1) marks += isMark[bytes[at]!]!
  return marks
}
