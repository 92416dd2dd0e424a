/**
 * Validates the defaults in a schema (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting: ValidateDefaults`). Defaults inside
 * additionalProperties are not validated.
 */
import type { FieldError } from '../../api/field-error.ts'
import { formatFieldError, invalid } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { jsonEqual, setOwn } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { compileRules } from '../../cel/rules.ts'
import { objectBudget } from '../../cel/limits.ts'
import { coerceResources } from '../decode-embedded-resource.ts'
import { explain } from '../explain-errors.ts'
import type { SchemaNode } from '../node.ts'
import { buildNode } from '../node.ts'
import { childPath, keyPath, noField } from '../../api/field-path.ts'
import { prune } from '../prune.ts'
import { isSchema } from './subschemas.ts'

/**
 * The context of a default. `root` is the schema of the innermost resource that contains the default: an embedded resource or the custom
 * resource. `wrap(value)` returns an object of this schema, with `value` in the field that has the default.
 */
interface DefaultContext {
  readonly root: StructuralSchema
  readonly wrap: (value: JsonValue) => JsonValue
  /** True inside the schemas of apiVersion, kind and metadata. */
  readonly insideMeta: boolean
  /** The remaining CEL cost budget for the rules of all defaults. When it is exhausted, no further defaults are validated. */
  readonly budget: { left: number }
}

export function defaultErrors(root: StructuralSchema, path: string): FieldError[] {
  const resource: StructuralSchema = { ...root, 'x-kubernetes-embedded-resource': true }
  return errorsBelow(resource, path, { root: resource, wrap: (value) => value, insideMeta: false, budget: { left: objectBudget } })
}

function errorsBelow(schema: StructuralSchema, path: string, outer: DefaultContext): FieldError[] {
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const at: DefaultContext = isResource ? { ...outer, root: schema, wrap: (value) => value, insideMeta: false } : outer
  const { properties = {}, items } = schema
  const value = schema.default ?? undefined
  const errors = value === undefined ? [] : at.insideMeta ? errorsInMeta(schema, value, path, at) : errorsOf(schema, value, path, at)
  if (isSchema(items) && at.budget.left >= 0) {
    errors.push(...errorsBelow(items, childPath(path, 'items'), { ...at, wrap: (item) => at.wrap([item]) }))
  }
  for (const [key, child] of Object.entries(properties)) {
    if (at.budget.left < 0) break
    const isMeta = isResource && (key === 'metadata' || key === 'apiVersion' || key === 'kind')
    const wrap = (field: JsonValue): JsonValue => at.wrap(objectWith(key, field))
    errors.push(...errorsBelow(child, keyPath(childPath(path, 'properties'), key), { ...at, wrap, insideMeta: at.insideMeta || isMeta }))
  }
  return errors
}

function objectWith(key: string, value: JsonValue): JsonObject {
  const object: JsonObject = {}
  setOwn(object, key, value)
  return object
}

function errorsOf(schema: StructuralSchema, value: JsonValue, path: string, at: DefaultContext): FieldError[] {
  const node = buildNode(withoutIntOrString(schema), { anyFormat: true })
  const place = childPath(path, 'default')
  const pruned = prune(node, value).value
  const unknown = jsonEqual(pruned, value) ? [] : [invalid(place, value, 'must not have unknown fields')]
  const coerced = coerceResources(node, value, false)
  if (coerced.error !== undefined) return [...unknown, within(place, coerced.error)]
  const { errors, resources } = explain(node, coerced.value)
  const found = resources.length > 0 ? resources.map((error) => within(place, error)) : errors.map((error) => under(place, error))
  return [...unknown, ...(found.length > 0 ? found : ruleErrors(schema, coerced.value, place, at))]
}

/** Evaluates the rules in the schema that has the default, and in its subschemas. Rules of enclosing schemas are not evaluated. */
function ruleErrors(schema: StructuralSchema, value: JsonValue, place: string, { root, budget }: DefaultContext): readonly FieldError[] {
  const rules = compileRules(schema, schema === root)
  if (rules === undefined) return []
  const { errors, left } = rules.evaluateDefault(value, place, budget.left)
  budget.left = left
  return errors
}

/**
 * Validates a default inside apiVersion, kind or metadata. The default must fulfill two conditions:
 *
 * - The default matches its own schema.
 * - The default results in valid metadata. For this check, the function builds a test object with the schema of the innermost resource that
 *   contains the default. The test object has only an apiVersion, a kind, and the field that has the default. The value of this field is
 *   the default. The test object must be a valid embedded resource.
 */
function errorsInMeta(schema: StructuralSchema, value: JsonValue, path: string, at: DefaultContext): FieldError[] {
  const { root, wrap } = at
  const place = childPath(path, 'default')
  const rejected = (detail: string): FieldError[] => [invalid(place, value, `must result in valid metadata: ${detail}`)]
  const object: JsonObject = { apiVersion: 'validation/v1', kind: 'Validation', ...(wrap(value) as JsonObject) }
  const node: SchemaNode = { ...buildNode(withoutDefaults(root)), embeddedResource: true }
  const coerced = coerceResources(node, object, false)
  if (coerced.error !== undefined) return rejected(formatFieldError(coerced.error))
  const { resources } = explain(node, coerced.value)
  const texts = resources.map(formatFieldError)
  if (texts.length > 0) return rejected(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  const errors = explain(buildNode(withoutIntOrString(schema), { anyFormat: true }), value).errors.map((error) => under(place, error))
  return errors.length > 0 ? errors : [...ruleErrors(schema, value, place, at)]
}

/**
 * Returns the schema without its own default, but with the defaults of its subschemas. The caller does not use the schema's own default, so
 * `buildNode` need not prepare this default.
 */
function withoutDefaults(schema: StructuralSchema): StructuralSchema {
  const { default: _, ...rest } = schema
  return rest
}

/**
 * Removes `x-kubernetes-int-or-string`, because kube-apiserver does not validate that a default is an integer or a string
 * (`Structural.ToKubeOpenAPI`).
 */
function withoutIntOrString(schema: StructuralSchema): StructuralSchema {
  const { 'x-kubernetes-int-or-string': _, items, properties, additionalProperties, ...rest } = schema
  return {
    ...withoutBooleanAdditional(rest),
    ...(isSchema(items) && { items: withoutIntOrString(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, withoutIntOrString(child)])),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isSchema(additionalProperties) ? withoutIntOrString(additionalProperties) : additionalProperties,
    }),
  }
}

/**
 * Removes boolean `additionalProperties` from the schemas in `allOf`, `anyOf`, `oneOf` and `not`. kube-apiserver ignores these boolean
 * values when it validates defaults (`NestedValueValidation.toKubeOpenAPI`).
 */
function withoutBooleanAdditional(schema: StructuralSchema): StructuralSchema {
  const { allOf, anyOf, oneOf, not } = schema
  const all = (branches: readonly StructuralSchema[]): StructuralSchema[] => branches.map(branchWithoutBooleanAdditional)
  return {
    ...schema,
    ...(allOf && { allOf: all(allOf) }),
    ...(anyOf && { anyOf: all(anyOf) }),
    ...(oneOf && { oneOf: all(oneOf) }),
    ...(not && { not: branchWithoutBooleanAdditional(not) }),
  }
}

function branchWithoutBooleanAdditional(schema: StructuralSchema): StructuralSchema {
  const { additionalProperties, items, properties, ...rest } = schema
  return {
    ...withoutBooleanAdditional(rest),
    ...(isSchema(additionalProperties) && { additionalProperties: branchWithoutBooleanAdditional(additionalProperties) }),
    ...(isSchema(items) && { items: branchWithoutBooleanAdditional(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, branchWithoutBooleanAdditional(child)])),
    }),
  }
}

/**
 * Prepends `place`, the path of a default, to the path of an error. If the path of the error starts with a bracket, no dot is inserted
 * between the two paths.
 */
function within(place: string, error: FieldError): FieldError {
  return error.path.startsWith('[') ? { ...error, path: `${place}${error.path}` } : under(place, error)
}

function under(place: string, error: FieldError): FieldError {
  return { ...error, path: [noField, '', '.'].includes(error.path) ? place : childPath(place, error.path.replace(/^\./, '')) }
}
