/**
 * Rejects Roles and bindings with which a user would grant rights that the user does not have
 * (k8s.io/kubernetes/pkg/registry/rbac: policybased).
 */
import { quote } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import type { PolicyRule } from '../../../api/policy-rule.ts'
import { masters } from '../../access/authorizer.ts'
import { countRights, missingRights, quoteList } from '../../access/rule-coverage.ts'
import { rulesOfObject, rulesOfRole } from '../../access/stored-rules.ts'
import type { UserInfo } from '../../apimachinery/request-context.ts'
import { bareError, forbidden, notFound } from '../../apimachinery/status-error.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { Environment } from '../environment.ts'
import { metadataOf, metadataText, withMetadata } from '../metadata.ts'

/** A write of a Role, ClusterRole, RoleBinding or ClusterRoleBinding. */
export interface GrantingWrite {
  readonly user: UserInfo
  readonly namespace: string
  /** The name in the URL; empty for a POST. */
  readonly name: string
  /** The object after mutating admission. */
  readonly object: JsonObject
  readonly old: JsonObject | undefined
}

const group = 'rbac.authorization.k8s.io'
const anything: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { apiGroups: [], resources: [], nonResourceURLs: ['*'], verbs: ['*'] },
]

/**
 * Maximum number of rights that the rules of one Role or ClusterRole may grant. A rule grants one right for each combination of its groups,
 * resources, resource names and verbs, and for each combination of its URLs and verbs. For comparison, the default ClusterRoles `admin` and
 * `edit` grant a few hundred rights each.
 */
const maxRights = 50_000

/**
 * Rejects a write of a Role or a binding that grants rights that the user lacks in the namespace. Accepts all writes of other types. A user
 * may grant further rights in the following cases:
 *
 * - The user has the verb `escalate` on the Role that is written.
 * - The user has the verb `bind` on the Role of the binding.
 * - The user is a member of `system:masters`.
 * - The write changes only owner references and finalizers.
 *
 * @throws {StatusError} 403 with the missing rights, or 404 when the role of a binding does not exist.
 */
export function refuseEscalation(environment: Environment, info: ResourceInfo, write: GrantingWrite): void {
  if (info.custom || info.group !== group || write.user.groups.includes(masters)) return
  if (info.plural.endsWith('bindings')) checkBinding(environment, info, write)
  else checkRole(environment, info, write)
}

function checkRole(environment: Environment, info: ResourceInfo, write: GrantingWrite): void {
  const { object, old, name } = write
  if (isAllowed(environment, write, 'escalate', info.plural, name) || changesOnlyDependencies(object, old)) return
  requireRights(environment, info, write, rulesOfObject(object))
  if (!aggregates(object) && !aggregates(old)) return
  // A ClusterRole with an aggregationRule gets the rights of other ClusterRoles. The other ClusterRoles may be created later, and may
  // contain any rights. The user must therefore already have all rights.
  if (missingRights(heldBy(environment, write).rules, anything).length > 0)
    throw forbidden(info, metadataText(object, 'name'), 'must have cluster-admin privileges to use the aggregationRule')
}

function checkBinding(environment: Environment, info: ResourceInfo, write: GrantingWrite): void {
  const { object, old, namespace } = write
  if (changesOnlyDependencies(object, old)) return
  const kind = textAt(object, 'roleRef', 'kind')
  const name = textAt(object, 'roleRef', 'name')
  if (kind !== 'Role' && kind !== 'ClusterRole') throw bareError(`unsupported role reference kind: ${quote(kind)}`)
  const plural = kind === 'Role' ? 'roles' : 'clusterroles'
  if (isAllowed(environment, write, 'bind', plural, name)) return
  const rules = rulesOfRole(environment.store, { kind, name }, namespace)
  // The role does not exist. As in kube-apiserver, the error message contains the name of the role after the resource of the binding, e.g.
  // `rolebindings.rbac.authorization.k8s.io "none" not found` if the role `none` does not exist.
  if (rules === undefined) throw notFound(info, name)
  requireRights(environment, info, write, rules)
}

function isAllowed({ authorizer }: Environment, write: GrantingWrite, verb: string, resource: string, name: string): boolean {
  const { user, namespace } = write
  return authorizer.authorize({ user, verb, group, version: '*', resource, subresource: '', namespace, name }).allowed
}

/** Returns the rules that the user has in the namespace, and the problems of the user's bindings. */
function heldBy({ authorizer }: Environment, { user, namespace }: GrantingWrite): { rules: readonly PolicyRule[]; error: string } {
  return authorizer.rulesOf?.(user, namespace) ?? { rules: [], error: '' }
}

function requireRights(environment: Environment, info: ResourceInfo, write: GrantingWrite, rules: readonly PolicyRule[]): void {
  const { user, object } = write
  const refuse = (why: string): Error => forbidden(info, metadataText(object, 'name'), why)
  // kube-apiserver has no such limit. The limit is necessary, because `missingRights` examines each right separately. A rule with one API
  // group, 50,000 resources and 50,000 verbs would grant 2.5 billion rights.
  if (countRights(rules) > maxRights) throw refuse(`the rules grant more than ${maxRights} rights`)
  const held = heldBy(environment, write)
  const rights = missingRights(held.rules, rules)
  if (rights.length === 0) return
  const who = `user ${quote(user.username)} (groups=${quoteList(user.groups)})`
  const suffix = held.error === '' ? '' : `; resolution errors: [${held.error}]`
  throw refuse(`${who} is attempting to grant RBAC permissions not currently held:\n${rights.join('\n')}${suffix}`)
}

function aggregates(role: JsonObject | undefined): boolean {
  return role !== undefined && listAt(role, 'aggregationRule', 'clusterRoleSelectors').length > 0
}

/**
 * Reports whether the write changes no fields other than the owner references and the finalizers. The garbage collector must be able to
 * change them without further rights.
 */
function changesOnlyDependencies(object: JsonObject, old: JsonObject | undefined): boolean {
  if (old === undefined) return false
  const { ownerReferences, finalizers, managedFields } = metadataOf(old)
  return jsonEqual(withMetadata(object, { ownerReferences, finalizers, managedFields }), old)
}
