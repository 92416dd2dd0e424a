/**
 * Scans JSON for duplicate keys, too deep nesting and syntax errors. `JSON.parse` accepts the first two, and its messages about syntax
 * errors are not those of Go's decoder.
 */

import { JsonCursor, JsonSyntaxError } from '../../api/json-cursor.ts'

/** The result of scanning a JSON document. `error` has the message of Go's `encoding/json`. */
export interface JsonScan {
  /** Paths of duplicate keys, such as `spec.containers[0].name`, in document order and without repetition. */
  readonly duplicates: readonly string[]
  readonly error?: string
  /** The first number beyond the range of a float, such as `1e400`. */
  readonly outOfRange?: string
}

/**
 * Maximum depth of nesting of JSON. Go's decoder allows 10 000 levels, but recursive functions of this server could then exhaust the stack.
 * JSON written by hand does not reach this limit.
 */
export const maxDepth = 500

const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const [quote, comma, colon] = [0x22, 0x2c, 0x3a]

/** Thrown for JSON that is nested too deeply. */
class TooDeep extends Error {}

/** Scans a JSON document. `duplicates` is empty if the document has an error. */
export function scanJson(text: string): JsonScan {
  const scanner = new Scanner(text)
  try {
    scanner.document()
    const { outOfRange } = scanner
    return { duplicates: [...scanner.duplicates], ...(outOfRange === undefined ? {} : { outOfRange }) }
  } catch (error) {
    if (error instanceof TooDeep) return { duplicates: [], error: 'exceeded max depth' }
    if (error instanceof JsonSyntaxError) return { duplicates: [], error: goError(error) }
    throw error
  }
}

/** Returns the message of Go's `encoding/json: SyntaxError`. */
function goError({ character, context }: JsonSyntaxError): string {
  if (character === undefined) return 'unexpected end of JSON input'
  const shown = character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`
  return `invalid character ${shown} ${context}`
}

class Scanner {
  readonly duplicates = new Set<string>()
  outOfRange: string | undefined
  readonly #cursor: JsonCursor
  #depth = 0

  constructor(text: string) {
    this.#cursor = new JsonCursor(text)
  }

  document(): void {
    this.#value('')
    if (!Number.isNaN(this.#cursor.next())) this.#cursor.fail('after top-level value')
  }

  #value(path: string): void {
    switch (this.#cursor.next()) {
      case openBrace:
        return this.#nested(() => this.#object(path))
      case openBracket:
        return this.#nested(() => this.#array(path))
      case quote:
        this.#cursor.string()
        return
      default: {
        const token = this.#cursor.scalar()
        if (Math.abs(Number(token)) === Infinity) this.outOfRange ??= token
      }
    }
  }

  #nested(read: () => void): void {
    this.#depth += 1
    if (this.#depth > maxDepth) throw new TooDeep()
    read()
    this.#depth -= 1
  }

  #object(path: string): void {
    const cursor = this.#cursor
    const keys = new Set<string>()
    cursor.takes(openBrace)
    if (cursor.takes(closeBrace)) return
    for (;;) {
      if (cursor.next() !== quote) cursor.fail('looking for beginning of object key string')
      const key = cursor.string()
      const field = path === '' ? key : `${path}.${key}`
      if (keys.has(key)) this.duplicates.add(field)
      keys.add(key)
      if (!cursor.takes(colon)) cursor.fail('after object key')
      this.#value(field)
      if (cursor.takes(closeBrace)) return
      if (!cursor.takes(comma)) cursor.fail('after object key:value pair')
    }
  }

  #array(path: string): void {
    const cursor = this.#cursor
    cursor.takes(openBracket)
    if (cursor.takes(closeBracket)) return
    for (let index = 0; ; index += 1) {
      this.#value(`${path}[${index}]`)
      if (cursor.takes(closeBracket)) return
      if (!cursor.takes(comma)) cursor.fail('after array element')
    }
  }
}
