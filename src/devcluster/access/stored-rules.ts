/** Reads RBAC rules from the stored Roles, ClusterRoles, RoleBindings and ClusterRoleBindings. */
import { quote } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { LabelSelector, Labels } from '../../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../../api/label-selector.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { watchType } from '../storage/watch-type.ts'
import { at, listAt, textAt } from '../apimachinery/unstructured.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { serviceAccountName } from './authenticate.ts'
import type { Grant } from './authorizer.ts'

const group = 'rbac.authorization.k8s.io'
const bindings = ['clusterrolebindings', 'rolebindings']
const types = [...bindings, 'clusterroles', 'roles']

/**
 * Returns a function that returns the grants of all stored bindings. The grants are cached until a Role, ClusterRole or binding changes.
 */
export function storedRules(store: ObjectStore): () => readonly Grant[] {
  let known: readonly Grant[] | undefined
  for (const type of types) watchType(store, `${group}/${type}`, () => (known = undefined))
  return () => (known ??= bindings.flatMap((type) => grantsOf(store, `${group}/${type}`)))
}

function grantsOf(store: ObjectStore, storageKey: string): Grant[] {
  const { keys, get } = store.snapshot(storageKey)
  return keys.flatMap((key) => {
    const binding = get(key)!
    const namespace = textAt(binding, 'metadata', 'namespace')
    const role = roleOf(store, binding, namespace)
    return listAt(binding, 'subjects').flatMap((subject): Grant[] => {
      const to = isObject(subject) ? subjectOf(subject, namespace) : undefined
      if (to === undefined) return []
      const { description, ...who } = to
      return [{ ...who, ...(namespace === '' ? {} : { namespace }), ...role, source: `${describe(binding, namespace)} to ${description}` }]
    })
  })
}

/**
 * Formats a binding for the `reason` of an allowed request. The name of a RoleBinding is formatted as `NAME/NAMESPACE`
 * (k8s.io/kubernetes/pkg/registry/rbac/validation: rule.go).
 */
function describe(binding: JsonObject, namespace: string): string {
  const name = textAt(binding, 'metadata', 'name')
  const itself = namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`
  return `${itself} of ${textAt(binding, 'roleRef', 'kind')} ${quote(textAt(binding, 'roleRef', 'name'))}`
}

function subjectOf(subject: JsonObject, bindingNamespace: string): (Pick<Grant, 'user' | 'group'> & { description: string }) | undefined {
  const name = textAt(subject, 'name')
  const kind = textAt(subject, 'kind')
  switch (kind) {
    case 'User':
      return { user: name, description: `${kind} ${quote(name)}` }
    case 'Group':
      return { group: name, description: `${kind} ${quote(name)}` }
    case 'ServiceAccount': {
      const namespace = textAt(subject, 'namespace') || bindingNamespace
      return { user: serviceAccountName(namespace, name), description: `${kind} ${quote(`${name}/${namespace}`)}` }
    }
    default:
      return undefined
  }
}

function roleOf(store: ObjectStore, binding: JsonObject, namespace: string): Pick<Grant, 'rules' | 'problem'> {
  const name = textAt(binding, 'roleRef', 'name')
  const kind = textAt(binding, 'roleRef', 'kind') === 'Role' ? 'Role' : 'ClusterRole'
  const rules = rulesOfRole(store, { kind, name }, namespace)
  return rules === undefined ? { rules: [], problem: `${kind.toLowerCase()}.${group} ${quote(name)} not found` } : { rules }
}

/** Returns the rules of a stored Role of the namespace, or of a stored ClusterRole; undefined if the role does not exist. */
export function rulesOfRole(
  store: ObjectStore,
  { kind, name }: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string },
  namespace: string,
): readonly PolicyRule[] | undefined {
  const isRole = kind === 'Role'
  const role = isRole ? store.get(`${group}/roles`, { namespace, name }) : store.get(`${group}/clusterroles`, { name })
  if (role === undefined) return undefined
  return isRole ? rulesOfObject(role) : rulesOf(store, role, new Set([role]))
}

/**
 * Returns the rules of a ClusterRole. An aggregated ClusterRole has the rules of all ClusterRoles that its selectors match. A matched
 * ClusterRole can itself be aggregated. `seen` contains the ClusterRoles that have been visited, so each ClusterRole is visited only once.
 */
function rulesOf(store: ObjectStore, role: JsonObject, seen: Set<JsonObject>): PolicyRule[] {
  const selectors = listAt(role, 'aggregationRule', 'clusterRoleSelectors').map((selector) => requirementsOf(selector as LabelSelector))
  if (selectors.length === 0) return rulesOfObject(role)
  const { keys, get } = store.snapshot(`${group}/clusterroles`)
  return keys.flatMap((key) => {
    const other = get(key)!
    const labels = (at(other, 'metadata', 'labels') ?? {}) as Labels
    if (seen.has(other) || !selectors.some((selector) => matchesLabels(selector, labels))) return []
    seen.add(other)
    return rulesOf(store, other, seen)
  })
}

/** Returns the field `rules` of a Role or ClusterRole. */
export function rulesOfObject(role: JsonObject): PolicyRule[] {
  return listAt(role, 'rules').flatMap((rule) => (isObject(rule) ? [policyRule(rule)] : []))
}

function policyRule(rule: JsonObject): PolicyRule {
  const texts = (field: string): string[] => listAt(rule, field).filter((item) => typeof item === 'string')
  return {
    apiGroups: texts('apiGroups'),
    resources: texts('resources'),
    verbs: texts('verbs'),
    ...(getOwn(rule, 'resourceNames') === undefined ? {} : { resourceNames: texts('resourceNames') }),
    ...(at(rule, 'nonResourceURLs') === undefined ? {} : { nonResourceURLs: texts('nonResourceURLs') }),
  }
}
