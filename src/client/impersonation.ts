/** `Impersonation`: another user in whose name a client sends its requests. */
import { ProreusError } from '../api/errors.ts'

/**
 * The user to impersonate. The API server authorizes a request as this user, not as the user of the credentials. The user of the
 * credentials needs the permission to `impersonate` the user name, the uid, each group and each extra value: see
 * https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/.
 */
export interface Impersonation {
  /** The name of the user, e.g. `jane` or `system:serviceaccount:default:deployer`. */
  readonly user: string
  /**
   * The groups of the user. The API server adds further groups:
   *
   * - `system:serviceaccounts` and `system:serviceaccounts:<namespace>`, if `groups` is absent and the user is a service account
   * - `system:unauthenticated`, if the user is `system:anonymous`
   * - `system:authenticated`, if the user is neither `system:anonymous` nor a member of `system:unauthenticated`
   */
  readonly groups?: readonly string[]
  readonly uid?: string
  /** Additional attributes of the user, such as scopes. The API server converts the keys to lower case. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/**
 * Returns the headers that impersonate a user, encoded as in client-go (k8s.io/client-go/transport: impersonatingRoundTripper).
 *
 * @throws {ProreusError} `PRO_INPUT` when the user is empty, or a value contains a control character.
 */
export function impersonationHeaders({ user, groups = [], uid, extra = {} }: Impersonation): Record<string, string | string[]> {
  if (user === '') throw new ProreusError('PRO_INPUT', 'The user to impersonate is empty: groups, uid and extra need the name of a user.')
  const headers: Record<string, string | string[]> = { 'Impersonate-User': headerValue(user) }
  if (uid !== undefined && uid !== '') headers['Impersonate-Uid'] = headerValue(uid)
  if (groups.length > 0) headers['Impersonate-Group'] = groups.map(headerValue)
  for (const [key, values] of Object.entries(extra)) headers[`Impersonate-Extra-${headerKey(key)}`] = values.map(headerValue)
  return headers
}

/** Returns `headers` without the headers that impersonate a user. */
export function withoutImpersonation(headers: Readonly<Record<string, string | string[]>>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^impersonate-/i.test(name)))
}

/** Percent-encodes all characters that a header's name must not contain, and `%` itself. */
function headerKey(key: string): string {
  return Buffer.from(key, 'utf8')
    .toString('latin1')
    .replace(/[^\w!#$&'*+.^`|~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}

/**
 * Encodes a value so that the header contains the UTF-8 bytes of the value, as in client-go. Node.js writes each character of a header as
 * one Latin-1 byte.
 */
function headerValue(value: string): string {
  // These characters would end or corrupt the header.
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw new ProreusError(
      'PRO_INPUT',
      `${JSON.stringify(value)} cannot be impersonated: a user, group, uid or extra value must not contain control characters.`,
    )
  }
  return Buffer.from(value, 'utf8').toString('latin1')
}
