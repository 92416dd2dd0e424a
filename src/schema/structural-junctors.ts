/** allOf, anyOf, oneOf and not: they may say what values are valid, but nothing about what the object is made of. */
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid, required } from '../api/field-error.ts'
import { jsonEqual } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath, indexPath, keyPath } from './path.ts'
import { patternProblem } from './patterns.ts'

const intOrString = [{ type: 'integer' }, { type: 'string' }]

/** Keywords that describe structure, with the API server's words for where they may not stand. */
const structure: readonly (readonly [keyof StructuralSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

interface Branch {
  readonly schema: StructuralSchema
  readonly path: string
}

/** Schemas are read from files: whatever their type says, anything may stand there. */
export function isSchema(schema: unknown): schema is StructuralSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}

/** What is wrong with the junctors of a schema. */
export function junctorErrors(schema: StructuralSchema, path: string): FieldError[] {
  const first = schema.allOf?.[0]
  return branchesOf(schema, path).flatMap((branch) => {
    // Two ways to write int-or-string: anyOf itself, and anyOf in the first of allOf.
    if (isIntOrString(schema) && schema.anyOf?.includes(branch.schema) === true) return []
    const inFirst = branch.schema === first && isIntOrString(first)
    return [...branchErrors(branch, inFirst), ...completenessErrors(branch, schema, path)]
  })
}

function isIntOrString(schema: StructuralSchema): boolean {
  return jsonEqual(schema.anyOf, intOrString)
}

function branchesOf(schema: StructuralSchema, path: string): Branch[] {
  const several = (keyword: 'allOf' | 'anyOf' | 'oneOf'): Branch[] =>
    (schema[keyword] ?? []).map((branch, index) => ({ schema: branch, path: indexPath(childPath(path, keyword), index) }))
  const not = schema.not === undefined ? [] : [{ schema: schema.not, path: childPath(path, 'not') }]
  return [...several('anyOf'), ...several('allOf'), ...several('oneOf'), ...not]
}

function branchErrors({ schema, path }: Branch, skipAnyOf = false): FieldError[] {
  if (!isSchema(schema)) return [invalid(path, schema, 'must be a schema')]
  const isSet = (keyword: keyof StructuralSchema): boolean => {
    const value: unknown = schema[keyword]
    return value !== undefined && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0)
  }
  const problem = schema.pattern === undefined ? undefined : patternProblem(schema.pattern)
  const errors = structure.filter(([keyword]) => isSet(keyword)).map(([keyword, detail]) => forbidden(childPath(path, keyword), detail))
  if (problem !== undefined)
    errors.push(invalid(childPath(path, 'pattern'), schema.pattern, `must be a valid regular expression, but isn't: ${problem}`))
  if (schema.uniqueItems === true) {
    errors.push(
      forbidden(childPath(path, 'uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'),
    )
  }
  if (schema.items !== undefined) errors.push(...branchErrors({ schema: schema.items, path: childPath(path, 'items') }))
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

/** Each field that a branch speaks of must be specified outside of it, too. */
function completenessErrors(branch: Branch, outside: StructuralSchema | undefined, path: string): FieldError[] {
  if (!isSchema(branch.schema)) return []
  if (outside === undefined) return [required(path, `because it is defined in ${branch.path}`)]
  const { items, properties } = branch.schema
  const errors = branchesOf(branch.schema, branch.path).flatMap((nested) => completenessErrors(nested, outside, path))
  if (items !== undefined)
    errors.push(...completenessErrors({ schema: items, path: childPath(branch.path, 'items') }, outside.items, childPath(path, 'items')))
  for (const [key, child] of Object.entries(properties ?? {})) {
    const nested = { schema: child, path: keyPath(childPath(branch.path, 'properties'), key) }
    const counterpart = Object.hasOwn(outside.properties ?? {}, key) ? outside.properties?.[key] : undefined
    errors.push(...completenessErrors(nested, counterpart, keyPath(childPath(path, 'properties'), key)))
  }
  return errors
}
