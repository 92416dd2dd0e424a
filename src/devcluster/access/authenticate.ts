/** Authenticates requests with bearer tokens. The user of a request without a token is `system:anonymous`. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError } from '../apimachinery/status-error.ts'

/** The group of all users except `system:anonymous`. */
export const authenticated = 'system:authenticated'

/** The group of `system:anonymous`. */
export const unauthenticated = 'system:unauthenticated'

/**
 * A key in the `extra` field of a user that has authenticated with a ServiceAccount token. If the claims of the token contain a Node, the
 * name of this Node is stored under the key.
 */
export const boundNodeKey = 'authentication.kubernetes.io/node-name'

/** The audience of the embedded API server. */
export const serverAudience = 'https://kubernetes.default.svc'

/** The user of a valid token, and the requested audiences for which the token is valid. */
export interface Authentication {
  readonly user: UserInfo
  /** The requested audiences that are also audiences of the token; never empty. */
  readonly audiences: readonly string[]
}

/** kube-apiserver's message for a token that is not valid for the requested audiences. */
export interface TokenRefusal {
  readonly refusal: string
}

/**
 * Authenticates a token. The token must be valid for at least one of `audiences`. The default of `audiences` is the audience of the
 * embedded API server.
 *
 * Returns undefined for an unknown or expired token. If the token is valid for none of the audiences, the authenticator of ServiceAccount
 * tokens returns a refusal, and the authenticator of fixed tokens returns undefined.
 */
export type TokenAuthenticator = (token: string, audiences?: readonly string[]) => Authentication | TokenRefusal | undefined

/** Returns the audiences that both lists contain; undefined if the lists have no audience in common. */
export function commonAudiences(requested: readonly string[], accepted: readonly string[]): readonly string[] | undefined {
  const common = requested.filter((audience) => accepted.includes(audience))
  return common.length === 0 ? undefined : common
}

/**
 * Returns an authenticator for fixed tokens. The authenticator compares the digest of a request's token with the digests of all known
 * tokens. The duration of this comparison therefore reveals nothing about the known tokens.
 */
export function tokenAuthenticator(tokens: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const known = [...tokens].map(([token, user]) => ({ digest: digestOf(token), user: withGroup(user, authenticated) }))
  return (token, requested = [serverAudience]) => {
    const digest = digestOf(token)
    let user: UserInfo | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) user = entry.user
    const audiences = commonAudiences(requested, [serverAudience])
    return user === undefined || audiences === undefined ? undefined : { user, audiences }
  }
}

/** The user of a request without a token. */
export const anonymous: UserInfo = { username: 'system:anonymous', groups: [unauthenticated] }

/**
 * Returns the user of a request, before impersonation. The user of a request without a token is `system:anonymous`. RBAC authorizes
 * requests of `system:anonymous` in the same way as requests of all other users.
 *
 * @throws {StatusError} 401 for an invalid token.
 */
export function authenticate(headers: IncomingHttpHeaders, tokens: TokenAuthenticator): UserInfo {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return anonymous
  const authentication = tokens(token)
  if (authentication === undefined || 'refusal' in authentication) throw new StatusError(failure(401, 'Unauthorized', 'Unauthorized'))
  return authentication.user
}

/** Returns the user name of a ServiceAccount. */
export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** Returns the groups to which all ServiceAccounts of a namespace belong, without the group `system:authenticated`. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** Returns the user with `group` as an additional group. If the user already has this group, returns the same user. */
export function withGroup(user: UserInfo, group: string): UserInfo {
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
