/**
 * Finds the objects in the JSON of a ConversionReview without parsing them. `JSON.parse` of a long list would block the event loop, whereas
 * each object can be parsed, converted and serialized in its own time slice.
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote, ValueScan } from '../api/json-bytes.ts'
import type { TaskSlices } from '../runtime/time-slices.ts'

/** Thrown when the body of a request is not a ConversionReview. The message describes the error, and is sent to the client. */
export class MalformedConversionReview extends Error {
  override readonly name = 'MalformedConversionReview'
}

/**
 * Maximum size of an object in bytes. Objects in a cluster are smaller: the API server accepts requests of at most 3 MiB, and etcd accepts
 * at most 1.5 MiB.
 */
const maxObjectBytes = 8 * 1024 * 1024
/** Maximum size in bytes of the envelope: the review without its objects. The envelope is parsed in one step. */
const maxEnvelopeBytes = 64 * 1024
/** Maximum number of consecutive white-space characters. An indented review has at most a few hundred. */
const maxSpaces = 64 * 1024
/** Maximum number of fields of a scanned JSON object. A review has three fields, and so has its request. */
const maxFields = 32

/**
 * An object that is not parsed yet. `values` is used to estimate the memory that the parsed object will take. A parsed object may take ten
 * times the memory of its JSON.
 */
export interface ScannedObject {
  /** The index of the object in the list `request.objects`. */
  readonly index: number
  readonly bytes: Buffer
  /** The estimated number of fields and items at all levels. Each opening brace, opening bracket and comma counts as one field or item. */
  readonly values: number
  /** Number of levels of nesting. */
  readonly levels: number
}

export interface ScannedReview {
  /** The parsed review, with an empty list instead of its objects. */
  readonly envelope: JsonValue
  readonly objects: ObjectList
}

/**
 * The unparsed objects of a review. Their positions are not stored, because the positions of millions of small objects would take more
 * memory than their JSON. Each iteration scans the body again.
 */
export class ObjectList implements Iterable<ScannedObject> {
  readonly length: number
  /** The largest number of values in one object, and the largest size of one object. The two maxima may belong to different objects. */
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

/**
 * Parses the envelope of a review, and finds its objects.
 *
 * @throws {MalformedConversionReview} when the body is not JSON, or a limit is exceeded.
 */
export async function scanReview(body: Buffer, slices: TaskSlices): Promise<ScannedReview> {
  const scan = new Scan(body)
  let objects = new ObjectList(body, 0, 0, { values: 0, bytes: 0 })
  let [start, end] = [0, 0]
  await scan.object(async (key) => {
    if (key !== 'request' || scan.next() !== openBrace) return scan.skipField()
    return scan.object(async (inner) => {
      if (inner !== 'objects' || scan.next() !== openBracket) return scan.skipField()
      start = scan.at
      objects = await scan.list(slices)
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
 * Returns only `apiVersion`, `kind`, `metadata.namespace` and `metadata.name` of an unparsed object, for a message about an object that
 * exceeds the limits. Missing and malformed fields are omitted.
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
  /** The number of fields and items, and the number of levels, in the value that was skipped last. */
  readonly skipped = new ValueScan()
  readonly #body: Buffer
  #at: number

  constructor(body: Buffer, at = 0) {
    this.#body = body
    this.#at = at
  }

  get at(): number {
    return this.#at
  }

  /** Skips white space. Returns the first byte after the white space, without skipping this byte; NaN at the end of the body. */
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

  /**
   * Scans the JSON object at the current position. The callback `value` is called with the name of each field. When `value` is called, the
   * current position is the beginning of the field's value. The callback must skip the field's value.
   */
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

  /** Scans the list of objects at the current position. */
  async list(slices: TaskSlices): Promise<ObjectList> {
    this.#expect(openBracket)
    const start = this.#at
    let length = 0
    const heaviest = { values: 0, bytes: 0 }
    if (!this.#takes(closeBracket)) {
      do {
        this.next()
        const from = this.#at
        this.#skipItem(length)
        heaviest.values = Math.max(heaviest.values, this.skipped.values)
        heaviest.bytes = Math.max(heaviest.bytes, this.#at - from)
        length += 1
        const turn = slices.next()
        if (turn !== undefined) await turn
      } while (this.#takes(comma))
      this.#expect(closeBracket)
    }
    return new ObjectList(this.#body, start, length, heaviest)
  }

  /**
   * Returns the next object of a list, and moves the current position to the end of this object. Before the call, the current position must
   * be after the opening bracket of the list or after the previous object. The object is not checked, because `list` has already checked
   * all objects of the list.
   */
  item(index: number): ScannedObject {
    this.#takes(comma)
    this.next()
    const from = this.#at
    this.skip(maxObjectBytes)
    return { index, bytes: this.#body.subarray(from, this.#at), values: this.skipped.values, levels: this.skipped.levels }
  }

  /** Skips the value of a field of the envelope. */
  skipField(): void {
    if (!this.skip(maxEnvelopeBytes)) throw largeEnvelope()
  }

  /**
   * Skips one value, and counts its fields and items. Returns false when the value is longer than `maxBytes`. The scan does not detect
   * syntax errors. `JSON.parse` detects them later.
   */
  skip(maxBytes: number): boolean {
    const { length } = this.#body
    const limit = Math.min(length, this.#at + maxBytes)
    const { end, closed } = this.skipped.scan(this.#body, this.#at, limit)
    if (limit < length && (end > limit || (end === limit && !closed))) return false
    if (end === this.#at || end > length) throw notJson('it ends too early')
    this.#at = end
    return true
  }

  /** Returns the string at the current position. */
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
      throw new MalformedConversionReview(`request.objects[${index}] is not an object: it begins with ${found}.`)
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

function largeEnvelope(): MalformedConversionReview {
  return new MalformedConversionReview(`The ConversionReview without its objects is larger than ${maxEnvelopeBytes} bytes.`)
}

function notJson(problem: string): MalformedConversionReview {
  return new MalformedConversionReview(`The body is not the JSON of a ConversionReview: ${problem}.`)
}
