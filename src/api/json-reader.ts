/**
 * Parses JSON where `JSON.parse` is not sufficient. `parseJson` preserves integers between 2^53 and 2^63. `JsonReader` parses a large
 * document in time slices. `JsonReader` takes about four times as long as `JSON.parse`, but does not block the event loop.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from './json.ts'
import { isObject, setOwn } from './json.ts'
import { JsonCursor } from './json-cursor.ts'

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

const integerToken = /^-?\d+$/

/**
 * Returns the number that a JSON token represents, with the precision of the API server: an integer in the range of int64 is exact, and any
 * other number is a float. An exact integer is a `number` if it is a safe integer, and a `bigint` otherwise.
 */
export function readNumber(token: string): number | bigint {
  const value = Number(token)
  // An integer beyond 2^63 is returned as a float before `BigInt` is called. `BigInt` is slow for an integer with very many digits, because
  // its time grows faster than the number of digits.
  if (Number.isSafeInteger(value) || Math.abs(value) > 2 ** 63 || !integerToken.test(token)) return value
  const exact = BigInt(token)
  return exact < minInt64 || exact > maxInt64 ? value : exact
}

/**
 * Parses JSON like `JSON.parse`, but returns an integer between 2^53 and 2^63 as a `bigint`.
 *
 * @throws {SyntaxError} with the message of `JSON.parse`.
 */
export function parseJson(text: string): JsonValue {
  return mayHoldLongInteger(text) ? parseExactly(text) : (JSON.parse(text) as JsonValue)
}

/** Decodes the bytes as UTF-8, and parses the text with `parseJson`. */
export function parseJsonBytes(bytes: Buffer): JsonValue {
  return parseJson(bytes.toString('utf8'))
}

/**
 * Replaces each integer between 2^53 and 2^63 by a string, parses the changed document, and replaces these strings by the integers. This
 * takes less than twice as long as `JSON.parse`. The alternative, a reviver that checks the source of each number, would take six times as
 * long as `JSON.parse`.
 */
function parseExactly(text: string): JsonValue {
  // The strings that stand for integers begin with a random prefix. A client cannot guess the prefix, so no string of a document is
  // mistaken for an integer.
  const mark = randomUUID()
  const { marked, integers } = markLongIntegers(text, mark)
  try {
    return withIntegers(JSON.parse(marked) as JsonValue, mark, integers)
  } catch (error) {
    if (error instanceof SyntaxError) JSON.parse(text)
    throw error
  }
}

function markLongIntegers(text: string, mark: string): { marked: string; integers: readonly bigint[] } {
  const integers: bigint[] = []
  let marked = ''
  let copied = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = endOfString(text, at)
    else if (isDigit(code)) {
      const next = endOfDigits(text, at)
      const first = text.charCodeAt(at - 1) === 0x2d ? at - 1 : at
      const exact = isLong(next - at) && code !== 0x30 && isValue(text, first, next) ? readNumber(text.slice(first, next)) : 0
      if (typeof exact === 'bigint') {
        marked += `${text.slice(copied, first)}"${mark}${integers.length}"`
        integers.push(exact)
        copied = next
      }
      at = next - 1
    }
  }
  return { marked: marked + text.slice(copied), integers }
}

/** Returns the index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}

function endOfDigits(text: string, start: number): number {
  let next = start
  while (isDigit(text.charCodeAt(next))) next += 1
  return next
}

/**
 * Returns true when the digits from `first` to `next` are a complete number in the position of a value. A number in the position of a key
 * is a syntax error. If such a number were replaced by a string, `JSON.parse` would not find the syntax error.
 */
function isValue(text: string, first: number, next: number): boolean {
  if (!canFollow(text.charCodeAt(next))) return false
  let before = first - 1
  while (isSpace(text.charCodeAt(before))) before -= 1
  let after = next
  while (isSpace(text.charCodeAt(after))) after += 1
  const code = text.charCodeAt(before)
  return (code === 0x3a || code === 0x5b || code === 0x2c || before < 0) && text.charCodeAt(after) !== 0x3a
}

/**
 * Replaces each placeholder in a parsed document with its integer. A placeholder is a string that consists of `mark` and an index in
 * `integers`. Objects and arrays are changed in place.
 */
function withIntegers(value: JsonValue, mark: string, integers: readonly bigint[]): JsonValue {
  const integerOf = (text: string): bigint => integers[Number(text.slice(mark.length))]!
  if (typeof value === 'string' && value.startsWith(mark)) return integerOf(value)
  // This is a loop, because recursion could exhaust the stack: `JSON.parse` accepts any depth of nesting.
  const open: JsonValue[] = [value]
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index += 1) {
        const item = container[index]!
        if (typeof item === 'object') open.push(item)
        else if (typeof item === 'string' && item.startsWith(mark)) container[index] = integerOf(item)
      }
    } else if (isObject(container)) {
      for (const key of Object.keys(container)) {
        const item = container[key]!
        if (typeof item === 'object') open.push(item)
        else if (typeof item === 'string' && item.startsWith(mark)) setOwn(container, key, integerOf(item))
      }
    }
  }
  return value
}

/** The minimum and maximum number of digits of an integer between 2^53 and 2^63. */
const [fewestDigits, mostDigits] = [16, 19]

/**
 * Returns true when the document contains 16 to 19 consecutive digits that may be an integer beyond 2^53. The digits may also be part of a
 * string. Digits next to a letter, as in most hashes, do not count. When the result is false, `JSON.parse` is exact.
 *
 * Only every 16th character is inspected. Any 16 consecutive digits include an inspected character. The inspection takes a twentieth of the
 * time of `JSON.parse`.
 */
function mayHoldLongInteger(text: string): boolean {
  for (let at = fewestDigits - 1; at < text.length; at += fewestDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let first = at
    while (first > 0 && isDigit(text.charCodeAt(first - 1))) first -= 1
    const next = endOfDigits(text, at)
    const digits = next - first
    if (isLong(digits) && canPrecede(text.charCodeAt(first - 1)) && canFollow(text.charCodeAt(next))) return true
    // The character at `next` is not a digit. The loop continues at `next + 16`, because the 15 characters between these positions cannot
    // contain 16 consecutive digits.
    at = next
  }
  return false
}

function isLong(digits: number): boolean {
  return digits >= fewestDigits && digits <= mostDigits
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/**
 * Returns true when the digits of a number may begin after this character: after `-`, `:`, `[`, `,`, white space, or at the start of the
 * document.
 */
function canPrecede(code: number): boolean {
  return code === 0x2d || code === 0x3a || code === 0x5b || code === 0x2c || code <= 0x20 || Number.isNaN(code)
}

/** Returns true when an integer may end before this character: before `,`, `}`, `]`, white space, or at the end of the document. */
function canFollow(code: number): boolean {
  return code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20 || Number.isNaN(code)
}

const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const [quote, comma, colon] = [0x22, 0x2c, 0x3a]

/** Parses one document in several calls of `read`. With `freeze`, each object and array is frozen as soon as it is complete. */
export class JsonReader {
  /** The parsed document, after `read` has returned true. */
  value: JsonValue = null
  readonly #cursor: JsonCursor
  readonly #freeze: boolean
  /**
   * The objects and arrays that are not complete yet, outermost first. `#keys` has one entry for each of these objects and arrays. For an
   * object, the entry is the key of its next value. For an array, the entry is an empty string.
   */
  readonly #open: (JsonValue[] | JsonObject)[] = []
  readonly #keys: string[] = []

  constructor(text: string, { freeze = false } = {}) {
    this.#cursor = new JsonCursor(text)
    this.#freeze = freeze
  }

  /**
   * Parses at most `count` further values. Returns true when the document is complete.
   *
   * @throws {SyntaxError} when the document is not valid JSON.
   */
  read(count: number): boolean {
    for (let left = count; left > 0; left -= 1) {
      switch (this.#cursor.next()) {
        case openBrace:
          if (this.#enter({}, openBrace, closeBrace)) continue
          if (this.#place(this.#finished({}))) return true
          break
        case openBracket:
          if (this.#enter([], openBracket, closeBracket)) continue
          if (this.#place(this.#finished([]))) return true
          break
        case quote:
          if (this.#place(this.#cursor.string())) return true
          break
        default:
          if (this.#place(this.#scalar())) return true
      }
    }
    return false
  }

  /** Begins an object or array. Returns false when the object or array is empty, and therefore already complete. */
  #enter(container: JsonValue[] | JsonObject, opener: number, closer: number): boolean {
    this.#cursor.takes(opener)
    if (this.#cursor.takes(closer)) return false
    this.#open.push(container)
    this.#keys.push(closer === closeBrace ? this.#key() : '')
    return true
  }

  /** Stores a value in its container, and ends each container that this value completes. Returns true at the end of the document. */
  #place(complete: JsonValue): boolean {
    const cursor = this.#cursor
    let value = complete
    for (;;) {
      const container = this.#open.at(-1)
      if (container === undefined) {
        if (!Number.isNaN(cursor.next())) cursor.fail('after top-level value')
        this.value = value
        return true
      }
      const isList = Array.isArray(container)
      if (isList) container.push(value)
      else setOwn(container, this.#keys.at(-1)!, value)
      if (cursor.takes(comma)) {
        if (!isList) this.#keys[this.#keys.length - 1] = this.#key()
        return false
      }
      if (!cursor.takes(isList ? closeBracket : closeBrace)) cursor.fail(isList ? 'after array element' : 'after object key:value pair')
      this.#open.pop()
      this.#keys.pop()
      value = this.#finished(container)
    }
  }

  #finished(container: JsonValue[] | JsonObject): JsonValue {
    if (this.#freeze) Object.freeze(container)
    return container
  }

  #key(): string {
    const cursor = this.#cursor
    if (cursor.next() !== quote) cursor.fail('looking for beginning of object key string')
    const key = cursor.string()
    if (!cursor.takes(colon)) cursor.fail('after object key')
    return key
  }

  #scalar(): JsonValue {
    const token = this.#cursor.scalar()
    if (token === 'null') return null
    return token === 'true' || token === 'false' ? token === 'true' : readNumber(token)
  }
}
