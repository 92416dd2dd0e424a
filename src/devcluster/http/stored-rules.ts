/** What the stored Roles and ClusterRoles allow to whom, by their bindings. */
import type { JsonObject } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { followType } from '../follow.ts'
import { at, listAt, textAt } from '../resources/columns.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { serviceAccountName } from './authenticate.ts'
import type { Grant } from './authorizer.ts'

const group = 'rbac.authorization.k8s.io'
const bindings = ['clusterrolebindings', 'rolebindings']
const types = [...bindings, 'clusterroles', 'roles']

/** The grants of a store, as they are when it is called: the same array until one of the objects changes. */
export function storedRules(store: ObjectStore): () => readonly Grant[] {
  let known: readonly Grant[] | undefined
  for (const type of types) followType(store, `${group}/${type}`, () => (known = undefined))
  return () => (known ??= bindings.flatMap((type) => grantsOf(store, `${group}/${type}`)))
}

function grantsOf(store: ObjectStore, storageKey: string): Grant[] {
  const { keys, get } = store.snapshot(storageKey)
  return keys.flatMap((key) => {
    const binding = get(key)!
    const namespace = textAt(binding, 'metadata', 'namespace')
    const rules = rulesOf(store, binding, namespace)
    return listAt(binding, 'subjects').flatMap((subject): Grant[] => {
      const to = isObject(subject) ? subjectOf(subject) : undefined
      return to === undefined ? [] : [{ ...to, ...(namespace === '' ? {} : { namespace }), rules }]
    })
  })
}

function subjectOf(subject: JsonObject): Pick<Grant, 'user' | 'group'> | undefined {
  const name = textAt(subject, 'name')
  switch (subject.kind) {
    case 'User':
      return { user: name }
    case 'Group':
      return { group: name }
    case 'ServiceAccount':
      return { user: serviceAccountName(textAt(subject, 'namespace'), name) }
    default:
      return undefined
  }
}

function rulesOf(store: ObjectStore, binding: JsonObject, namespace: string): readonly PolicyRule[] {
  const name = textAt(binding, 'roleRef', 'name')
  const role =
    textAt(binding, 'roleRef', 'kind') === 'Role'
      ? store.get(`${group}/roles`, { namespace, name })
      : store.get(`${group}/clusterroles`, { name })
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
