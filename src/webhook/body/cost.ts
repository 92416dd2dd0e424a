/** What a body takes in memory once it is read: many times its size where it is made of little else than brackets. */

/** With its names and texts once more as a string, and once more as values. */
const costOfByte = 3
/** For each bracket, comma and colon, by measurement of what V8 makes of objects, lists and their names (`test/webhook/body/cost.test.ts`). */
const costOfMark = 48
/** No review costs more: beyond the values that `evaluation/excess.ts` allows it is refused unread. */
export const maxReviewCost = 60 * 1024 * 1024

const places = 24
const width = 64

const isMark = new Uint8Array(256)
for (const mark of '{[,:') isMark[mark.charCodeAt(0)] = 1

/** An estimate, for at least what `JSON.parse` makes of the bytes. It samples at random places, so that nobody can hide beside them. */
export function costOf(bytes: Uint8Array, random: () => number = Math.random): number {
  const { length } = bytes
  const marks = length <= places * width ? marksIn(bytes, 0, length) : (sampledMarks(bytes, random) / (places * width)) * length
  return Math.min(maxReviewCost, costOfMarks(length, marks))
}

/** The estimate for so many bytes with so many brackets, commas and colons. */
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
