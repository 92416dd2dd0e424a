/** Who asks: bearer tokens, nobody in particular, and impersonation by those who may. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { quote } from '../../api/field-error.ts'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../registry/request-context.ts'
import { StatusError, badRequest } from '../registry/status-error.ts'
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts'
import { forbiddenError } from './authorizer.ts'

const authenticated = 'system:authenticated'

/** For whom tokens are meant that this API server accepts. */
export const serverAudience = 'https://kubernetes.default.svc'

/** Whom a token stands for. */
export interface Authentication {
  readonly user: UserInfo
  /** Of the audiences that were asked for, those for whom the token is meant: at least one. */
  readonly audiences: readonly string[]
}

/** Why a token that is known is not valid, in the API server's words. */
export interface TokenRefusal {
  readonly refusal: string
}

/** Whom a token stands for before one of these audiences, by default this API server; undefined: nobody knows the token. */
export type TokenAuthenticator = (token: string, audiences?: readonly string[]) => Authentication | TokenRefusal | undefined

/** Those who ask, as far as the token is meant for them; undefined: for none of them. */
export function commonAudiences(asked: readonly string[], meant: readonly string[]): readonly string[] | undefined {
  const common = asked.filter((audience) => meant.includes(audience))
  return common.length === 0 ? undefined : common
}

/** Looks tokens up in constant time: every token is compared, by digest, whatever was sent. */
export function tokenAuthenticator(tokens: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const known = [...tokens].map(([token, user]) => ({ digest: digestOf(token), user: withGroups(user, authenticated) }))
  return (token, asked = [serverAudience]) => {
    const digest = digestOf(token)
    let user: UserInfo | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) user = entry.user
    const audiences = commonAudiences(asked, [serverAudience])
    return user === undefined || audiences === undefined ? undefined : { user, audiences }
  }
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * The user of a request, before impersonation. Who shows no token is somebody, too: RBAC says what that one may do.
 *
 * @throws {StatusError} 401 for a token that is not valid.
 */
export function authenticate(headers: IncomingHttpHeaders, tokens: TokenAuthenticator): UserInfo {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return anonymous
  const authentication = tokens(token)
  if (authentication === undefined || 'refusal' in authentication) throw new StatusError(failure(401, 'Unauthorized', 'Unauthorized'))
  return authentication.user
}

/** What a request is for, as far as a refusal to impersonate tells it. */
type Target = Omit<AuthorizationAttributes, 'user'>

/**
 * As whom the requester asks.
 *
 * @throws {StatusError} 400 when that is nobody by name, 403 when the requester may not.
 */
export function impersonate(requester: UserInfo, headers: IncomingHttpHeaders, authorizer: Authorizer, target: Target): UserInfo {
  const username = single(headers['impersonate-user'])
  const groups = list(headers['impersonate-group'])
  const uid = single(headers['impersonate-uid'])
  const extra = extraOf(headers)
  const account = serviceAccountIn(username)
  const asked = [
    ...(username === ''
      ? []
      : [account === undefined ? { resource: 'users', name: username } : { resource: 'serviceaccounts', ...account }]),
    ...groups.map((name) => ({ resource: 'groups', name })),
    ...(uid === '' ? [] : [{ resource: 'uids', name: uid, group: 'authentication.k8s.io' }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ resource: 'userextras', name, group: 'authentication.k8s.io', subresource: key })),
    ),
  ]
  if (asked.length === 0) return requester
  if (username === '') throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`)
  const general = { user: requester, verb: 'impersonate', group: '', version: '', subresource: '', namespace: '' }
  if (!asked.every((subject) => authorizer.authorize({ ...general, ...subject }).allowed)) {
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

/** A user without a name, as Go prints it. */
function goUser(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const texts = (values: readonly string[]): string => `[]string{${values.map(quote).join(', ')}}`
  const fields = Object.entries(extra).map(([key, values]) => `${quote(key)}:${texts(values)}`)
  const printedGroups = groups.length === 0 ? '[]string(nil)' : texts(groups)
  const printedExtra = fields.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${fields.join(', ')}}`
  return `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

/** The user that a ServiceAccount is. */
export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** The groups that the ServiceAccounts of a namespace are in. */
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

/** A key whose percent-encoding is broken stands for itself. */
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

/** Node joins a repeated header with commas. */
function list(header: string | string[] | undefined): string[] {
  const values = Array.isArray(header) ? header : (header?.split(',') ?? [])
  return values.map((value) => value.trim()).filter((value) => value !== '')
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
