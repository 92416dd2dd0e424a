/**
 * Finds the objects in the text of a ConversionReview without parsing them: `JSON.parse` of a long list would block the event loop for the
 * whole time, whereas each object can be parsed, converted and serialized in a slice of its own.
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import type { Turns } from './turns.ts'

/** The body is not a ConversionReview; the message for the client names the error. */
export class MalformedConversionReview extends Error {
  override readonly name = 'MalformedConversionReview'
}

/** No object is larger: the API server accepts requests up to 3 MiB, and etcd 1.5 MiB. It also bounds the scan of one value. */
const maxObjectBytes = 8 * 1024 * 1024
/** A review without its objects has a uid, a version and some names: it is parsed at once. */
const maxEnvelopeBytes = 64 * 1024
/** Consecutive white space; an indented review has some hundred characters. */
const maxSpaces = 64 * 1024
/** A review has three fields, its request as well. */
const maxFields = 32

/** The bytes of an object, and its number of values, because values take ten times the memory of their text. */
export interface ScannedObject {
  /** Its index in the list. */
  readonly index: number
  readonly bytes: Buffer
  /** Number of fields and items at all levels: opening brackets and commas. */
  readonly values: number
  /** Levels of nesting. */
  readonly levels: number
}

export interface ScannedReview {
  /** The review as JSON, with an empty list in place of the objects. */
  readonly envelope: JsonValue
  readonly objects: ObjectList
}

/**
 * The objects of a review. Each iteration scans for them again, since storing the positions of millions of objects would take more memory
 * than their text.
 */
export class ObjectList implements Iterable<ScannedObject> {
  readonly length: number
  /** The maximum of each over all objects. */
  readonly heaviest: { readonly values: number; readonly bytes: number }
  readonly #body: Buffer
  readonly #start: number

  constructor(body: Buffer, start: number, length: number, heaviest: ObjectList['heaviest']) {
    this.#body = body
    this.#start = start
    this.length = length
    this.heaviest = heaviest
  }

  *[Symbol.iterator](): Generator<ScannedObject> {
    const scan = new Scan(this.#body, this.#start)
    for (let index = 0; index < this.length; index += 1) yield scan.item(index)
  }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The bytes at which a value may end or a level begins. */
const isMark = new Uint8Array(256)
for (const mark of [quote, comma, openBrace, closeBrace, openBracket, closeBracket]) isMark[mark] = 1

/** @throws {MalformedConversionReview} */
export async function scanReview(body: Buffer, turns: Turns): Promise<ScannedReview> {
  const scan = new Scan(body)
  let objects = new ObjectList(body, 0, 0, { values: 0, bytes: 0 })
  let [start, end] = [0, 0]
  await scan.object(async (key) => {
    if (key !== 'request' || scan.next() !== openBrace) return scan.skipField()
    return scan.object(async (inner) => {
      if (inner !== 'objects' || scan.next() !== openBracket) return scan.skipField()
      start = scan.at
      objects = await scan.list(turns)
      end = scan.at
    })
  })
  if (!Number.isNaN(scan.next())) throw notJson('unexpected data after the review')
  if (body.length - (end - start) > maxEnvelopeBytes) throw largeEnvelope()
  try {
    const text = start === end ? body.toString() : `${body.toString('utf8', 0, start)}[]${body.toString('utf8', end)}`
    return { envelope: JSON.parse(text) as JsonValue, objects }
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Returns kind, version and name of an unparsed object, for a message about an object that exceeds the limits. Missing and malformed ones
 * are empty.
 */
export async function identityOf(bytes: Buffer): Promise<JsonObject> {
  const scan = new Scan(bytes)
  const found: JsonObject = {}
  const metadata: JsonObject = {}
  try {
    await scan.object(async (key) => {
      if (key === 'metadata' && scan.next() === openBrace) await scan.object((inner) => textOrSkip(inner, ['name', 'namespace'], metadata))
      else textOrSkip(key, ['apiVersion', 'kind'], found)
    })
  } catch (error) {
    if (!(error instanceof MalformedConversionReview)) throw error
  }
  return { ...found, metadata }

  function textOrSkip(key: string, wanted: readonly string[], into: JsonObject): void {
    if (wanted.includes(key)) into[key] = scan.text()
    else scan.skip(maxObjectBytes)
  }
}

class Scan {
  /** Number of values in the last skipped value. */
  values = 0
  levels = 0
  readonly #body: Buffer
  #at: number

  constructor(body: Buffer, at = 0) {
    this.#body = body
    this.#at = at
  }

  get at(): number {
    return this.#at
  }

  /** Returns the next byte that is not white space; NaN at the end. */
  next(): number {
    const body = this.#body
    const limit = this.#at + maxSpaces
    let byte = body[this.#at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      byte = body[(this.#at += 1)]
      if (this.#at > limit) throw new MalformedConversionReview(`There is more than ${maxSpaces} bytes of white space in a row.`)
    }
    return byte ?? Number.NaN
  }

  /** Calls `value` at the value of each field of the object that begins here; `value` must skip it. */
  async object(value: (key: string) => void | Promise<void>): Promise<void> {
    this.#expect(openBrace)
    const seen = new Set<string>()
    if (this.#takes(closeBrace)) return
    do {
      if (this.next() !== quote) throw notJson('a field has no name')
      const key = this.text()
      if (seen.has(key) || seen.size === maxFields) throw notJson(`the field ${JSON.stringify(key).slice(0, 40)} is one too many`)
      seen.add(key)
      this.#expect(colon)
      this.next()
      await value(key)
    } while (this.#takes(comma))
    this.#expect(closeBrace)
  }

  /** Scans the objects of the list that begins here. */
  async list(turns: Turns): Promise<ObjectList> {
    this.#expect(openBracket)
    const start = this.#at
    let length = 0
    const heaviest = { values: 0, bytes: 0 }
    if (!this.#takes(closeBracket)) {
      do {
        this.next()
        const from = this.#at
        this.#skipItem(length)
        heaviest.values = Math.max(heaviest.values, this.values)
        heaviest.bytes = Math.max(heaviest.bytes, this.#at - from)
        length += 1
        if (turns.due) await turns.give()
      } while (this.#takes(comma))
      this.#expect(closeBracket)
    }
    return new ObjectList(this.#body, start, length, heaviest)
  }

  /** Returns the next object of a list that was scanned before. */
  item(index: number): ScannedObject {
    this.#takes(comma)
    this.next()
    const from = this.#at
    this.skip(maxObjectBytes)
    return { index, bytes: this.#body.subarray(from, this.#at), values: this.values, levels: this.levels }
  }

  /** Skips a field of the envelope. */
  skipField(): void {
    if (!this.skip(maxEnvelopeBytes)) throw largeEnvelope()
  }

  /** Skips one value, and counts its values; returns false when it is longer than `maxBytes`. Syntax errors are left to `JSON.parse`. */
  skip(maxBytes: number): boolean {
    const body = this.#body
    const limit = Math.min(body.length, this.#at + maxBytes)
    let at = this.#at
    let [depth, levels, values] = [0, 0, 0]
    while (at < limit) {
      const byte = body[at]!
      if (isMark[byte] === 0) {
        at += 1
        continue
      }
      if (byte === quote) {
        at = endOfString(body, at, limit)
      } else if (byte === openBrace || byte === openBracket) {
        values += 1
        depth += 1
        if (depth > levels) levels = depth
        at += 1
      } else if (byte === comma) {
        if (depth === 0) break
        values += 1
        at += 1
      } else {
        // The end of the container of this scalar.
        if (depth === 0) break
        depth -= 1
        at += 1
      }
      if (depth === 0) break
    }
    if (limit < body.length && (at > limit || (at === limit && depth > 0))) return false
    if (at === this.#at || at > body.length) throw notJson('it ends too early')
    this.#at = at
    this.values = values
    this.levels = levels
    return true
  }

  /** Returns the string that begins here. */
  text(): string {
    const start = this.#at
    if (this.next() !== quote || !this.skip(maxEnvelopeBytes)) throw notJson('the name of a field is malformed')
    try {
      return JSON.parse(this.#body.toString('utf8', start, this.#at)) as string
    } catch {
      throw notJson('the name of a field is malformed')
    }
  }

  #skipItem(index: number): void {
    const byte = this.next()
    if (byte !== openBrace && byte !== closeBracket && !Number.isNaN(byte)) {
      const found = JSON.stringify(this.#body.toString('utf8', this.#at, this.#at + 20))
      throw new MalformedConversionReview(`request.objects[${index}] is no object: it begins with ${found}.`)
    }
    if (!this.skip(maxObjectBytes)) throw new MalformedConversionReview(`request.objects[${index}] is larger than ${maxObjectBytes} bytes.`)
  }

  #takes(byte: number): boolean {
    if (this.next() !== byte) return false
    this.#at += 1
    return true
  }

  #expect(byte: number): void {
    if (!this.#takes(byte)) throw notJson(`${JSON.stringify(String.fromCharCode(byte))} is expected at byte ${this.#at}`)
  }
}

/** Returns the position after the closing quote of the string that begins at `at`; a position after `limit` when there is none. */
function endOfString(body: Buffer, at: number, limit: number): number {
  let end = at + 1
  while (end < limit) {
    const byte = body[end]!
    if (byte === quote) return end + 1
    end += byte === backslash ? 2 : 1
  }
  return limit + 1
}

function largeEnvelope(): MalformedConversionReview {
  return new MalformedConversionReview(`The ConversionReview without its objects is larger than ${maxEnvelopeBytes} bytes.`)
}

function notJson(problem: string): MalformedConversionReview {
  return new MalformedConversionReview(`The body is no JSON of a ConversionReview: ${problem}.`)
}
