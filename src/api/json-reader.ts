/**
 * Parses JSON beyond the abilities of `JSON.parse`: with exact integers beyond 2^53 (`parseJson`), and in slices, so that a large text does
 * not block the event loop (`JsonReader`, which takes about four times as long).
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from './json.ts'
import { isObject, setOwn } from './json.ts'

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

const space = /[ \t\r\n]*/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const integerToken = /^-?\d+$/

/**
 * Returns the number of a JSON token, as the API server parses it: an integer of up to 64 bits exactly, everything else as a float. A safe
 * integer is a `number`, one beyond it a `bigint`, so that each value has one representation.
 */
export function readNumber(token: string): number | bigint {
  const value = Number(token)
  if (Number.isSafeInteger(value) || !integerToken.test(token)) return value
  const exact = BigInt(token)
  return exact < minInt64 || exact > maxInt64 ? value : exact
}

/**
 * Like `JSON.parse`, with integers beyond 2^53 as `bigint`.
 *
 * @throws {SyntaxError} with the message of `JSON.parse`.
 */
export function parseJson(text: string): JsonValue {
  return mayHoldLongInteger(text) ? parseExactly(text) : (JSON.parse(text) as JsonValue)
}

/** `parseJson` of UTF-8. */
export function parseJsonBytes(bytes: Buffer): JsonValue {
  return parseJson(bytes.toString('utf8'))
}

/**
 * Replaces each long integer by a string, parses the text, and replaces the strings by the integers. This takes less than twice as long as
 * `JSON.parse` alone; a reviver that checks the source of each number would take six times as long.
 */
function parseExactly(text: string): JsonValue {
  // Random, so that no text can contain it.
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

/** Returns the end of the string that begins at `start`. */
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

/** Returns whether the digits are a complete number in the place of a value rather than a key: an invalid text must stay invalid. */
function isValue(text: string, first: number, next: number): boolean {
  if (!canFollow(text.charCodeAt(next))) return false
  let before = first - 1
  while (isSpace(text.charCodeAt(before))) before -= 1
  let after = next
  while (isSpace(text.charCodeAt(after))) after += 1
  const code = text.charCodeAt(before)
  return (code === 0x3a || code === 0x5b || code === 0x2c || before < 0) && text.charCodeAt(after) !== 0x3a
}

/** Returns the value with its integers; changes the containers in place. */
function withIntegers(value: JsonValue, mark: string, integers: readonly bigint[]): JsonValue {
  const integerOf = (text: string): bigint => integers[Number(text.slice(mark.length))]!
  if (typeof value === 'string' && value.startsWith(mark)) return integerOf(value)
  // Without recursion, because `JSON.parse` accepts any nesting.
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

/** Numbers of digits of integers between 2^53 and 2^63. */
const [fewestDigits, mostDigits] = [16, 19]

/**
 * Returns whether the text has such an integer, or digits like it within a string; otherwise `JSON.parse` is exact. It inspects every 16th
 * character, since one of them is within every row of 16 digits: this takes a twentieth of the time of `JSON.parse`. Digits of hashes and
 * the like have other neighbours than a number.
 */
function mayHoldLongInteger(text: string): boolean {
  for (let at = fewestDigits - 1; at < text.length; at += fewestDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let first = at
    while (first > 0 && isDigit(text.charCodeAt(first - 1))) first -= 1
    const next = endOfDigits(text, at)
    const digits = next - first
    if (isLong(digits) && canPrecede(text.charCodeAt(first - 1)) && canFollow(text.charCodeAt(next))) return true
    // The character there is no digit.
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

/** Returns whether a number may begin after this character: `-`, `:`, `[`, `,`, white space, or nothing. */
function canPrecede(code: number): boolean {
  return code === 0x2d || code === 0x3a || code === 0x5b || code === 0x2c || code <= 0x20 || Number.isNaN(code)
}

/** Returns whether an integer may end before this character: `,`, `}`, `]`, white space, or nothing. */
function canFollow(code: number): boolean {
  return code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20 || Number.isNaN(code)
}

/** Parses one text in slices. With `freeze`, each object and array is frozen as soon as it is complete. */
export class JsonReader {
  /** The result, once `read` has returned true. */
  value: JsonValue = null
  readonly #text: string
  readonly #freeze: boolean
  #at = 0
  /** The open containers, outermost first, and the keys of their next values; empty for arrays. */
  readonly #open: (JsonValue[] | JsonObject)[] = []
  readonly #keys: string[] = []

  constructor(text: string, { freeze = false } = {}) {
    this.#text = text
    this.#freeze = freeze
  }

  /**
   * Parses at most `count` further values; returns true when the text is complete.
   *
   * @throws {SyntaxError}
   */
  read(count: number): boolean {
    for (let left = count; left > 0; left -= 1) {
      this.#skip()
      switch (this.#text.charCodeAt(this.#at)) {
        case 0x7b:
          if (this.#enter({}, 0x7d)) continue
          if (this.#place(this.#finished({}))) return true
          break
        case 0x5b:
          if (this.#enter([], 0x5d)) continue
          if (this.#place(this.#finished([]))) return true
          break
        case 0x22:
          if (this.#place(this.#string())) return true
          break
        default:
          if (this.#place(this.#scalar())) return true
      }
    }
    return false
  }

  /** Opens an object or array; returns false when it is empty and thus complete. */
  #enter(container: JsonValue[] | JsonObject, closer: number): boolean {
    this.#at += 1
    this.#skip()
    if (this.#text.charCodeAt(this.#at) === closer) {
      this.#at += 1
      return false
    }
    this.#open.push(container)
    this.#keys.push(closer === 0x7d ? this.#key() : '')
    return true
  }

  /** Stores a value, and closes containers that are complete with it; returns true at the end of the text. */
  #place(complete: JsonValue): boolean {
    let value = complete
    for (;;) {
      this.#skip()
      const container = this.#open.at(-1)
      if (container === undefined) {
        if (this.#at < this.#text.length) this.#fail()
        this.value = value
        return true
      }
      const isList = Array.isArray(container)
      if (isList) container.push(value)
      else setOwn(container, this.#keys.at(-1)!, value)
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x2c) {
        this.#at += 1
        if (!isList) this.#keys[this.#keys.length - 1] = this.#key()
        return false
      }
      if (code !== (isList ? 0x5d : 0x7d)) this.#fail()
      this.#at += 1
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
    this.#skip()
    if (this.#text.charCodeAt(this.#at) !== 0x22) this.#fail()
    const key = this.#string()
    this.#skip()
    if (this.#text.charCodeAt(this.#at) !== 0x3a) this.#fail()
    this.#at += 1
    return key
  }

  #string(): string {
    const text = this.#text
    const start = this.#at
    let at = start + 1
    let plain = true
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === 0x22) break
      // Not a number: the end of the text.
      if (!(code >= 0x20)) this.#fail()
      if (code === 0x5c) {
        plain = false
        at += 1
      }
      at += 1
    }
    this.#at = at + 1
    // A longer slice of a text keeps the whole text in memory; the result of `JSON.parse` does not.
    return plain && at - start <= 12 ? text.slice(start + 1, at) : (JSON.parse(text.slice(start, at + 1)) as string)
  }

  #scalar(): JsonValue {
    numberToken.lastIndex = this.#at
    const token = numberToken.exec(this.#text)?.[0]
    if (token !== undefined) {
      this.#at += token.length
      return readNumber(token)
    }
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    return this.#fail()
  }

  #skip(): void {
    // Usually there is no white space.
    if (this.#text.charCodeAt(this.#at) > 0x20) return
    space.lastIndex = this.#at
    space.test(this.#text)
    this.#at = space.lastIndex
  }

  #fail(): never {
    throw new SyntaxError(`Unexpected ${this.#at < this.#text.length ? 'character' : 'end of the text'} at position ${this.#at}`)
  }
}

const words: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
