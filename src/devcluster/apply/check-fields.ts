/** Whether an applied configuration fits the schema of its type: what does not cannot be owned, whatever `fieldValidation` says. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { checkObjectMetaShape, checkShape } from '../resources/shape.ts'
import { typedPatchError } from './server-side-apply.ts'

/** Throws 500 for unknown fields and wrong types; `named` is the configuration as it was sent. */
export function checkFields(info: ResourceInfo, config: JsonObject, named: JsonObject): void {
  const { schema, strategy } = info
  const problems: string[] = []
  if (schema !== undefined) {
    const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...fields } = config
    visit(fields, schema.schema, '', problems)
    if (isObject(config.metadata)) problems.push(...undeclared(checkObjectMetaShape(config.metadata, '').unknown))
  } else if (strategy.shape !== undefined) {
    problems.push(...undeclared(checkShape(strategy.shape, config).unknown))
  }
  if (problems.length === 0) return
  const detail = problems.length === 1 ? problems[0]! : ['errors:', ...problems].join('\n  ')
  throw typedPatchError(info, named, detail)
}

function undeclared(paths: readonly string[]): string[] {
  return paths.map((path) => `.${path}: field not declared in schema`)
}

function visit(value: JsonValue | undefined, schema: StructuralSchema | undefined, path: string, problems: string[]): void {
  if (value === undefined || value === null || schema === undefined) return
  switch (schema.type) {
    case 'object':
      if (!isObject(value)) problems.push(`${path}: expected map, got &{${goText(value)}}`)
      else visitFields(value, schema, path, problems)
      break
    case 'array':
      if (!Array.isArray(value)) problems.push(`${path}: expected list, got &{${goText(value)}}`)
      else value.forEach((item, index) => visit(item, schema.items, `${path}[${index}]`, problems))
      break
    case 'string':
      if (typeof value !== 'string') problems.push(`${path}: expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      break
    case 'boolean':
      if (typeof value !== 'boolean') problems.push(`${path}: expected boolean, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      break
    case 'integer':
    case 'number':
      if (typeof value !== 'number') problems.push(`${path}: expected numeric (int or float), got ${goType(value)}`)
      break
    default:
  }
}

function visitFields(value: JsonObject, schema: StructuralSchema, path: string, problems: string[]): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const { properties = {}, additionalProperties } = schema
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true
  for (const key of Object.keys(value).sort()) {
    const field = `${path}.${key}`
    if (embedded && ['apiVersion', 'kind', 'metadata'].includes(key)) continue
    if (Object.hasOwn(properties, key)) visit(value[key], properties[key], field, problems)
    else if (typeof additionalProperties === 'object') visit(value[key], additionalProperties, field, problems)
    else if (!open) problems.push(`${field}: field not declared in schema`)
  }
}

/** A value as Go's `%v` prints it. */
export function goText(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key])}`)
    .join(' ')}]`
}

/** A value as Go's `%#v` prints it. */
function goSyntax(value: JsonValue): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isObject(value)) return value === null ? 'interface {}(nil)' : JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `map[string]interface {}{${fields.map((key) => `${JSON.stringify(key)}:${goSyntax(value[key]!)}`).join(', ')}}`
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}'
  return isObject(value) ? 'map[string]interface {}' : typeof value === 'boolean' ? 'bool' : typeof value
}
