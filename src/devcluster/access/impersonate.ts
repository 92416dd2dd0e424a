/**
 * Impersonates users: a request with `Impersonate-` headers has the rights of another user, if the requester may impersonate that user
 * (k8s.io/apiserver/pkg/endpoints/filters/impersonation).
 */
import type { IncomingMessage } from 'node:http'
import { formatFieldError, quote } from '../../api/field-error.ts'
import { dns1123Label, dns1123Subdomain } from '../../api/name-syntax.ts'
import { domainPrefixedPathErrors } from '../apimachinery/domain-prefixed-path.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError, badRequest } from '../apimachinery/status-error.ts'
import { anonymous, authenticated, boundNodeKey, serviceAccountGroups, unauthenticated, withGroup } from './authenticate.ts'
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts'
import { forbiddenError, masters, requireAllowed } from './authorizer.ts'

/** The attributes of a request without its user. */
type Target = Omit<AuthorizationAttributes, 'user'>

/** The user to impersonate, as given in the `Impersonate-` headers of a request. */
interface WantedUser {
  readonly username: string
  /** Empty if the request has no `Impersonate-Uid` header. */
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/**
 * A mode of constrained impersonation. Each mode applies to certain impersonated users, such as ServiceAccounts. The requester needs two
 * verbs:
 *
 * - `impersonate:<mode>` for the user name, the uid, each group and each extra value of the impersonated user.
 * - `impersonate-on:<mode>:<verb>` for the request itself.
 */
interface Mode {
  readonly name: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'
  includes(wanted: WantedUser, requester: UserInfo): boolean
}

const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    includes: (wanted, requester) => {
      const node = hasOnlyName(wanted) ? nodeOf(wanted.username) : undefined
      return node !== undefined && serviceAccountOf(requester.username) !== undefined && node === boundNodeOf(requester)
    },
  },
  { name: 'arbitrary-node', includes: (wanted) => hasOnlyName(wanted) && nodeOf(wanted.username) !== undefined },
  { name: 'serviceaccount', includes: (wanted) => hasOnlyName(wanted) && serviceAccountOf(wanted.username) !== undefined },
  { name: 'user-info', includes: ({ username }) => nodeOf(username) === undefined && serviceAccountOf(username) === undefined },
]

/**
 * Minimum number of groups at which constrained impersonation first checks all groups together. If the impersonated user has at least this
 * number of groups, the verb `impersonate:<mode>` is first checked for the name `*`, which stands for all groups. If this check succeeds,
 * the groups are not checked one by one. If it fails, each group is checked. The same minimum applies to the number of extra values.
 */
const manyValues = 4

/**
 * Returns the impersonated user. If the request has no impersonation headers, returns the requester.
 *
 * The constrained verbs are checked first, and then the verb `impersonate`. In contrast, kube-apiserver first checks the verbs that allowed
 * the latest impersonation by this requester. With the fixed order, the result does not depend on earlier requests.
 *
 * @throws {StatusError} 400 when impersonation headers are set, but not `Impersonate-User`; 403 when the requester may not impersonate the
 *   user. If several checks fail, the error of the check that failed first is thrown.
 */
export function impersonate(
  requester: UserInfo,
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  authorizer: Authorizer,
  target: Target,
): UserInfo {
  if (!Object.keys(request.headers).some((header) => header.startsWith('impersonate-'))) return requester
  const wanted = wantedUser(request.headersDistinct)
  if (wanted === undefined) return requester
  const refusals: StatusError[] = []
  const isAllowed = (check: () => void): boolean => {
    try {
      check()
      return true
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      refusals.push(error)
      return false
    }
  }
  for (const mode of modes) {
    if (!mode.includes(wanted, requester)) continue
    const check = (): void => {
      requireAllowed(authorizer, { ...target, user: requester, verb: `impersonate-on:${mode.name}:${target.verb}` })
      requireConstrained(mode.name, wanted, requester, authorizer)
    }
    if (isAllowed(check)) return identityOf(wanted, nodeOf(wanted.username) === undefined ? [] : ['system:nodes'])
  }
  if (isAllowed(() => requireGeneral(wanted, requester, authorizer))) return identityOf(wanted, [])
  throw refusals[0]!
}

/**
 * A part of the impersonated user: the user name, the uid, a group or an extra value. `resource` and `name` are the resource and the name
 * that an RBAC rule for this part contains. For example, an RBAC rule for the resource `groups` and the name `developers` can permit the
 * impersonation of the group `developers`.
 */
type Subject = Pick<AuthorizationAttributes, 'resource' | 'name'> & Partial<AuthorizationAttributes>

function subjectAttributes(requester: UserInfo, verb: string): (subject: Subject) => AuthorizationAttributes {
  const general = { user: requester, verb, group: 'authentication.k8s.io', version: 'v1', subresource: '', namespace: '' }
  return (subject) => ({ ...general, ...subject })
}

/**
 * Checks that the requester has the verb `impersonate` for the username, the uid, each group and each extra value of the wanted user.
 *
 * @throws {StatusError} 403 when the requester lacks the verb for one of them.
 */
function requireGeneral({ username, uid, groups, extra }: WantedUser, requester: UserInfo, authorizer: Authorizer): void {
  const attributes = subjectAttributes(requester, 'impersonate')
  const subjects = [
    { group: '', ...accountSubject(username) },
    ...uidSubjects(uid),
    ...groups.map((name) => ({ group: '', resource: 'groups', name })),
    ...extraSubjects(extra),
  ]
  for (const subject of subjects) requireAllowed(authorizer, attributes(subject))
}

/**
 * Requires that the requester has the verb `impersonate:<mode>` for the user name, the uid, each group and each extra value of the wanted
 * user. If the requester lacks the verb for one of them, or one of them cannot be impersonated with this verb, throws 403.
 */
function requireConstrained(mode: Mode['name'], wanted: WantedUser, requester: UserInfo, authorizer: Authorizer): void {
  const { username, uid, groups, extra } = wanted
  const attributes = subjectAttributes(requester, `impersonate:${mode}`)
  const check = (subject: Subject): void => requireAllowed(authorizer, attributes(subject))
  const checkEach = (all: Subject, subjects: readonly Subject[]): void => {
    if (subjects.length >= manyValues && authorizer.authorize(attributes(all)).allowed) return
    subjects.forEach(check)
  }
  const node = nodeOf(username)
  // In the mode `associated-node`, a requester can impersonate only the node that the requester's ServiceAccount token names. As in
  // kube-apiserver, the requester nevertheless needs the verb `impersonate:associated-node` for the name `*`, which stands for all nodes.
  // kube-apiserver caches the result of this check. The result does not depend on the name of a node, so one cached result applies to all
  // Pods of a DaemonSet.
  check(node === undefined ? accountSubject(username) : { resource: 'nodes', name: mode === 'associated-node' ? '*' : node })
  uidSubjects(uid).forEach(check)
  for (const [group, text] of [
    ['', 'empty string'],
    [masters, masters],
  ] as const)
    if (groups.includes(group))
      throw forbiddenError(attributes({ resource: 'groups', name: group }), `impersonating the ${text} group is not allowed`)
  checkEach(
    { resource: 'groups', name: '*' },
    groups.map((name) => ({ resource: 'groups', name })),
  )
  const problem = extraProblem(extra)
  if (problem !== undefined) throw forbiddenError(attributes({ resource: 'userextras', name: '' }), problem)
  checkEach({ resource: 'userextras', subresource: '*', name: '*' }, extraSubjects(extra))
}

function accountSubject(username: string): Subject {
  const account = serviceAccountOf(username)
  return account === undefined ? { resource: 'users', name: username } : { resource: 'serviceaccounts', ...account }
}

function uidSubjects(uid: string): Subject[] {
  return uid === '' ? [] : [{ resource: 'uids', name: uid }]
}

function extraSubjects(extra: WantedUser['extra']): Subject[] {
  return [...extra].flatMap(([subresource, values]) => values.map((name) => ({ resource: 'userextras', subresource, name })))
}

/**
 * Validates the extra fields of the impersonated user for constrained impersonation (the verb `impersonate:<mode>`). Returns the error
 * message for the first field with an invalid key or an empty value. Returns undefined if all fields are valid.
 */
function extraProblem(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const errors = domainPrefixedPathErrors(key, 'extra.key').map(formatFieldError)
    if (errors.length > 0)
      return `impersonating an invalid key in extra is not allowed: ${errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`}`
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

/**
 * Returns the impersonated user. If the request names no groups, and the user is not a ServiceAccount, the user gets the groups
 * `nodeGroups`.
 */
function identityOf({ username, uid, groups, extra }: WantedUser, nodeGroups: readonly string[]): UserInfo {
  const account = serviceAccountOf(username)
  const derived = account === undefined ? nodeGroups : serviceAccountGroups(account.namespace)
  const own = groups.length > 0 ? groups : derived
  const isUnauthenticated = username === anonymous.username || own.includes(unauthenticated)
  return withGroup(
    { username, groups: own, ...(uid === '' ? {} : { uid }), ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }) },
    isUnauthenticated ? unauthenticated : authenticated,
  )
}

/**
 * Returns the user that the impersonation headers name; undefined if these headers have no values.
 *
 * @throws {StatusError} 400 when `Impersonate-User` has no value, but another impersonation header has one.
 */
function wantedUser(headers: NodeJS.Dict<string[]>): WantedUser | undefined {
  const values = (name: string): string[] => (headers[name] ?? []).map(decoded)
  const extra = new Map<string, string[]>()
  for (const header of Object.keys(headers)) {
    const encoded = header.startsWith(extraPrefix) ? header.slice(extraPrefix.length) : undefined
    if (encoded === undefined) continue
    const key = unescaped(encoded)
    extra.set(key, [...(extra.get(key) ?? []), ...values(header)])
  }
  const [username = ''] = values('impersonate-user')
  const [uid = ''] = values('impersonate-uid')
  const groups = values('impersonate-group')
  if (username !== '') return { username, uid, groups, extra }
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
  throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`)
}

const extraPrefix = 'impersonate-extra-'

/** Decodes UTF-8. Node.js returns each byte of a header as one Latin-1 character. */
function decoded(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}

/** Decodes the percent-encoded key of an `Impersonate-Extra-` header. A key with invalid encoding is returned unchanged. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Formats a user for the error message about an impersonation without a user name. The format is that of Go's `%#v`. */
function goUser(uid: string, groups: readonly string[], extra: WantedUser['extra']): string {
  const texts = (values: readonly string[]): string => `[]string{${values.map(quote).join(', ')}}`
  const fields = [...extra].map(([key, values]) => `${quote(key)}:${texts(values)}`).toSorted()
  const printedGroups = groups.length === 0 ? '[]string(nil)' : texts(groups)
  const printedExtra = fields.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${fields.join(', ')}}`
  return `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

/**
 * Returns true when the user has a name, but no uid, no groups and no extra fields. Only such a user can be impersonated in the modes for
 * nodes and ServiceAccounts.
 */
function hasOnlyName({ uid, groups, extra }: WantedUser): boolean {
  return uid === '' && groups.length === 0 && extra.size === 0
}

/** Returns the name of the node that has the given user name. Returns undefined if the user is not a node. */
function nodeOf(username: string): string | undefined {
  const [, name] = /^system:node:(.+)$/s.exec(username) ?? []
  return name !== undefined && dns1123Subdomain(name).length === 0 ? name : undefined
}

/**
 * Returns the namespace and the name of the ServiceAccount that has the given user name. Returns undefined if the user is not a
 * ServiceAccount.
 */
function serviceAccountOf(username: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? []
  if (namespace === undefined || name === undefined) return undefined
  return dns1123Label(namespace).length === 0 && dns1123Subdomain(name).length === 0 ? { namespace, name } : undefined
}

/** Returns the node that the token of a ServiceAccount names; undefined if the token names none. */
function boundNodeOf({ extra }: UserInfo): string | undefined {
  const names = extra?.[boundNodeKey] ?? []
  return names.length === 1 ? names[0] : undefined
}
