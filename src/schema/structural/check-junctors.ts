/**
 * Checks the schemas in `allOf`, `anyOf`, `oneOf` and `not`. In this file, each of these schemas is called a branch. A branch may restrict
 * values, but must not specify structure.
 */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, required } from '../../api/field-error.ts'
import { jsonEqual } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { childPath, keyPath } from '../../api/field-path.ts'
import { patternErrors } from './check-invariants.ts'
import type { SchemaAt } from './subschemas.ts'
import { branchesOf, isSchema, ownProperty } from './subschemas.ts'

const intOrString = [{ type: 'integer' }, { type: 'string' }]

/**
 * The keywords that specify structure. A branch must not have any of these keywords. Each keyword is paired with kube-apiserver's error
 * message for a branch that has the keyword.
 */
const structure: readonly (readonly [keyof StructuralSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

/** Returns the errors of the schemas of allOf, anyOf, oneOf and not. */
export function junctorErrors(schema: StructuralSchema, path: string): FieldError[] {
  const first = schema.allOf?.[0]
  return branchesOf(schema, path).flatMap((branch) => {
    // A branch must not specify a type. kube-apiserver permits one exception: the branches of an `anyOf` may be exactly `type: integer` and
    // `type: string`, in this order. The `anyOf` must be in `schema` itself, or in the first schema of the `allOf` of `schema`.
    if (isIntOrString(schema) && schema.anyOf?.includes(branch.schema) === true) return []
    return branchErrors(branch, first !== undefined && branch.schema === first && isIntOrString(first))
  })
}

function isIntOrString(schema: StructuralSchema): boolean {
  return jsonEqual(schema.anyOf?.map(plain), intOrString)
}

/** Keywords that count as set even when their value is an empty list. */
const countedWhenEmpty: ReadonlySet<string> = new Set(['required', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'])

/**
 * Returns a copy of the schema without these keywords:
 *
 * - keywords whose value counts as unset, such as `nullable: false` or `pattern: ''`
 * - keywords that `JSONSchemaProps` does not have, because kube-apiserver ignores such keywords
 */
function plain(schema: StructuralSchema): StructuralSchema {
  const isSpecified = ([keyword, value]: [string, unknown]): boolean =>
    countedWhenEmpty.has(keyword) || isSet(keyword as keyof StructuralSchema, value)
  return Object.fromEntries(Object.entries(schema).filter((entry) => keywords.has(entry[0]) && isSpecified(entry)))
}

/** All keywords of `JSONSchemaProps`. kube-apiserver ignores all other keywords. */
export const keywords: ReadonlySet<string> = new Set([
  ...structure.map(([keyword]) => keyword),
  ...['format', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems'],
  ...['uniqueItems', 'multipleOf', 'maxProperties', 'minProperties', 'required', 'enum', 'items', 'properties', 'example', 'externalDocs'],
  ...['allOf', 'anyOf', 'oneOf', 'not'],
])

function branchErrors({ schema, path }: SchemaAt, skipAnyOf = false): FieldError[] {
  const errors = structure
    .filter(([keyword]) => isSet(keyword, schema[keyword]))
    .map(([keyword, detail]) => forbidden(childPath(path, keyword), detail))
  errors.push(...patternErrors(schema, path))
  if (isSchema(schema.items)) errors.push(...branchErrors({ schema: schema.items, path: childPath(path, 'items') }))
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const place = keyPath(childPath(path, 'properties'), key)
    if (key === 'metadata') errors.push(forbidden(place, 'must not be specified in a nested context'))
    errors.push(...branchErrors({ schema: child, path: place }))
  }
  for (const nested of branchesOf(schema, path)) {
    if (!(skipAnyOf && schema.anyOf?.includes(nested.schema) === true)) errors.push(...branchErrors(nested))
  }
  return errors
}

function isSet(keyword: keyof StructuralSchema, value: unknown): boolean {
  // `default` counts as set even if its value is empty. Other keywords with an empty value count as unset.
  if (value === undefined || value === null) return false
  return keyword === 'default' || !(value === false || value === '' || (Array.isArray(value) && value.length === 0))
}

/**
 * Checks the branches of the root schema: the schemas in its `allOf`, `anyOf`, `oneOf` and `not`. If a branch specifies a field, the root
 * schema must also specify this field outside its branches (`validateStructuralCompleteness`). The branches of schemas below the root, such
 * as the schemas in `properties`, are not checked.
 */
export function completenessErrors(schema: StructuralSchema, path: string): FieldError[] {
  return branchesOf(schema, path).flatMap((branch) => branchCompleteness(branch, schema, path))
}

function branchCompleteness(branch: SchemaAt, outside: StructuralSchema | undefined, path: string): FieldError[] {
  if (outside === undefined) return [required(path, `because it is defined in ${branch.path}`)]
  const { items, properties } = branch.schema
  const errors = branchesOf(branch.schema, branch.path).flatMap((nested) => branchCompleteness(nested, outside, path))
  if (isSchema(items)) {
    errors.push(...branchCompleteness({ schema: items, path: childPath(branch.path, 'items') }, outside.items, childPath(path, 'items')))
  }
  for (const [key, child] of Object.entries(properties ?? {})) {
    const nested = { schema: child, path: keyPath(childPath(branch.path, 'properties'), key) }
    errors.push(...branchCompleteness(nested, ownProperty(outside, key), keyPath(childPath(path, 'properties'), key)))
  }
  return errors
}
