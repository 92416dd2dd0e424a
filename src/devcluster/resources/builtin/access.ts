/** Roles and their bindings. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, listAt, nameColumn, textAt, textColumn } from '../columns.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { objects } from './container-validation.ts'

const group = 'rbac.authorization.k8s.io'

/** Names of roles may be anything that fits into a path: `system:node`. */
function pathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}

const createdAt = textColumn('Created At', (object) => textAt(object, 'metadata', 'creationTimestamp'))

function role(kind: string, plural: string, namespaced: boolean): ResourceInfo {
  return builtinResource({
    group,
    kind,
    plural,
    namespaced,
    columns: [nameColumn, { ...createdAt, type: 'date' }],
    strategy: { name: pathSegment, validate: validateRole },
  })
}

function binding(kind: string, plural: string, namespaced: boolean): ResourceInfo {
  const definition: BuiltinDefinition = {
    group,
    kind,
    plural,
    namespaced,
    columns: [
      nameColumn,
      textColumn('Role', (object) => `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`),
      ageColumn,
    ],
    strategy: { name: pathSegment, validate: validateBinding },
  }
  return builtinResource(definition)
}

function validateRole(object: JsonObject): FieldError[] {
  return objects(listAt(object, 'rules')).flatMap(([rule, index]) => {
    const here = `rules[${index}]`
    if (listAt(rule, 'verbs').length === 0) return [required(`${here}.verbs`, 'verbs must contain at least one value')]
    if (listAt(rule, 'nonResourceURLs').length > 0) return []
    return [
      ...(listAt(rule, 'apiGroups').length === 0
        ? [required(`${here}.apiGroups`, 'resource rules must supply at least one api group')]
        : []),
      ...(listAt(rule, 'resources').length === 0
        ? [required(`${here}.resources`, 'resource rules must supply at least one resource')]
        : []),
    ]
  })
}

function validateBinding(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (old !== undefined && !jsonEqual(object.roleRef, old.roleRef))
    return [invalid('roleRef', object.roleRef ?? {}, 'cannot change roleRef')]
  return textAt(object, 'roleRef', 'name') === '' ? [required('roleRef.name')] : []
}

export const accessResources: readonly ResourceInfo[] = [
  role('Role', 'roles', true),
  role('ClusterRole', 'clusterroles', false),
  binding('RoleBinding', 'rolebindings', true),
  binding('ClusterRoleBinding', 'clusterrolebindings', false),
]
