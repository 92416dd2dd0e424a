/** Authenticates requests: bearer tokens, the anonymous user, and impersonation. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { quote } from '../../api/field-error.ts'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError, badRequest } from '../apimachinery/status-error.ts'
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts'
import { forbiddenError } from './authorizer.ts'

const authenticated = 'system:authenticated'

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
 * Authenticates a token. The token must be valid for at least one of `audiences` (default: the audience of the embedded API server).
 * Returns undefined if the token is unknown, expired or not valid for the audiences. For a token that is not valid for the audiences, an
 * authenticator may return a refusal instead.
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
  const known = [...tokens].map(([token, user]) => ({ digest: digestOf(token), user: withGroups(user, authenticated) }))
  return (token, requested = [serverAudience]) => {
    const digest = digestOf(token)
    let user: UserInfo | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) user = entry.user
    const audiences = commonAudiences(requested, [serverAudience])
    return user === undefined || audiences === undefined ? undefined : { user, audiences }
  }
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * Returns the user of a request, before impersonation. The user of a request without a token is `system:anonymous`. RBAC applies to
 * `system:anonymous` as to any other user.
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

/** The attributes of a request without its user. The error for a forbidden impersonation contains these attributes. */
type Target = Omit<AuthorizationAttributes, 'user'>

/**
 * Returns the impersonated user. If there are no impersonation headers, returns the requester
 * (k8s.io/apiserver/pkg/endpoints/filters/impersonation: WithConstrainedImpersonation).
 *
 * @throws {StatusError} 400 when impersonation headers are set, but not `Impersonate-User`; 403 when the requester may not impersonate the
 * user.
 */
export function impersonate(requester: UserInfo, headers: IncomingHttpHeaders, authorizer: Authorizer, target: Target): UserInfo {
  if (!Object.keys(headers).some((header) => header.startsWith('impersonate-'))) return requester
  const username = single(headers['impersonate-user'])
  const groups = list(headers['impersonate-group'])
  const uid = single(headers['impersonate-uid'])
  const extra = extraOf(headers)
  const account = serviceAccountIn(username)
  const impersonated = [
    ...(username === ''
      ? []
      : [account === undefined ? { resource: 'users', name: username } : { resource: 'serviceaccounts', ...account }]),
    ...groups.map((name) => ({ resource: 'groups', name })),
    ...(uid === '' ? [] : [{ resource: 'uids', name: uid, group: 'authentication.k8s.io' }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ resource: 'userextras', name, group: 'authentication.k8s.io', subresource: key })),
    ),
  ]
  if (impersonated.length === 0) return requester
  if (username === '') throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`)
  const general = { user: requester, verb: 'impersonate', group: '', version: '', subresource: '', namespace: '' }
  if (!impersonated.every((subject) => authorizer.authorize({ ...general, ...subject }).allowed)) {
    const mode = account !== undefined ? 'serviceaccount' : username.startsWith('system:node:') ? 'arbitrary-node' : 'user-info'
    throw forbiddenError({ ...target, user: requester, verb: `impersonate-on:${mode}:${target.verb}` })
  }
  const user: UserInfo = {
    username,
    groups: groups.length > 0 ? groups : account === undefined ? [] : serviceAccountGroups(account.namespace),
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
  return username === anonymous.username || groups.includes('system:unauthenticated') ? user : withGroups(user, authenticated)
}

function serviceAccountIn(username: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

/** Formats a user for the error message about an impersonation without a user name. The format is that of Go's `%#v`. */
function goUser(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const texts = (values: readonly string[]): string => `[]string{${values.map(quote).join(', ')}}`
  const fields = Object.entries(extra).map(([key, values]) => `${quote(key)}:${texts(values)}`)
  const printedGroups = groups.length === 0 ? '[]string(nil)' : texts(groups)
  const printedExtra = fields.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${fields.join(', ')}}`
  return `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

/** Returns the user name of a ServiceAccount. */
export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** Returns the groups that identify the ServiceAccounts of a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

function extraOf(headers: IncomingHttpHeaders): Record<string, string[]> {
  const prefix = 'impersonate-extra-'
  const entries = Object.entries(headers).flatMap(([header, value]): [string, string[]][] =>
    header.startsWith(prefix) ? [[unescaped(header.slice(prefix.length)), list(value)]] : [],
  )
  return Object.fromEntries(entries)
}

/** Decodes the percent-encoded key of an `Impersonate-Extra-` header. A key with invalid encoding is returned unchanged. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function withGroups(user: UserInfo, group: string): UserInfo {
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] }
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
}

/** Returns the values of a header that can occur several times. Node.js joins the values of all occurrences with commas. */
function list(header: string | string[] | undefined): string[] {
  const values = Array.isArray(header) ? header : (header?.split(',') ?? [])
  return values.map((value) => value.trim()).filter((value) => value !== '')
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
