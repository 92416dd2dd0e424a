/**
 * Validates the OpenAPI keywords in the schema of a CustomResourceDefinition, even if the schema is not structural
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation: ValidateCustomResourceDefinitionOpenAPISchema`).
 */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../api/field-error.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { ruleShapeErrors } from '../../cel/rule-shape.ts'
import { childPath, keyPath } from '../../api/field-path.ts'
import { listErrors } from './check-lists.ts'
import { branchesOf, isSchema } from './subschemas.ts'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

interface Context {
  readonly root: boolean
  /** The reason why defaults are forbidden in this schema, for the error message. Undefined if defaults are allowed. */
  readonly noDefaults?: string
  readonly insideMeta?: boolean
}

export function openapiErrors(schema: StructuralSchema, path: string, context: Context = { root: true }): FieldError[] {
  const below = { ...context, root: false }
  const errors = [...keywordErrors(schema, path, context)]
  const { items, additionalProperties, properties = {} } = schema
  if (additionalProperties !== undefined && additionalProperties !== null) {
    const place = childPath(path, 'additionalProperties')
    if (Object.keys(properties).length > 0 && additionalProperties !== true) {
      errors.push(forbidden(place, 'additionalProperties and properties are mutual exclusive'))
    }
    if (isSchema(additionalProperties)) {
      const reason = 'inside additionalProperties applying to object metadata'
      errors.push(...openapiErrors(additionalProperties, place, context.insideMeta === true ? { ...below, noDefaults: reason } : below))
    }
  }
  for (const [key, child] of Object.entries(properties)) {
    const ofMeta = (context.root || schema['x-kubernetes-embedded-resource'] === true) && metaFields.has(key)
    const inner = {
      ...below,
      ...(ofMeta ? { insideMeta: true } : {}),
      ...(ofMeta && context.root ? { noDefaults: `in top-level ${key}` } : {}),
    }
    errors.push(...openapiErrors(child, keyPath(childPath(path, 'properties'), key), inner))
  }
  for (const branch of branchesOf(schema, path)) errors.push(...openapiErrors(branch.schema, branch.path, below))
  for (const definition of definitionsOf(schema, path)) errors.push(...openapiErrors(definition.schema, definition.path, below))
  if (isSchema(items)) errors.push(...openapiErrors(items, childPath(path, 'items'), below))
  return [...errors, ...extensionErrors(schema, path), ...listErrors(schema, path), ...ruleShapeErrors(schema, path)]
}

function definitionsOf(schema: StructuralSchema, path: string): { schema: StructuralSchema; path: string }[] {
  const { definitions } = schema as { definitions?: Record<string, StructuralSchema> }
  return Object.entries(definitions ?? {})
    .filter(([, child]) => isSchema(child))
    .map(([key, child]) => ({ schema: child, path: keyPath(childPath(path, 'definitions'), key) }))
}

function keywordErrors(schema: StructuralSchema, path: string, { noDefaults, insideMeta }: Context): FieldError[] {
  const keywords = schema as unknown as Record<string, unknown>
  const { type } = schema
  const errors: FieldError[] = []
  const not = (keyword: string, isSet: boolean): void => {
    if (isSet) errors.push(forbidden(childPath(path, keyword), `${keyword} is not supported`))
  }
  const own = (keyword: string): unknown => (Object.hasOwn(keywords, keyword) ? (keywords[keyword] ?? undefined) : undefined)
  const size = (value: unknown): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0)
  if (type && !types.includes(type)) errors.push(notSupported(childPath(path, 'type'), type, types))
  if ((type as string | undefined) === 'null') {
    errors.push(forbidden(childPath(path, 'type'), 'type cannot be set to null, use nullable as an alternative'))
  }
  if (noDefaults !== undefined && own('default') !== undefined)
    errors.push(forbidden(childPath(path, 'default'), `must not be set ${noDefaults}`))
  not('id', own('id') !== undefined && own('id') !== '')
  not('additionalItems', own('additionalItems') !== undefined)
  not('patternProperties', size(own('patternProperties')) > 0)
  not('definitions', size(own('definitions')) > 0)
  not('dependencies', own('dependencies') !== undefined)
  not('$ref', own('$ref') !== undefined)
  if (size(Array.isArray(schema.items) ? schema.items : []) > 0) {
    errors.push(forbidden(childPath(path, 'items'), 'items must be a schema object and not an array'))
  }
  if (insideMeta === true && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden(childPath(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'))
  }
  if (schema.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(childPath(path, 'uniqueItems'), detail))
  }
  return errors
}

function extensionErrors(schema: StructuralSchema, path: string): FieldError[] {
  const preserve: unknown = schema['x-kubernetes-preserve-unknown-fields']
  const mapType = schema['x-kubernetes-map-type']
  const errors: FieldError[] = []
  if (preserve === false) {
    errors.push(invalid(childPath(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  }
  if (mapType === undefined || mapType === null) return errors
  if (schema.type !== 'object') errors.push(wrongType(schema, path, 'must be object if x-kubernetes-map-type is specified'))
  if (!['atomic', 'granular'].includes(mapType)) {
    errors.push(notSupported(childPath(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  }
  return errors
}

/** Returns the error for a schema whose `type` conflicts with another of its keywords. */
export function wrongType({ type }: StructuralSchema, path: string, detail: string): FieldError {
  const place = childPath(path, 'type')
  return type ? invalid(place, type, detail) : required(place, detail)
}
