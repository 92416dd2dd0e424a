/** Defaults in a schema must be valid themselves (apiextensions `schema/defaulting`). Those of a map's values are not looked at. */
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { jsonEqual, setOwn } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { compileRules, objectBudget } from './cel/rules.ts'
import { coerceResources } from './coerce.ts'
import { explain } from './explain.ts'
import type { SchemaNode } from './node.ts'
import { buildNode } from './node.ts'
import { childPath, keyPath, noField } from './path.ts'
import { prune } from './prune.ts'
import { isSchema } from './structural-parts.ts'

/** Where a default is: in which whole object, and how that looks with a value in this place. */
interface Surroundings {
  readonly root: StructuralSchema
  readonly around: (value: JsonValue) => JsonValue
  /** Below apiVersion, kind or metadata. */
  readonly insideMeta: boolean
  /** What the rules of all defaults together may still cost; when it is spent, no other default is looked at. */
  readonly budget: { left: number }
}

export function defaultErrors(root: StructuralSchema, path: string): FieldError[] {
  const resource: StructuralSchema = { ...root, 'x-kubernetes-embedded-resource': true }
  return errorsBelow(resource, path, { root: resource, around: (value) => value, insideMeta: false, budget: { left: objectBudget } })
}

function errorsBelow(schema: StructuralSchema, path: string, outer: Surroundings): FieldError[] {
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const at: Surroundings = isResource ? { ...outer, root: schema, around: (value) => value, insideMeta: false } : outer
  const { properties = {}, items } = schema
  const value = schema.default ?? undefined
  const errors = value === undefined ? [] : at.insideMeta ? errorsInMeta(schema, value, path, at) : errorsOf(schema, value, path, at)
  if (isSchema(items) && at.budget.left >= 0) {
    errors.push(...errorsBelow(items, childPath(path, 'items'), { ...at, around: (item) => at.around([item]) }))
  }
  for (const [key, child] of Object.entries(properties)) {
    if (at.budget.left < 0) break
    const isMeta = isResource && (key === 'metadata' || key === 'apiVersion' || key === 'kind')
    const around = (field: JsonValue): JsonValue => at.around(objectWith(key, field))
    errors.push(...errorsBelow(child, keyPath(childPath(path, 'properties'), key), { ...at, around, insideMeta: at.insideMeta || isMeta }))
  }
  return errors
}

function objectWith(key: string, value: JsonValue): JsonObject {
  const object: JsonObject = {}
  setOwn(object, key, value)
  return object
}

function errorsOf(schema: StructuralSchema, value: JsonValue, path: string, at: Surroundings): FieldError[] {
  const node = buildNode(ofAnyType(schema), { anyFormat: true })
  const place = childPath(path, 'default')
  const pruned = prune(node, value).value
  const unknown = jsonEqual(pruned, value) ? [] : [invalid(place, value, 'must not have unknown fields')]
  const coerced = coerceResources(node, value, false)
  if (coerced.error !== undefined) return [...unknown, within(place, coerced.error)]
  const { errors, resources } = explain(node, coerced.value)
  const found = resources.length > 0 ? resources.map((error) => within(place, error)) : errors.map((error) => under(place, error))
  return [...unknown, ...(found.length > 0 ? found : ruleErrors(schema, coerced.value, place, at))]
}

/** The rules of the default's own schema and below; those above do not see it yet. */
function ruleErrors(schema: StructuralSchema, value: JsonValue, place: string, { root, budget }: Surroundings): readonly FieldError[] {
  const rules = compileRules(schema, schema === root)
  if (rules === undefined) return []
  const { errors, left } = rules.evaluateDefault(value, place, budget.left)
  budget.left = left
  return errors
}

/** A default of a part of metadata is judged by the metadata that it makes. */
function errorsInMeta(schema: StructuralSchema, value: JsonValue, path: string, at: Surroundings): FieldError[] {
  const { root, around } = at
  const place = childPath(path, 'default')
  const refused = (detail: string): FieldError[] => [invalid(place, value, `must result in valid metadata: ${detail}`)]
  const object: JsonObject = { apiVersion: 'validation/v1', kind: 'Validation', ...(around(value) as JsonObject) }
  const node: SchemaNode = { ...buildNode(withoutDefaults(root)), embeddedResource: true }
  const coerced = coerceResources(node, object, false)
  if (coerced.error !== undefined) return refused(formatFieldError(coerced.error))
  const { resources } = explain(node, coerced.value)
  const texts = resources.map(formatFieldError)
  if (texts.length > 0) return refused(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  const errors = explain(buildNode(ofAnyType(schema), { anyFormat: true }), value).errors.map((error) => under(place, error))
  return errors.length > 0 ? errors : [...ruleErrors(schema, value, place, at)]
}

/** Of a node that only looks at a value, no default must be made ready. */
function withoutDefaults(schema: StructuralSchema): StructuralSchema {
  const { default: _, ...rest } = schema
  return rest
}

/** Here, the API server does not know that int-or-string has types. */
function ofAnyType(schema: StructuralSchema): StructuralSchema {
  const { 'x-kubernetes-int-or-string': _, items, properties, additionalProperties, ...rest } = schema
  return {
    ...ofBranches(rest),
    ...(isSchema(items) && { items: ofAnyType(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, ofAnyType(child)])) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isSchema(additionalProperties) ? ofAnyType(additionalProperties) : additionalProperties,
    }),
  }
}

/** Nor what a branch says of fields that it does not name, where that is no schema. */
function ofBranches(schema: StructuralSchema): StructuralSchema {
  const { allOf, anyOf, oneOf, not } = schema
  const all = (branches: readonly StructuralSchema[]): StructuralSchema[] => branches.map(ofBranch)
  return {
    ...schema,
    ...(allOf && { allOf: all(allOf) }),
    ...(anyOf && { anyOf: all(anyOf) }),
    ...(oneOf && { oneOf: all(oneOf) }),
    ...(not && { not: ofBranch(not) }),
  }
}

function ofBranch(schema: StructuralSchema): StructuralSchema {
  const { additionalProperties, items, properties, ...rest } = schema
  return {
    ...ofBranches(rest),
    ...(isSchema(additionalProperties) && { additionalProperties: ofBranch(additionalProperties) }),
    ...(isSchema(items) && { items: ofBranch(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, ofBranch(child)])) }),
  }
}

/** The paths in the errors begin at the default: those of embedded resources go on from it, all others are told as a field of it. */
function within(place: string, error: FieldError): FieldError {
  return error.path.startsWith('[') ? { ...error, path: `${place}${error.path}` } : under(place, error)
}

function under(place: string, error: FieldError): FieldError {
  return { ...error, path: [noField, '', '.'].includes(error.path) ? place : childPath(place, error.path.replace(/^\./, '')) }
}
