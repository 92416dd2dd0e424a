/** Reads the tokens of JSON, for code that needs more than `JSON.parse` can do. */

/** The error for a string that is not valid JSON. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'SyntaxError'
  /** The unexpected character; undefined at the end of the string. */
  readonly character: string | undefined
  /** The place in the grammar, in the words of Go's `encoding/json`: `after object key`. */
  readonly context: string

  constructor(text: string, at: number, context: string) {
    super(`Unexpected ${at < text.length ? 'character' : 'end of the text'} at position ${at}`)
    this.character = text[at]
    this.context = context
  }
}

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const words = ['true', 'false', 'null'] as const
const [quote, backslash] = [0x22, 0x5c]

/** A position in a JSON document. */
export class JsonCursor {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Skips white space, and returns the code of the next character; NaN at the end of the document. */
  next(): number {
    const text = this.#text
    let code = text.charCodeAt(this.#at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt((this.#at += 1))
    return code
  }

  /** Skips white space and this character. Returns false when the next character is another one. */
  takes(code: number): boolean {
    if (this.next() !== code) return false
    this.#at += 1
    return true
  }

  /** Returns the string that begins here. */
  string(): string {
    const text = this.#text
    const start = this.#at
    let at = start + 1
    let plain = true
    for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
      // The condition is also true for NaN, at the end of the document.
      if (!(code >= 0x20)) throw new JsonSyntaxError(text, at, 'in string literal')
      if (code === backslash) {
        plain = false
        at = endOfEscape(text, at)
      } else at += 1
    }
    this.#at = at + 1
    // A longer slice of a string keeps the whole string in memory; the result of `JSON.parse` does not.
    return plain && at - start <= 12 ? text.slice(start + 1, at) : (JSON.parse(text.slice(start, at + 1)) as string)
  }

  /** Returns the characters of the number or word that begins here. */
  scalar(): string {
    numberToken.lastIndex = this.#at
    const token = numberToken.exec(this.#text)?.[0] ?? words.find((word) => this.#text.startsWith(word, this.#at))
    if (token === undefined) this.fail('looking for beginning of value')
    this.#at += token.length
    return token
  }

  /** Throws a {@link JsonSyntaxError} for the next character. */
  fail(context: string): never {
    throw new JsonSyntaxError(this.#text, this.#at, context)
  }
}

/** Returns the position after the escape sequence that begins at `start`. */
function endOfEscape(text: string, start: number): number {
  const at = start + 1
  const character = text[at] ?? ''
  if (character === '' || !'"\\/bfnrtu'.includes(character)) throw new JsonSyntaxError(text, at, 'in string escape code')
  if (character !== 'u') return at + 1
  for (let digit = at + 1; digit <= at + 4; digit += 1)
    if (!/[0-9a-fA-F]/.test(text[digit] ?? '')) throw new JsonSyntaxError(text, digit, 'in \\u hexadecimal character escape')
  return at + 5
}
