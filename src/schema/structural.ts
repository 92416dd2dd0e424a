/**
 * What the API server demands of a CustomResourceDefinition's schema: that it is structural (apiextensions
 * `schema/validation`), and what the validation of the definition itself adds to that.
 */
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../api/field-error.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { isDeeperThan } from './depth.ts'
import { explain } from './explain.ts'
import { buildNode } from './node.ts'
import { childPath, indexPath, keyPath, noField } from './path.ts'
import { patternProblem } from './patterns.ts'
import { prune } from './prune.ts'
import { isSchema, junctorErrors } from './structural-junctors.ts'
import { listErrors } from './structural-lists.ts'

/** Schemas are written by people; this is only so that no schema can exhaust the stack. A field takes two levels. */
const maxSchemaNesting = 300

type Level = 'root' | 'items' | 'field'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const unsupportedKeywords = ['id', '$ref', 'additionalItems', 'patternProperties', 'definitions', 'dependencies']
const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** What makes a schema non-structural or unusable in a CustomResourceDefinition, in the API server's words where they are known. */
export function checkStructural(schema: StructuralSchema, path = ''): FieldError[] {
  if (isDeeperThan(schema, maxSchemaNesting)) return [forbidden(path, `must not be nested deeper than ${maxSchemaNesting} levels`)]
  const errors = nodeErrors(schema, path, 'root')
  // Defaults are values of the schema, and can be checked only against one that is sound.
  return errors.length > 0 ? errors : defaultErrors(schema, path)
}

function nodeErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  if (!isSchema(schema)) return [invalid(path, schema, 'must be a schema')]
  return [
    ...keywordErrors(schema, path),
    ...typeErrors(schema, path, level),
    ...embeddedErrors(schema, path),
    ...metadataErrors(schema, path, level),
    ...listErrors(schema, path),
    ...junctorErrors(schema, path),
    ...childErrors(schema, path, level),
  ]
}

function childErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  const { items, additionalProperties, properties } = schema
  const errors: FieldError[] = []
  if (Array.isArray(items)) errors.push(forbidden(childPath(path, 'items'), 'items must be a schema object and not an array'))
  else if (items !== undefined) errors.push(...nodeErrors(items, childPath(path, 'items'), 'items'))
  for (const [key, child] of Object.entries(properties ?? {})) {
    errors.push(...nodeErrors(child, keyPath(childPath(path, 'properties'), key), 'field'))
  }
  if (additionalProperties !== undefined) {
    const place = childPath(path, 'additionalProperties')
    if (level === 'root') errors.push(forbidden(place, 'must not be used at the root'))
    if (Object.keys(properties ?? {}).length > 0 && additionalProperties !== true) {
      errors.push(forbidden(place, 'additionalProperties and properties are mutual exclusive'))
    } else if (additionalProperties === false) {
      errors.push(forbidden(place, 'additionalProperties cannot be set to false'))
    }
    if (typeof additionalProperties === 'object') errors.push(...nodeErrors(additionalProperties, place, 'field'))
  }
  return errors
}

function keywordErrors(schema: StructuralSchema, path: string): FieldError[] {
  const { pattern, uniqueItems, multipleOf } = schema
  const problem = pattern === undefined ? undefined : patternProblem(pattern)
  return [
    ...unsupportedKeywords
      .filter((keyword) => Object.hasOwn(schema, keyword))
      .map((keyword) => forbidden(childPath(path, keyword), `${keyword} is not supported`)),
    ...(uniqueItems === true
      ? [forbidden(childPath(path, 'uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')]
      : []),
    ...(problem === undefined
      ? []
      : [invalid(childPath(path, 'pattern'), pattern, `must be a valid regular expression, but isn't: ${problem}`)]),
    ...(multipleOf !== undefined && multipleOf <= 0 ? [invalid(childPath(path, 'multipleOf'), multipleOf, 'must be greater than 0')] : []),
    ...extensionErrors(schema, path),
    ...ruleErrors(schema, path),
  ]
}

function extensionErrors(schema: StructuralSchema, path: string): FieldError[] {
  const preserve: unknown = schema['x-kubernetes-preserve-unknown-fields']
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  const mapType = schema['x-kubernetes-map-type']
  const errors: FieldError[] = []
  if (preserve !== undefined && preserve !== true)
    errors.push(invalid(childPath(path, 'x-kubernetes-preserve-unknown-fields'), preserve, 'must be true or undefined'))
  if (intOrString && preserve === true) {
    errors.push(
      invalid(childPath(path, 'x-kubernetes-preserve-unknown-fields'), true, 'must be false if x-kubernetes-int-or-string is true'),
    )
  }
  if (intOrString && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(invalid(childPath(path, 'x-kubernetes-embedded-resource'), true, 'must be false if x-kubernetes-int-or-string is true'))
  }
  if (mapType !== undefined && schema.type !== 'object')
    errors.push(wrongType(schema, path, 'must be object if x-kubernetes-map-type is specified'))
  if (mapType !== undefined && !['atomic', 'granular'].includes(mapType)) {
    errors.push(notSupported(childPath(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  }
  return errors
}

/** The rules' shape; what they say is not looked at. */
function ruleErrors(schema: StructuralSchema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message = '' }, index) => {
    const place = indexPath(childPath(path, 'x-kubernetes-validations'), index)
    if (typeof rule !== 'string' || rule.trim() === '') return [required(childPath(place, 'rule'), 'rule is not specified')]
    if (/[\n\r]/.test(message.trim())) return [invalid(childPath(place, 'message'), message, 'must not contain line breaks')]
    if (/[\n\r]/.test(rule.trim()) && message.trim() === '') {
      return [required(childPath(place, 'message'), 'message must be specified if rule contains line breaks')]
    }
    return []
  })
}

function typeErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  const { type } = schema
  const place = childPath(path, 'type')
  const untyped = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  const errors: FieldError[] = []
  if (type === undefined) {
    if (!untyped && schema['x-kubernetes-embedded-resource'] !== true) errors.push(required(place, missingType[level]))
  } else if (!types.includes(type)) {
    const isNull = (type as string) === 'null'
    errors.push(isNull ? forbidden(place, 'type cannot be set to null, use nullable as an alternative') : notSupported(place, type, types))
  } else if (level === 'root' && type !== 'object') {
    errors.push(invalid(place, type, 'must be object at the root'))
  }
  if (type === 'array' && schema.items === undefined) errors.push(required(childPath(path, 'items'), 'must be specified'))
  return errors
}

function wrongType(schema: StructuralSchema, path: string, detail: string): FieldError {
  const place = childPath(path, 'type')
  return schema.type === undefined ? required(place, detail) : invalid(place, schema.type, detail)
}

function embeddedErrors(schema: StructuralSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-embedded-resource'] !== true) return []
  const errors: FieldError[] = []
  if (schema.type !== 'object') errors.push(wrongType(schema, path, 'must be object if x-kubernetes-embedded-resource is true'))
  if (schema.additionalProperties !== undefined) {
    errors.push(forbidden(childPath(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] !== true && Object.keys(schema.properties ?? {}).length === 0) {
    errors.push(
      required(
        childPath(path, 'properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  }
  return errors
}

/** apiVersion, kind and metadata of a whole object are Kubernetes' own: a schema may narrow names alone. */
function metadataErrors(schema: StructuralSchema, path: string, level: Level): FieldError[] {
  if (level !== 'root' && schema['x-kubernetes-embedded-resource'] !== true) return []
  const property = (name: string): StructuralSchema | undefined =>
    Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined
  const placeOf = (name: string): string => keyPath(childPath(path, 'properties'), name)
  const errors: FieldError[] = []
  for (const name of ['apiVersion', 'kind']) {
    const child = property(name)
    if (child !== undefined && child.type !== 'string')
      errors.push(invalid(childPath(placeOf(name), 'type'), child.type ?? '', 'must be string'))
    if (child?.default !== undefined && level === 'root')
      errors.push(forbidden(childPath(placeOf(name), 'default'), `must not be set in top-level ${name}`))
  }
  const metadata = property('metadata')
  if (metadata === undefined) return errors
  const place = placeOf('metadata')
  if (metadata.type !== 'object') errors.push(invalid(childPath(place, 'type'), metadata.type ?? '', 'must be object'))
  if (level !== 'root') return errors
  const { type: _, properties = {}, ...rest } = metadata
  if (Object.keys(rest).length > 0 || Object.keys(properties).some((name) => name !== 'name' && name !== 'generateName')) {
    errors.push(forbidden(place, 'must not specify anything other than name and generateName, but metadata is implicitly specified'))
  }
  return errors
}

function defaultErrors(schema: StructuralSchema, path: string): FieldError[] {
  const { default: value, properties = {}, items, additionalProperties } = schema
  const errors: FieldError[] = []
  if (value !== undefined && value !== null) {
    const node = buildNode(schema)
    const place = childPath(path, 'default')
    if (prune(node, value).unknown.length > 0) return [invalid(place, value, 'must not have unknown fields')]
    const found = explain(node, value)
    // The paths in these begin at the default.
    const placeOf = (below: string): string => (below === noField ? place : below.startsWith('[') ? place + below : childPath(place, below))
    errors.push(...[...found.errors, ...found.lists].map((error) => ({ ...error, path: placeOf(error.path) })))
  }
  for (const [key, child] of Object.entries(properties)) errors.push(...defaultErrors(child, keyPath(childPath(path, 'properties'), key)))
  if (items !== undefined) errors.push(...defaultErrors(items, childPath(path, 'items')))
  if (typeof additionalProperties === 'object') errors.push(...defaultErrors(additionalProperties, childPath(path, 'additionalProperties')))
  return errors
}
