/**
 * Estimates the memory of a parsed body. If a body consists mostly of brackets, its parsed form takes many times the memory of the body.
 */

/** Memory in bytes for each byte of a body: the byte itself, the decoded string, and the parsed strings and numbers. */
const costOfByte = 3
/**
 * Memory in bytes for each opening bracket, comma and colon, measured for V8's objects, arrays and property names
 * (`test/webhook/body/cost.test.ts`).
 */
const costOfMark = 48
/**
 * Maximum estimate in bytes for an AdmissionReview. `evaluation/text-limits.ts` rejects a review with too many values before it is parsed,
 * so no review needs more memory than this.
 */
export const maxReviewCost = 60 * 1024 * 1024

const places = 24
const width = 64

const isMark = new Uint8Array(256)
for (const mark of '{[,:') isMark[mark.charCodeAt(0)] = 1

/**
 * Estimates the memory in bytes that `JSON.parse` needs for a body. The estimate is usually too high. Only samples of a long body are read.
 * The samples are at random positions. Therefore, a client cannot put content with many values between the samples.
 */
export function costOf(bytes: Uint8Array, random: () => number = Math.random): number {
  const { length } = bytes
  const marks = length <= places * width ? marksIn(bytes, 0, length) : (sampledMarks(bytes, random) / (places * width)) * length
  return Math.min(maxReviewCost, costOfMarks(length, marks))
}

/** Returns the estimate in bytes for a body of `length` bytes. `marks` is the number of opening brackets, commas and colons in the body. */
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
