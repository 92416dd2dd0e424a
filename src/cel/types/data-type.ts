/** Converts JSON data to CEL values according to its schema (`k8s.io/apiserver/pkg/cel/common: UnstructuredToVal`). */
import type { ParsedTime } from '../../api/go-time.ts'
import { parseDate, parseSchemaTime } from '../../api/go-time.ts'
import type { JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { base64Problem } from '../../formats/go-base64.ts'
import { CelError } from './errors.ts'
import { escapeIdentifier } from './escape.ts'
import type { Int } from './integers.ts'
import { isInt64, toInt } from './integers.ts'
import { PreservedValue, SchemaList, SchemaMap, SchemaObject } from './schema-values.ts'
import { parseSchemaDuration } from './times.ts'
import type { ListSemantics, Value } from './values.ts'
import { Double, Timestamp } from './values.ts'

/** Converts JSON data of one schema to a CEL value. Throws `CelError` for data that does not match this schema. */
export type DataType = (value: JsonValue) => Value

/**
 * Returns the function that converts JSON data to CEL values according to `schema`.
 *
 * @param isRoot true for the schema of a whole Kubernetes object. Rules can then use apiVersion, kind, metadata.name and
 *   metadata.generateName even if the schema does not declare them. Default: true if the schema has `x-kubernetes-embedded-resource: true`,
 *   otherwise false.
 */
export function dataType(schema: StructuralSchema, isRoot = schema['x-kubernetes-embedded-resource'] === true): DataType {
  const convert = converter(isRoot ? withObjectFields(schema) : schema)
  return (value) => {
    if (value !== null) return convert(value)
    if (schema.nullable === true) return null
    throw new CelError('invalid data, got null for schema with nullable=false')
  }
}

function converter(schema: StructuralSchema): DataType {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return (value) => {
      if (typeof value === 'string') return value
      const problem = 'invalid data, expected XIntOrString value to be either a string or integer'
      if (typeof value === 'number' || typeof value === 'bigint') return integer(value, problem)
      throw new CelError(problem)
    }
  }
  switch (schema.type) {
    case 'object':
      return objectConverter(schema)
    case 'array':
      return arrayConverter(schema)
    case 'string':
      return stringConverter(schema.format)
    case 'integer':
      return (value) => {
        if (typeof value === 'number' || typeof value === 'bigint') return integer(value)
        throw new CelError(`invalid data, expected int, got ${goType(value)}`)
      }
    case 'number':
      return (value) => {
        if (typeof value === 'number' || typeof value === 'bigint') return new Double(Number(value))
        throw new CelError(`invalid data, expected float, got ${goType(value)}`)
      }
    case 'boolean':
      return (value) => {
        if (typeof value === 'boolean') return value
        throw new CelError(`invalid data, expected bool, got ${goType(value)}`)
      }
    default:
      return (value) => new PreservedValue(value)
  }
}

/**
 * Converts a JSON number to a CEL int. If a number is beyond 2^53, and the JSON parser has preserved all its digits, `value` is a `bigint`.
 * If the parser has rounded the number, `value` is a `number`.
 */
function integer(value: number | bigint, problem = 'invalid data, expected int, got float64'): Int {
  if (Number.isSafeInteger(value)) return value
  if (!isInt64(value)) throw new CelError(problem)
  return toInt(BigInt(value))
}

function goType(value: JsonValue): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint') return isInt64(value) ? 'int64' : 'float64'
  if (Array.isArray(value)) return '[]interface {}'
  return typeof value === 'string' ? 'string' : 'map[string]interface {}'
}

function objectConverter(schema: StructuralSchema): DataType {
  const expectObject = (value: JsonValue) => {
    if (isObject(value)) return value
    throw new CelError('invalid data, expected a map for the provided schema with type=object')
  }
  const { properties, additionalProperties } = schema
  if (properties === undefined && typeof additionalProperties === 'object') {
    const type = dataType(additionalProperties)
    return (value) => new SchemaMap(expectObject(value), type)
  }
  const fields = new Map(Object.entries(properties ?? {}).map(([name, child]) => [name, dataType(child)]))
  return (value) => new SchemaObject(expectObject(value), fields)
}

function arrayConverter(schema: StructuralSchema): DataType {
  const item = schema.items === undefined ? undefined : dataType(schema.items)
  const semantics = listSemantics(schema)
  return (value) => {
    if (!Array.isArray(value)) throw new CelError('invalid data, expected an array for the provided schema with type=array')
    if (item === undefined) throw new CelError('invalid array type, expected Items with a non-empty Schema')
    return new SchemaList(value, item, semantics)
  }
}

function listSemantics(schema: StructuralSchema): ListSemantics {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (schema['x-kubernetes-list-type'] === 'map') return keys.map((key) => escapeIdentifier(key) ?? key)
  return schema['x-kubernetes-list-type'] === 'set' ? 'set' : undefined
}

function stringConverter(format: string | undefined): DataType {
  const convert = stringFormats[format ?? '']
  return (value) => {
    if (typeof value !== 'string') throw new CelError(`invalid data, expected string, got ${goType(value)}`)
    return convert === undefined ? value : convert(value)
  }
}

const stringFormats: Readonly<Record<string, (text: string) => Value>> = {
  duration: (text) => found(parseSchemaDuration(text), `Invalid duration ${text}: unable to parse ${text} as duration`),
  date: (text) => parsed(parseDate(text), (problem) => `Invalid date formatted string ${text}: ${problem}`),
  'date-time': (text) => parsed(parseSchemaTime(text), (problem) => `Invalid date-time formatted string ${text}: ${problem}`),
  byte: (text) => {
    // If a value is not base64 with the URL alphabet, rules cannot read the value (`k8s.io/kube-openapi/pkg/validation/strfmt: Base64`).
    // The validation of the format also accepts the standard alphabet.
    const problem = base64Problem(text, 'url')
    if (problem !== undefined) throw new CelError(`Invalid byte formatted string ${text}: ${problem}`)
    return Uint8Array.from(Buffer.from(text, 'base64url'))
  },
}

function parsed(time: ParsedTime, problem: (detail: string) => string): Timestamp {
  if (typeof time === 'string') throw new CelError(problem(time))
  return new Timestamp(time.seconds, time.nanos, time.offsetMinutes)
}

function found<Result>(result: Result | undefined, problem: string): Result {
  if (result === undefined) throw new CelError(problem)
  return result
}

const string: StructuralSchema = { type: 'string' }

/**
 * Adds the fields that rules can use on every Kubernetes object, even if the schema of the object does not declare these fields
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model: WithTypeAndObjectMeta`).
 */
export function withObjectFields(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: 'object', properties: { name: string, generateName: string } }
  return { ...schema, properties: { ...schema.properties, apiVersion: string, kind: string, metadata } }
}
