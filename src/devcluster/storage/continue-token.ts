/**
 * The opaque `continue` token of a paged list. It contains the start key of the next page and the revision of the list
 * (k8s.io/apiserver/pkg/storage: continue.go).
 */
import { isObject } from '../../api/json.ts'
import { scanJson } from '../apimachinery/duplicate-keys.ts'

export interface ContinueToken {
  /**
   * The revision of the list. -1 means the current revision. A token with -1 is part of the 410 error for a list whose revision has been
   * compacted.
   */
  readonly revision: number
  /** Lower bound of the keys of the next page. For a list of one namespace, `start` does not contain the namespace. */
  readonly start: string
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.start })).toString('base64url')
}

/** Parses a `continue` token. Throws `SyntaxError` for an invalid token. */
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
