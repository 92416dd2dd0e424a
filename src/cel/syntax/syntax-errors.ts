/** Builds syntax errors with the messages of cel-go's parser, a parser that ANTLR generates. */
import { CelSyntaxError } from './issues.ts'
import type { Token } from './lexer.ts'

export const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/**
 * Returns the error for a missing symbol. `token` is the current token, and `next` is the token after it. If `next` is the missing symbol,
 * the current token is reported as extraneous.
 */
export function missing(token: Token, next: Token | undefined, symbol: string): CelSyntaxError {
  const { text, offset } = token
  if (next?.kind === 'symbol' && next.text === symbol) {
    return new CelSyntaxError(offset, `Syntax error: extraneous input '${text}' expecting '${symbol}'`)
  }
  if (!mayFollow(token, symbol)) return unexpected(token, next, `'${symbol}'`)
  return new CelSyntaxError(offset, `Syntax error: missing '${symbol}' at '${text}'`)
}

/** Returns the error for a token that is not allowed at its position. `expecting` lists the allowed tokens. */
export function unexpected({ text, offset }: Token, next: Token | undefined, expecting: string): CelSyntaxError {
  const isExtra = expecting === '<EOF>' || (expecting === startOfExpression && next !== undefined && startsExpression(next))
  return new CelSyntaxError(offset, `Syntax error: ${isExtra ? 'extraneous' : 'mismatched'} input '${text}' expecting ${expecting}`)
}

/** Returns the error for an invalid token after a dot. */
export function noAlternative({ kind, text, offset }: Token): CelSyntaxError {
  return new CelSyntaxError(offset, `Syntax error: no viable alternative at input '.${kind === 'end' ? '' : text}'`)
}

/** Returns true if the token may follow the missing symbol. */
function mayFollow(token: Token, symbol: string): boolean {
  const { kind, text } = token
  if (symbol === ':') return startsExpression(token)
  return kind === 'end' || (kind === 'symbol' && !['(', '{', '!', ',', ':'].includes(text)) || text === 'in'
}

function startsExpression({ kind, text }: Token): boolean {
  return kind === 'symbol' ? ['[', '{', '(', '.', '-', '!'].includes(text) : kind !== 'end' && text !== 'in'
}
