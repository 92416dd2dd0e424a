/** The built-in types Role, ClusterRole, RoleBinding and ClusterRoleBinding. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import { dns1123Subdomain } from '../../../api/name-syntax.ts'
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, createdAtColumn, nameColumn, textColumn } from '../columns.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { Column } from '../../rest/column.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { invalidStruct, objects } from './field-checks.ts'

const group = 'rbac.authorization.k8s.io'

/** Validates the name of a Role or ClusterRole. The name can be any path segment, e.g. `system:node`. */
function pathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}

function role(kind: string, plural: string, namespaced: boolean): ResourceInfo {
  return builtinResource({
    group,
    kind,
    plural,
    namespaced,
    columns: [nameColumn, createdAtColumn],
    strategy: { name: pathSegment, validate: (object) => validateRole(object, namespaced) },
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
      ...subjectKinds.map(subjects),
    ],
    strategy: { name: pathSegment, default: defaultBinding, validate: (object, old) => validateBinding(object, old, namespaced) },
  }
  return builtinResource(definition)
}

const subjectKinds = ['User', 'Group', 'ServiceAccount']

/** Returns a table column with the names of the binding's subjects of kind `kind`. */
function subjects(kind: string): Column {
  const names = (object: JsonObject): string[] =>
    listAt(object, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) =>
        kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}` : textAt(subject, 'name'),
      )
  return textColumn(`${kind}s`, (object) => names(object).join(', '), 1)
}

function defaultBinding(binding: JsonObject): JsonObject {
  const referring = changeObjectField(binding, 'roleRef', (reference) => ({ ...reference, apiGroup: reference.apiGroup || group }))
  return changeItems(referring, 'subjects', (subject) =>
    subject.kind === 'User' || subject.kind === 'Group' ? withDefaults(subject, { apiGroup: group }) : subject,
  )
}

function validateRole(object: JsonObject, namespaced: boolean): FieldError[] {
  return objects(listAt(object, 'rules')).flatMap(([rule, index]) => {
    const here = `rules[${index}]`
    const errors = listAt(rule, 'verbs').length === 0 ? [required(`${here}.verbs`, 'verbs must contain at least one value')] : []
    const given = (field: string): boolean => listAt(rule, field).length > 0
    if (given('nonResourceURLs')) {
      const refuse = (detail: string): number => errors.push(invalid(`${here}.nonResourceURLs`, rule.nonResourceURLs, detail))
      if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs')
      if (['apiGroups', 'resources', 'resourceNames'].some(given))
        refuse('rules cannot apply to both regular resources and non-resource URLs')
      return errors
    }
    if (!given('apiGroups')) errors.push(required(`${here}.apiGroups`, 'resource rules must supply at least one api group'))
    if (!given('resources')) errors.push(required(`${here}.resources`, 'resource rules must supply at least one resource'))
    return errors
  })
}

function validateBinding(object: JsonObject, old: JsonObject | undefined, namespaced: boolean): FieldError[] {
  const { roleRef } = object
  const errors: FieldError[] = []
  const [apiGroup, kind, name] = [textAt(roleRef, 'apiGroup'), textAt(roleRef, 'kind'), textAt(roleRef, 'name')]
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (apiGroup !== group) errors.push(notSupported('roleRef.apiGroup', apiGroup, [group]))
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, kinds))
  if (name === '') errors.push(required('roleRef.name'))
  else errors.push(...pathSegment(name).map((detail) => invalid('roleRef.name', name, detail)))
  for (const [subject, index] of objects(listAt(object, 'subjects')))
    errors.push(...validateSubject(subject, `subjects[${index}]`, namespaced))
  if (old !== undefined && !jsonEqual(roleRef, old.roleRef))
    errors.push(invalidStruct('roleRef', roleRef, ['apiGroup', 'kind', 'name'], 'cannot change roleRef'))
  return errors
}

function validateSubject(subject: JsonObject, path: string, namespaced: boolean): FieldError[] {
  const [kind, name, apiGroup] = [textAt(subject, 'kind'), textAt(subject, 'name'), textAt(subject, 'apiGroup')]
  const errors = name === '' ? [required(`${path}.name`)] : []
  if (kind === 'ServiceAccount') {
    errors.push(...(name === '' ? [] : dns1123Subdomain(name).map((detail) => invalid(`${path}.name`, name, detail))))
    if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']))
    if (!namespaced && textAt(subject, 'namespace') === '') errors.push(required(`${path}.namespace`))
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [group]))
  } else errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  return errors
}

export const accessResources: readonly ResourceInfo[] = [
  role('Role', 'roles', true),
  role('ClusterRole', 'clusterroles', false),
  binding('RoleBinding', 'rolebindings', true),
  binding('ClusterRoleBinding', 'clusterrolebindings', false),
]
