/**
 * Authorization checks: `authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()`
 * (`k8s.io/apiserver/pkg/cel/library: authz.go`).
 */
import { dns1123Label, dns1123Subdomain } from '../../api/name-syntax.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError, noSuchOverload } from '../types/errors.ts'
import { OpaqueValue } from '../types/values.ts'

/** The user whose access is checked. */
export interface Subject {
  readonly username: string
  readonly groups: readonly string[]
}

/** The attributes of an authorization check. `path` is set for a non-resource request. */
export interface AccessAttributes {
  readonly user: Subject
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path?: string
}

/** Decides whether a request with these attributes is allowed. */
export type Decide = (attributes: AccessAttributes) => { readonly allowed: boolean; readonly reason: string }

const prefix = 'kubernetes.authorization'

/**
 * Base class of the authorizer, the checks and the decisions. Expressions can call member functions of these values. Expressions cannot
 * compare these values.
 */
abstract class Receiver extends OpaqueValue {
  equals(): boolean {
    throw noSuchOverload()
  }
}

/** The value of the variable `authorizer`, which checks the access of one user. */
export class AuthorizerValue extends Receiver {
  readonly typeName = `${prefix}.Authorizer`
  readonly user: Subject
  readonly decide: Decide
  constructor(user: Subject, decide: Decide) {
    super()
    this.user = user
    this.decide = decide
  }
}

class PathCheck extends Receiver {
  readonly typeName = `${prefix}.PathCheck`
  readonly authorizer: AuthorizerValue
  readonly path: string
  constructor(authorizer: AuthorizerValue, path: string) {
    super()
    this.authorizer = authorizer
    this.path = path
  }
}

class GroupCheck extends Receiver {
  readonly typeName = `${prefix}.GroupCheck`
  readonly authorizer: AuthorizerValue
  readonly group: string
  constructor(authorizer: AuthorizerValue, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }
}

type Target = Omit<AccessAttributes, 'user' | 'verb' | 'path'>

/** An authorization check of a resource, such as the value of the variable `authorizer.requestResource`. */
export class ResourceCheck extends Receiver {
  readonly typeName = `${prefix}.ResourceCheck`
  readonly authorizer: AuthorizerValue
  readonly target: Target
  constructor(authorizer: AuthorizerValue, target: Target) {
    super()
    this.authorizer = authorizer
    this.target = target
  }
}

class Decision extends Receiver {
  readonly typeName = `${prefix}.Decision`
  readonly allowed: boolean
  readonly reason: string
  constructor({ allowed, reason }: ReturnType<Decide>) {
    super()
    this.allowed = allowed
    this.reason = reason
  }
}

function pathOf(authorizer: AuthorizerValue, path: string): PathCheck {
  if (path.trim() === '') throw new CelError('path must not be empty')
  return new PathCheck(authorizer, path)
}

function resourceOf({ authorizer, group }: GroupCheck, resource: string): ResourceCheck {
  if (resource.trim() === '') throw new CelError('resource must not be empty')
  return new ResourceCheck(authorizer, { group, resource, subresource: '', namespace: '', name: '' })
}

function serviceAccountOf({ decide }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dns1123Subdomain(name).length > 0) throw new CelError('Invalid service account name')
  if (dns1123Label(namespace).length > 0) throw new CelError('Invalid service account namespace')
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return new AuthorizerValue({ username: `system:serviceaccount:${namespace}:${name}`, groups }, decide)
}

function narrowed(field: 'subresource' | 'namespace' | 'name'): (check: ResourceCheck, value: string) => ResourceCheck {
  return ({ authorizer, target }, value) => new ResourceCheck(authorizer, { ...target, [field]: value })
}

/** Ignores the label or field selector, because RBAC ignores selectors. */
function unchanged(check: ResourceCheck): ResourceCheck {
  return check
}

const noResource: Target = { group: '', resource: '', subresource: '', namespace: '', name: '' }
const [authorizer, pathCheck, groupCheck, resourceCheck, decision] = [
  'Authorizer',
  'PathCheck',
  'GroupCheck',
  'ResourceCheck',
  'Decision',
].map((name) => `${prefix}.${name}`)

export const authorization: readonly Overload[] = [
  define(`${authorizer}::path(string) -> ${pathCheck}`, 'authorizer_path', pathOf),
  define(
    `${authorizer}::group(string) -> ${groupCheck}`,
    'authorizer_group',
    (value: AuthorizerValue, group: string) => new GroupCheck(value, group),
  ),
  define(`${authorizer}::serviceAccount(string, string) -> ${authorizer}`, 'authorizer_serviceaccount', serviceAccountOf),
  define(`${groupCheck}::resource(string) -> ${resourceCheck}`, 'groupcheck_resource', resourceOf),
  define(`${resourceCheck}::subresource(string) -> ${resourceCheck}`, 'resourcecheck_subresource', narrowed('subresource')),
  define(`${resourceCheck}::namespace(string) -> ${resourceCheck}`, 'resourcecheck_namespace', narrowed('namespace')),
  define(`${resourceCheck}::name(string) -> ${resourceCheck}`, 'resourcecheck_name', narrowed('name')),
  define(`${resourceCheck}::fieldSelector(string) -> ${resourceCheck}`, 'authorizer_fieldselector', unchanged),
  define(`${resourceCheck}::labelSelector(string) -> ${resourceCheck}`, 'authorizer_labelselector', unchanged),
  define(
    `${pathCheck}::check(string) -> ${decision}`,
    'pathcheck_check',
    ({ authorizer: { user, decide }, path }: PathCheck, verb: string) => new Decision(decide({ user, verb, ...noResource, path })),
  ),
  define(
    `${resourceCheck}::check(string) -> ${decision}`,
    'resourcecheck_check',
    ({ authorizer: { user, decide }, target }: ResourceCheck, verb: string) => new Decision(decide({ user, verb, ...target })),
  ),
  define(`${decision}::allowed() -> bool`, 'decision_allowed', ({ allowed }: Decision) => allowed),
  define(`${decision}::reason() -> string`, 'decision_reason', ({ reason }: Decision) => reason),
  // A decision of RBAC never has an error.
  define(`${decision}::errored() -> bool`, 'decision_errored', () => false),
  define(`${decision}::error() -> string`, 'decision_error', () => ''),
]
