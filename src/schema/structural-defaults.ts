/** Defaults in a schema must be valid themselves (apiextensions `schema/defaulting`). Those of a map's values are not looked at. */
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { jsonEqual, setOwn } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { compileRules } from './cel/rules.ts'
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
}

export function defaultErrors(root: StructuralSchema, path: string): FieldError[] {
  const resource: StructuralSchema = { ...root, 'x-kubernetes-embedded-resource': true }
  return errorsBelow(resource, path, { root: resource, around: (value) => value, insideMeta: false })
}

function errorsBelow(schema: StructuralSchema, path: string, outer: Surroundings): FieldError[] {
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const at: Surroundings = isResource ? { root: schema, around: (value) => value, insideMeta: false } : outer
  const { properties = {}, items } = schema
  const value = schema.default ?? undefined
  const errors = value === undefined ? [] : at.insideMeta ? errorsInMeta(schema, value, path, at) : errorsOf(schema, value, path, at)
  if (isSchema(items)) {
    errors.push(...errorsBelow(items, childPath(path, 'items'), { ...at, around: (item) => at.around([item]) }))
  }
  for (const [key, child] of Object.entries(properties)) {
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

function errorsOf(schema: StructuralSchema, value: JsonValue, path: string, { root }: Surroundings): FieldError[] {
  const node = buildNode(ofAnyType(schema), { anyFormat: true })
  const place = childPath(path, 'default')
  const pruned = prune(node, value).value
  const unknown = jsonEqual(pruned, value) ? [] : [invalid(place, value, 'must not have unknown fields')]
  const coerced = coerceResources(node, value, false)
  if (coerced.error !== undefined) return [...unknown, under(place, coerced.error)]
  const { errors, resources } = explain(node, coerced.value)
  const found = (resources.length > 0 ? resources : errors).map((error) => under(place, error))
  return [...unknown, ...(found.length > 0 ? found : ruleErrors(schema, coerced.value, place, root))]
}

/** The rules of the default's own schema and below; those above do not see it yet. */
function ruleErrors(schema: StructuralSchema, value: JsonValue, place: string, root: StructuralSchema): readonly FieldError[] {
  return compileRules(schema, schema === root)?.evaluateDefault(value, place) ?? []
}

/** A default of a part of metadata is judged by the metadata that it makes. */
function errorsInMeta(schema: StructuralSchema, value: JsonValue, path: string, { root, around }: Surroundings): FieldError[] {
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
  return errors.length > 0 ? errors : [...ruleErrors(schema, value, place, root)]
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
    ...rest,
    ...(isSchema(items) && { items: ofAnyType(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, ofAnyType(child)])) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isSchema(additionalProperties) ? ofAnyType(additionalProperties) : additionalProperties,
    }),
  }
}

/** The paths in the errors begin at the default. */
function under(place: string, error: FieldError): FieldError {
  return { ...error, path: [noField, '', '.'].includes(error.path) ? place : childPath(place, error.path.replace(/^\./, '')) }
}
