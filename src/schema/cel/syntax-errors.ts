/** What is said where an expression cannot go on, in the words of cel-go's parser. */
import { CelSyntaxError } from './issues.ts'
import type { Token } from './lexer.ts'

export const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** One symbol is wanted: it is missing, unless the next one is it and this one too much. */
export function missing(token: Token, next: Token | undefined, symbol: string): CelSyntaxError {
  const { text, offset } = token
  if (next?.kind === 'symbol' && next.text === symbol) {
    return new CelSyntaxError(offset, `Syntax error: extraneous input '${text}' expecting '${symbol}'`)
  }
  if (!mayFollow(token, symbol)) return unexpected(token, next, `'${symbol}'`)
  return new CelSyntaxError(offset, `Syntax error: missing '${symbol}' at '${text}'`)
}

/** One of several things is wanted. */
export function unexpected({ text, offset }: Token, next: Token | undefined, expecting: string): CelSyntaxError {
  const isExtra = expecting === '<EOF>' || (expecting === startOfExpression && next !== undefined && startsExpression(next))
  return new CelSyntaxError(offset, `Syntax error: ${isExtra ? 'extraneous' : 'mismatched'} input '${text}' expecting ${expecting}`)
}

/** After a dot, there is nothing that could be meant. */
export function noAlternative({ kind, text, offset }: Token): CelSyntaxError {
  return new CelSyntaxError(offset, `Syntax error: no viable alternative at input '.${kind === 'end' ? '' : text}'`)
}

/** Whether the expression could go on with the token after the symbol. */
function mayFollow(token: Token, symbol: string): boolean {
  const { kind, text } = token
  if (symbol === ':') return startsExpression(token)
  return kind === 'end' || (kind === 'symbol' && !['(', '{', '!', ',', ':'].includes(text)) || text === 'in'
}

function startsExpression({ kind, text }: Token): boolean {
  return kind === 'symbol' ? ['[', '{', '(', '.', '-', '!'].includes(text) : kind !== 'end' && text !== 'in'
}
