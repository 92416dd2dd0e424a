/** Who asks: bearer tokens, and impersonation by those who may. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../registry/request-context.ts'
import { StatusError } from '../registry/status-error.ts'
import type { Authorizer } from './authorizer.ts'
import { forbiddenError } from './authorizer.ts'

const authenticated = 'system:authenticated'

/** The user that a token stands for, or undefined. */
export type TokenAuthenticator = (token: string) => UserInfo | undefined

/** Looks tokens up in constant time: every token is compared, by digest, whatever was sent. */
export function tokenAuthenticator(tokens: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const known = [...tokens].map(([token, user]) => ({ digest: digestOf(token), user: withGroups(user, authenticated) }))
  return (token) => {
    const digest = digestOf(token)
    let found: UserInfo | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.user
    return found
  }
}

/**
 * The user of a request, after impersonation.
 *
 * @throws {StatusError} 401 without valid credentials, 403 when the user may not impersonate.
 */
export function authenticate(headers: IncomingHttpHeaders, tokens: TokenAuthenticator, authorizer: Authorizer): UserInfo {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const user = token === undefined ? undefined : tokens(token)
  if (user === undefined) throw new StatusError(failure(401, 'Unauthorized', 'Unauthorized'))
  return impersonate(user, headers, authorizer)
}

function impersonate(requester: UserInfo, headers: IncomingHttpHeaders, authorizer: Authorizer): UserInfo {
  const username = single(headers['impersonate-user'])
  const groups = list(headers['impersonate-group'])
  const uid = single(headers['impersonate-uid'])
  const extra = extraOf(headers)
  const asked = [
    ...(username === '' ? [] : [{ resource: 'users', name: username, group: '', subresource: '' }]),
    ...groups.map((name) => ({ resource: 'groups', name, group: '', subresource: '' })),
    ...(uid === '' ? [] : [{ resource: 'uids', name: uid, group: 'authentication.k8s.io', subresource: '' }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ resource: 'userextras', name, group: 'authentication.k8s.io', subresource: key })),
    ),
  ]
  if (asked.length === 0) return requester
  if (username === '') {
    throw new StatusError(
      failure(500, 'InternalError', 'Internal error occurred: requested impersonation without a user: set the header Impersonate-User'),
    )
  }
  for (const { resource, name, group, subresource } of asked) {
    const attributes = { user: requester, verb: 'impersonate', group, version: '', resource, subresource, namespace: '', name }
    const { allowed, reason } = authorizer.authorize(attributes)
    if (!allowed) throw forbiddenError(attributes, reason)
  }
  const user: UserInfo = {
    username,
    groups: groups.length === 0 ? groupsOf(username) : groups,
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
  return username === 'system:anonymous' || groups.includes('system:unauthenticated') ? user : withGroups(user, authenticated)
}

/** The groups that a user has by its name: service accounts have some. */
function groupsOf(username: string): readonly string[] {
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username)?.[1]
  return namespace === undefined ? [] : serviceAccountGroups(namespace)
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
    header.startsWith(prefix) ? [[decodeURIComponent(header.slice(prefix.length)), list(value)]] : [],
  )
  return Object.fromEntries(entries)
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
