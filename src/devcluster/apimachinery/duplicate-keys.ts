/**
 * Scans JSON text for what `JSON.parse` does not report: duplicate keys, nesting that is too deep, and the error message of Go's decoder.
 */

/** The result of a scan; `error` is a message of Go's `encoding/json`. */
export interface JsonScan {
  /** Paths such as `spec.containers[0].name`, in document order, each once. */
  readonly duplicates: readonly string[]
  readonly error?: string
}

/** Maximum depth of objects. Go's decoder allows 10 000, but code here recurses over objects; no object written by hand comes near 500. */
export const maxDepth = 500

const whitespace = /[ \t\r\n]*/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literalToken = /true|false|null/y

class ScanError extends Error {}

/** Scans JSON text. `duplicates` is empty when there is an error. */
export function scanJson(text: string): JsonScan {
  const scanner = new Scanner(text)
  try {
    scanner.document()
    return { duplicates: [...scanner.duplicates] }
  } catch (error) {
    if (error instanceof ScanError) return { duplicates: [], error: error.message }
    throw error
  }
}

class Scanner {
  readonly duplicates = new Set<string>()
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): void {
    this.#value('')
    this.#skip()
    if (this.#at < this.#text.length) this.#fail('after top-level value')
  }

  #value(path: string): void {
    this.#skip()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#nested(() => this.#object(path))
      case '[':
        return this.#nested(() => this.#array(path))
      case '"':
        this.#string()
        return
      default:
        if (this.#take(numberToken) === undefined && this.#take(literalToken) === undefined) this.#fail('looking for beginning of value')
    }
  }

  #nested(read: () => void): void {
    this.#depth += 1
    if (this.#depth > maxDepth) throw new ScanError('exceeded max depth')
    this.#at += 1
    read()
    this.#depth -= 1
  }

  #object(path: string): void {
    const keys = new Set<string>()
    this.#skip()
    if (this.#eat('}')) return
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] !== '"') this.#fail('looking for beginning of object key string')
      const key = this.#string()
      const field = path === '' ? key : `${path}.${key}`
      if (keys.has(key)) this.duplicates.add(field)
      keys.add(key)
      this.#skip()
      if (!this.#eat(':')) this.#fail('after object key')
      this.#value(field)
      this.#skip()
      if (this.#eat('}')) return
      if (!this.#eat(',')) this.#fail('after object key:value pair')
    }
  }

  #array(path: string): void {
    this.#skip()
    if (this.#eat(']')) return
    for (let index = 0; ; index += 1) {
      this.#value(`${path}[${index}]`)
      this.#skip()
      if (this.#eat(']')) return
      if (!this.#eat(',')) this.#fail('after array element')
    }
  }

  /** Returns a key or string; a loop, because a regular expression would keep state for each character of a long string. */
  #string(): string {
    const start = this.#at
    let escaped = false
    for (this.#at += 1; ; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) break
      if (Number.isNaN(code) || code < 0x20) this.#fail('in string literal')
      if (code === 0x5c) {
        escaped = true
        this.#escape()
      }
    }
    this.#at += 1
    const token = this.#text.slice(start, this.#at)
    return escaped ? (JSON.parse(token) as string) : token.slice(1, -1)
  }

  #escape(): void {
    this.#at += 1
    const character = this.#text[this.#at] ?? ''
    if (character === '' || !'"\\/bfnrtu'.includes(character)) this.#fail('in string escape code')
    if (character !== 'u') return
    for (let digit = 0; digit < 4; digit += 1) {
      this.#at += 1
      if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) this.#fail('in \\u hexadecimal character escape')
    }
  }

  #skip(): void {
    this.#take(whitespace)
  }

  #eat(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at
    const found = token.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #fail(context: string): never {
    const character = this.#text[this.#at]
    if (character === undefined) throw new ScanError('unexpected end of JSON input')
    const shown = character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`
    throw new ScanError(`invalid character ${shown} ${context}`)
  }
}
