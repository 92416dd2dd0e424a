/**
 * Checks requirements of a structural schema (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema: validation.go`). Each schema must
 * specify a type. The schemas in `allOf`, `anyOf`, `oneOf` and `not` must contain only value validations.
 */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, required } from '../../api/field-error.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { childPath, keyPath } from '../../api/field-path.ts'
import { patternProblem } from '../../formats/patterns.ts'
import { junctorErrors, keywords } from './check-junctors.ts'
import { isSchema, ownProperty } from './subschemas.ts'

type Level = 'root' | 'items' | 'field'

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

export function invariantErrors(schema: StructuralSchema, path: string, level: Level = 'root'): FieldError[] {
  return [
    ...childErrors(schema, path, level),
    ...extensionErrors(schema, path),
    ...patternErrors(schema, path),
    ...junctorErrors(schema, path),
    ...typeErrors(schema, path, level),
    ...embeddedErrors(schema, path),
    ...metadataErrors(schema, path, level),
  ]
}

function childErrors({ type, items, additionalProperties, properties }: StructuralSchema, path: string, level: Level): FieldError[] {
  const errors: FieldError[] = []
  if (isSchema(items)) errors.push(...invariantErrors(items, childPath(path, 'items'), 'items'))
  else if (type === 'array') errors.push(required(childPath(path, 'items'), 'must be specified'))
  for (const [key, child] of Object.entries(properties ?? {})) {
    errors.push(...invariantErrors(child, keyPath(childPath(path, 'properties'), key), 'field'))
  }
  const place = childPath(path, 'additionalProperties')
  if (additionalProperties !== undefined && additionalProperties !== null && level === 'root') {
    errors.push(forbidden(place, 'must not be used at the root'))
  }
  if (isSchema(additionalProperties)) errors.push(...invariantErrors(additionalProperties, place, 'field'))
  return errors
}

function extensionErrors(schema: StructuralSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return []
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((keyword) => schema[keyword] === true)
    .map((keyword) => invalid(childPath(path, keyword), true, 'must be false if x-kubernetes-int-or-string is true'))
}

export function patternErrors({ pattern }: StructuralSchema, path: string): FieldError[] {
  const problem = pattern ? patternProblem(pattern) : undefined
  return problem === undefined
    ? []
    : [invalid(childPath(path, 'pattern'), pattern, `must be a valid regular expression, but isn't: ${problem}`)]
}

function typeErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  const { type } = schema
  const place = childPath(path, 'type')
  if (schema['x-kubernetes-embedded-resource'] === true) {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    if (!type) return [required(place, detail)]
    if (type !== 'object') return [invalid(place, type, detail), ...rootTypeErrors(type, place, level)]
    return []
  }
  if (type) return rootTypeErrors(type, place, level)
  const untyped = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  return untyped ? [] : [required(place, missingType[level])]
}

function rootTypeErrors(type: string, place: string, level: Level): FieldError[] {
  return level === 'root' && type !== 'object' ? [invalid(place, type, 'must be object at the root')] : []
}

function embeddedErrors(schema: StructuralSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-embedded-resource'] !== true) return []
  const errors: FieldError[] = []
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== null) {
    errors.push(forbidden(childPath(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] !== true && Object.keys(schema.properties ?? {}).length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(childPath(path, 'properties'), detail))
  }
  return errors
}

/** Keywords that count as set even when they are empty, because in Go, an empty slice or struct differs from nil. */
const countedWhenEmpty = ['additionalProperties', 'required', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations']

/** Returns true when the value of a keyword differs from Go's zero value. */
function isNonZero(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0)
}

/**
 * Checks the schemas of apiVersion, kind and metadata. Their types are fixed. At the root, the schema of metadata may only restrict name
 * and generateName, because Kubernetes specifies all other metadata implicitly.
 */
function metadataErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  if (level !== 'root' && schema['x-kubernetes-embedded-resource'] !== true) return []
  const errors: FieldError[] = []
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const child = ownProperty(schema, name)
    const place = keyPath(childPath(path, 'properties'), name)
    if (child !== undefined && child.type !== type) errors.push(invalid(childPath(place, 'type'), child.type ?? '', `must be ${type}`))
  }
  const metadata = ownProperty(schema, 'metadata')
  if (metadata === undefined || level !== 'root') return errors
  const { type: _, default: __, properties = {}, ...rest } = metadata
  const specifiesMore = Object.entries(rest).some(
    ([keyword, value]) => keywords.has(keyword) && (countedWhenEmpty.includes(keyword) || isNonZero(value)),
  )
  if (specifiesMore || Object.keys(properties).some((name) => name !== 'name' && name !== 'generateName')) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(keyPath(childPath(path, 'properties'), 'metadata'), detail))
  }
  return errors
}
