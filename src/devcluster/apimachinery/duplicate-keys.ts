/**
 * Scans JSON for duplicate keys, too many levels of nesting, and syntax errors. `JSON.parse` accepts duplicate keys and any number of
 * levels. The messages of `JSON.parse` about syntax errors differ from those of Go's decoder.
 */

import { JsonCursor, JsonSyntaxError } from '../../api/json-cursor.ts'

/** The result of scanning a JSON document. `error` has the message of Go's `encoding/json`. */
export interface JsonScan {
  /**
   * Paths of duplicate keys, such as `spec.containers[0].name`, in document order. Each path occurs once. No more paths are added when the
   * list has `maxStrictErrors` paths, or when the total size of the paths reaches `maxPathSize`.
   */
  readonly duplicates: readonly string[]
  readonly error?: string
  /** The first number in the document that is beyond the range of a float, such as `1e400`. */
  readonly outOfRange?: string
}

/**
 * Maximum depth of nesting of JSON. Go's decoder allows 10 000 levels. With so many levels, recursive functions of this server could
 * exhaust the stack. JSON that is written by hand has far fewer than 500 levels.
 */
export const maxDepth = 500

/**
 * Maximum number of duplicate and unknown fields that are reported for a JSON document (sigs.k8s.io/json/internal/golang/encoding/json:
 * saveStrictError).
 */
export const maxStrictErrors = 100

/**
 * Maximum total size of the reported paths. The size of a path is the number of its characters plus the number of its elements. A key can
 * be a megabyte long. Without this limit, 100 paths with such a key would need 100 megabytes.
 */
const maxPathSize = 1024 * 1024

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
  /** The keys and indices from the root to the current value. */
  readonly #path: (string | number)[] = []
  #pathSize = 0

  constructor(text: string) {
    this.#cursor = new JsonCursor(text)
  }

  document(): void {
    this.#value()
    if (!Number.isNaN(this.#cursor.next())) this.#cursor.fail('after top-level value')
  }

  #value(): void {
    switch (this.#cursor.next()) {
      case openBrace:
        return this.#nested(() => this.#object())
      case openBracket:
        return this.#nested(() => this.#array())
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
    if (this.#path.length >= maxDepth) throw new TooDeep()
    read()
    this.#path.pop()
  }

  /** Adds the path of the current key to `duplicates`. If a limit is reached, no path is added. */
  #report(): void {
    if (this.duplicates.size === maxStrictErrors || this.#pathSize >= maxPathSize) return
    let path = ''
    for (const element of this.#path) {
      if (typeof element === 'number') path += `[${element}]`
      else path += path === '' ? element : `.${element}`
    }
    this.#pathSize += path.length + this.#path.length
    this.duplicates.add(path)
  }

  #object(): void {
    const cursor = this.#cursor
    const depth = this.#path.push('') - 1
    const keys = new Set<string>()
    const reported = new Set<string>()
    cursor.takes(openBrace)
    if (cursor.takes(closeBrace)) return
    for (;;) {
      if (cursor.next() !== quote) cursor.fail('looking for beginning of object key string')
      const key = cursor.string()
      this.#path[depth] = key
      if (!keys.has(key)) {
        keys.add(key)
      } else if (!reported.has(key)) {
        reported.add(key)
        this.#report()
      }
      if (!cursor.takes(colon)) cursor.fail('after object key')
      this.#value()
      if (cursor.takes(closeBrace)) return
      if (!cursor.takes(comma)) cursor.fail('after object key:value pair')
    }
  }

  #array(): void {
    const cursor = this.#cursor
    const depth = this.#path.push(0) - 1
    cursor.takes(openBracket)
    if (cursor.takes(closeBracket)) return
    for (let index = 0; ; index += 1) {
      this.#path[depth] = index
      this.#value()
      if (cursor.takes(closeBracket)) return
      if (!cursor.takes(comma)) cursor.fail('after array element')
    }
  }
}
