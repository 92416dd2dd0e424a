/** `JsonCursor`: reads the tokens of a JSON document, for code that cannot use `JSON.parse`. */

/** Thrown when a document is not valid JSON. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'SyntaxError'
  /** The unexpected character; undefined at the end of the document. */
  readonly character: string | undefined
  /** The position in the grammar, in the words of Go's `encoding/json`, e.g. `after object key`. */
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

/** Reads the tokens of a JSON document one after the other. */
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

  /** Skips white space. If the next character is `code`, skips this character, too, and returns true. */
  takes(code: number): boolean {
    if (this.next() !== code) return false
    this.#at += 1
    return true
  }

  /** Returns the string at the current position, and moves past it. */
  string(): string {
    const text = this.#text
    const start = this.#at
    let at = start + 1
    let plain = true
    for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
      // At the end of the document, `code` is NaN. This condition is true for NaN, but `code < 0x20` would be false.
      if (!(code >= 0x20)) throw new JsonSyntaxError(text, at, 'in string literal')
      if (code === backslash) {
        plain = false
        at = endOfEscape(text, at)
      } else at += 1
    }
    this.#at = at + 1
    // V8 implements a slice of 13 or more characters as a reference to the whole document, which would then stay in memory. `JSON.parse`
    // returns a copy instead.
    return plain && at - start <= 12 ? text.slice(start + 1, at) : (JSON.parse(text.slice(start, at + 1)) as string)
  }

  /** Returns the text of the number, `true`, `false` or `null` at the current position, and moves past it. */
  scalar(): string {
    numberToken.lastIndex = this.#at
    const token = numberToken.exec(this.#text)?.[0] ?? words.find((word) => this.#text.startsWith(word, this.#at))
    if (token === undefined) this.fail('looking for beginning of value')
    this.#at += token.length
    return token
  }

  /** Throws a {@link JsonSyntaxError} for the character at the current position. */
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
    if (!isHexDigit(text.charCodeAt(digit))) throw new JsonSyntaxError(text, digit, 'in \\u hexadecimal character escape')
  return at + 5
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
}
