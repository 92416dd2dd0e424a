/**
 * Finds the objects in the text of a ConversionReview without reading them: `JSON.parse` of a long list would hold up everything else
 * for as long as it takes, whereas each object on its own can be read, converted and written in a slice.
 */
import type { JsonValue } from '../api/json.ts'
import type { Turns } from './turns.ts'

/** What was sent is no ConversionReview; the message says to its sender what is wrong with it. */
export class MalformedConversionReview extends Error {
  override readonly name = 'MalformedConversionReview'
}

/** No object is larger: the API server takes requests up to 3 MiB, and etcd 1.5 MiB. Nothing longer is looked at in one go. */
const maxObjectBytes = 8 * 1024 * 1024
/** A review has three fields, its request as many. */
const maxFields = 32

/** Where an object is in the body. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface ScannedReview {
  /** The review as JSON, with an empty list in place of the objects. */
  readonly envelope: JsonValue
  readonly objects: readonly Span[]
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** @throws {MalformedConversionReview} */
export async function scanReview(body: Buffer, turns: Turns): Promise<ScannedReview> {
  const scan = new Scan(body, turns)
  await scan.object(async (key) => {
    if (key !== 'request' || scan.next() !== openBrace) return scan.skip()
    return scan.object(async (inner) => (inner === 'objects' && scan.next() === openBracket ? scan.list() : scan.skip()))
  })
  if (!scan.atEnd()) throw notJson('more follows after the review')
  const [start, end] = scan.listSpan
  try {
    const text = start === end ? body.toString() : `${body.toString('utf8', 0, start)}[]${body.toString('utf8', end)}`
    return { envelope: JSON.parse(text) as JsonValue, objects: scan.objects }
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : String(error))
  }
}

class Scan {
  readonly objects: Span[] = []
  listSpan: readonly [number, number] = [0, 0]
  readonly #body: Buffer
  readonly #turns: Turns
  #at = 0

  constructor(body: Buffer, turns: Turns) {
    this.#body = body
    this.#turns = turns
  }

  /** The next byte that is no white space; NaN at the end. */
  next(): number {
    const body = this.#body
    let byte = body[this.#at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = body[(this.#at += 1)]
    return byte ?? Number.NaN
  }

  atEnd(): boolean {
    return Number.isNaN(this.next())
  }

  /** Calls `value` at the value of each field of the object that begins here; it goes past it. */
  async object(value: (key: string) => void | Promise<void>): Promise<void> {
    this.#expect(openBrace)
    const seen = new Set<string>()
    if (this.#takes(closeBrace)) return
    do {
      if (this.next() !== quote) throw notJson('a field has no name')
      const start = this.#at
      this.skip()
      const key = readKey(this.#body.toString('utf8', start, this.#at))
      if (seen.has(key) || seen.size === maxFields) throw notJson(`the field ${JSON.stringify(key).slice(0, 40)} is one too many`)
      seen.add(key)
      this.#expect(colon)
      this.next()
      await value(key)
    } while (this.#takes(comma))
    this.#expect(closeBrace)
  }

  /** Goes over the objects of the list that begins here and notes where they are. */
  async list(): Promise<void> {
    this.next()
    const start = this.#at
    this.#expect(openBracket)
    if (!this.#takes(closeBracket)) {
      do {
        this.next()
        const from = this.#at
        this.skip()
        this.objects.push({ start: from, end: this.#at })
        if (this.#turns.due) await this.#turns.give()
      } while (this.#takes(comma))
      this.#expect(closeBracket)
    }
    this.listSpan = [start, this.#at]
  }

  /** Goes past one value. Whether it is right, `JSON.parse` will tell: here only where it ends. */
  skip(): void {
    const body = this.#body
    const limit = Math.min(body.length, this.#at + maxObjectBytes)
    let at = this.#at
    let depth = 0
    while (at < limit) {
      const byte = body[at]!
      if (byte === quote) {
        at = endOfString(body, at, limit)
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1
        at += 1
      } else if (byte === closeBrace || byte === closeBracket) {
        // The end of what this value, a number or the like, is in.
        if (depth === 0) break
        depth -= 1
        at += 1
      } else if (depth === 0 && byte === comma) {
        break
      } else {
        at += 1
        continue
      }
      if (depth === 0) break
    }
    if (at >= limit && limit < body.length) throw new MalformedConversionReview(`A value is larger than ${maxObjectBytes} bytes.`)
    if (at === this.#at || at > body.length) throw notJson('it ends too early')
    this.#at = at
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

/** Behind the closing quote of the string that begins at `at`; behind `limit` when there is none. */
function endOfString(body: Buffer, at: number, limit: number): number {
  let end = at + 1
  while (end < limit) {
    const byte = body[end]!
    if (byte === quote) return end + 1
    end += byte === backslash ? 2 : 1
  }
  return limit + 1
}

function readKey(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    throw notJson('the name of a field is malformed')
  }
}

function notJson(problem: string): MalformedConversionReview {
  return new MalformedConversionReview(`The body is no JSON of a ConversionReview: ${problem}.`)
}
