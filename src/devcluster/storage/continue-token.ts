/** The opaque `continue` of a list in pages: where to go on, and at which revision. */
import { isObject } from '../../api/json.ts'
import { scanJson } from '../http/duplicate-keys.ts'

export interface ContinueToken {
  /** The revision of the whole list; -1: whatever is there now, after the wanted revision was compacted. */
  readonly revision: number
  /** Below the keys of the next page, relative to the listed namespace. */
  readonly start: string
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.start })).toString('base64url')
}

/** Throws `SyntaxError` with what is wrong. */
export function decodeContinueToken(text: string): ContinueToken {
  const illegal = text.search(/[^\w-]/)
  if (illegal >= 0) throw new SyntaxError(`continue key is not valid: illegal base64 data at input byte ${illegal}`)
  const json = Buffer.from(text, 'base64url').toString()
  const { error } = scanJson(json)
  if (error !== undefined) throw new SyntaxError(`continue key is not valid: ${error}`)
  const token: unknown = JSON.parse(json)
  if (!isObject(token) || token.v !== tokenVersion)
    throw new SyntaxError(
      'continue key is not valid: server does not recognize this encoded version ' + String(isObject(token) ? (token.v ?? '') : ''),
    )
  const { rv, start } = token
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw new SyntaxError('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start === 'string' && `/${start}`.includes('/../')) throw new SyntaxError(`continue key is not valid: ${start}`)
  if (typeof start !== 'string' || start === '')
    throw new SyntaxError('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)')
  return { revision: rv, start }
}
