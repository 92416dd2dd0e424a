/** Splits a CEL expression into tokens. */
import type { Issue } from './issues.ts'

export type TokenKind = 'end' | 'symbol' | 'identifier' | 'quoted' | 'int' | 'uint' | 'float' | 'string' | 'bytes'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly offset: number
}

const blank = /(?:[\t \r\n\f]+|\/\/[^\n]*)*/y
const escape = String.raw`\\(?:[abfnrtv"'\\?\`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`
// The order of the patterns matters. Floats are tried before ints, because a float begins like an int. In `stringPattern`, `"""` is tried
// before `"`. If `"` were tried first, the first two quotes of `"""` would match as an empty string.
const tokenPatterns: readonly (readonly [TokenKind, RegExp])[] = [
  ['float', /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y],
  ['uint', /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/y],
  ['int', /(?:0x[0-9a-fA-F]+|[0-9]+)/y],
  ['bytes', stringPattern('[bB]')],
  ['string', stringPattern('')],
  ['identifier', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['quoted', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['symbol', /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y],
]

function stringPattern(prefix: string): RegExp {
  const kinds = [
    String.raw`[rR]"""[\s\S]*?"""`,
    String.raw`[rR]'''[\s\S]*?'''`,
    String.raw`[rR]"[^"\n\r]*"`,
    String.raw`[rR]'[^'\n\r]*'`,
    String.raw`"""(?:${escape}|[^\\])*?"""`,
    String.raw`'''(?:${escape}|[^\\])*?'''`,
    String.raw`"(?:${escape}|[^\\"\n\r])*"`,
    String.raw`'(?:${escape}|[^\\'\n\r])*'`,
  ]
  return new RegExp(`${prefix}(?:${kinds.join('|')})`, 'y')
}

/**
 * Returns all tokens of the source. Invalid text is reported as an issue and skipped, so that the errors after this text are found, too.
 */
export function tokenize(source: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let at = 0
  for (;;) {
    blank.lastIndex = at
    at += blank.exec(source)![0].length
    if (at >= source.length) {
      tokens.push({ kind: 'end', text: '<EOF>', offset: at })
      return { tokens, issues }
    }
    const token = tokenAt(source, at)
    const text = token?.text ?? unrecognized(source.slice(at))
    if (token === undefined) issues.push({ offset: at, message: `Syntax error: token recognition error at: '${text}'` })
    else tokens.push(token)
    at += text.length
  }
}

function tokenAt(source: string, offset: number): Token | undefined {
  for (const [kind, pattern] of tokenPatterns) {
    pattern.lastIndex = offset
    const text = pattern.exec(source)?.[0]
    if (text !== undefined) return { kind, text, offset }
  }
  return undefined
}

const halfSymbol = /^[&|=](?:[^\n]|$)/
const unfinished = [`"(?:${escape}|[^\\\\"\\n\\r])*`, `'(?:${escape}|[^\\\\'\\n\\r])*`].map(
  (start) => new RegExp(`^(?:${start})(?:\\\\(?:u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[xX][0-9a-fA-F]?|[0-3][0-7]?)?)?`),
)

/**
 * Returns the invalid text that ANTLR repeats in its message. `rest` is the source from the start of the invalid text to the end.
 *
 * - If `rest` begins with an incomplete token, such as `&` or a string without its closing quotation mark, the invalid text is the
 *   incomplete token and the next character. A line feed after `&`, `|` or `=` is not part of the invalid text.
 * - Otherwise, the invalid text is the first character of `rest`.
 */
function unrecognized(rest: string): string {
  const begin = halfSymbol.exec(rest)?.[0] ?? unfinished.map((pattern) => pattern.exec(rest)?.[0]).find((text) => text !== undefined)
  if (begin === undefined) return String.fromCodePoint(rest.codePointAt(0)!)
  return begin.length < 2 || /^["']/.test(begin) ? rest.slice(0, begin.length + 1) : begin
}
