/** Checks the JSON types of a built-in type's fields, with the error messages of Go's decoder. */
import { parseMicroTime, parseZonedTime } from '../../api/go-time.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { base64Problem } from '../../formats/go-base64.ts'
import { goKindOf } from './go-json.ts'
import { invalidQuantity, parseQuantity } from '../apimachinery/quantity.ts'

/**
 * The JSON type of a value in a built-in type. A string names a scalar type, an `ObjectShape` has fields, and `[shape]` is a list whose
 * items have this shape.
 */
export type Shape =
  | 'string'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bool'
  | 'intOrString'
  | 'quantity'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'any'
  | ObjectShape
  | readonly [Shape]
  | MapShape
  | ObjectOrShape

export interface ObjectShape {
  /** Name of the Go type in decoding errors, e.g. `Container`. */
  readonly type: string
  readonly fields: Readonly<Record<string, Shape>>
}

export interface MapShape {
  readonly mapOf: Shape
}

/** An object of the shape `objectOr`, or a value of another JSON type. A value of another JSON type is not checked. */
export interface ObjectOrShape {
  readonly objectOr: ObjectShape
}

export interface ShapeResult {
  /** Go's message about a field with a wrong type; absent if all types are correct. */
  readonly error?: string
  /** Paths of unknown fields. */
  readonly unknown: readonly string[]
}

/**
 * Compares the JSON types of an object with a shape. If several fields have a wrong type, the decoder of kube-apiserver reports the first
 * of them, unless a type with the method `UnmarshalJSON` reports an error, e.g. `Quantity` (sigs.k8s.io/json/internal/golang/encoding/json:
 * decodeState.unmarshal).
 */
export function checkShape(shape: Shape, object: JsonObject): ShapeResult {
  const found: Found = { error: undefined, unknown: [] }
  try {
    check(shape, object, { holder: '', names: [], path: '', found })
  } catch (error) {
    if (!(error instanceof UnmarshalError)) throw error
    found.error = error.message
  }
  return { ...(found.error !== undefined && { error: found.error }), unknown: found.unknown }
}

/** An error of the method `UnmarshalJSON` of a Go type. The decoder stops at this error, and reports no other error. */
class UnmarshalError extends Error {}

interface Found {
  /** The message about the first field with a wrong type. */
  error: string | undefined
  readonly unknown: string[]
  /** The struct in messages, if it is not the struct that contains the field. */
  readonly holder?: string
}

interface Place {
  /** Name of the Go struct that contains the field. */
  readonly holder: string
  /** Names of the fields from the root to this field, without indices, as in Go's messages. */
  readonly names: readonly string[]
  /** Path of the field, including the indices of list items, e.g. `spec.containers[0].image`. The unknown fields have paths of this form. */
  readonly path: string
  readonly found: Found
}

function check(shape: Shape, value: JsonValue, place: Place): void {
  if (value === null || shape === 'any') return
  if (typeof shape === 'string') {
    checkLeaf(shape, value, place)
  } else if (isList(shape)) {
    if (!Array.isArray(value)) return reportWrongType(shape, value, place)
    value.forEach((item, index) => check(shape[0], item, { ...place, path: `${place.path}[${index}]` }))
  } else if ('objectOr' in shape) {
    if (isObject(value)) checkSeparately(shape.objectOr, value, place)
  } else if (!isObject(value)) {
    reportWrongType(shape, value, place)
  } else if ('mapOf' in shape) {
    for (const [key, item] of Object.entries(value))
      if (item !== undefined) check(shape.mapOf, item, { ...place, path: joined(place.path, key) })
  } else {
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      const field = getOwn(shape.fields as unknown as JsonObject, key) as Shape | undefined
      const path = joined(place.path, key)
      if (field === undefined) place.found.unknown.push(path)
      else check(field, item, { holder: shape.type, names: [...place.names, key], path, found: place.found })
    }
  }
}

/**
 * Checks a value that Go decodes with the method `UnmarshalJSON` of its type. This method ignores unknown fields. Its errors name the struct
 * that contains the value (sigs.k8s.io/json/internal/golang/encoding/json: decodeState.addErrorContext).
 */
function checkSeparately(shape: ObjectShape, value: JsonObject, place: Place): void {
  const found: Found = { error: undefined, unknown: [], holder: place.found.holder ?? place.holder }
  check(shape, value, { ...place, found })
  if (found.error !== undefined) throw new UnmarshalError(found.error)
}

function checkLeaf(shape: Exclude<Shape, object>, value: JsonValue, place: Place): void {
  switch (shape) {
    case 'string':
      if (typeof value !== 'string') reportWrongType(shape, value, place)
      break
    case 'bool':
      if (typeof value !== 'boolean') reportWrongType(shape, value, place)
      break
    case 'int32':
    case 'int64':
      if (!isInteger(value, shape)) reportWrongType(shape, value, place)
      break
    case 'float64':
      if (typeof value !== 'number' && typeof value !== 'bigint') reportWrongType(shape, value, place)
      break
    case 'intOrString':
      if (typeof value !== 'string' && !isInteger(value, 'int32')) throw new UnmarshalError(wrongType('int32', value, place))
      break
    case 'quantity':
      if (parseQuantity(value) === undefined) throw new UnmarshalError(invalidQuantity)
      break
    case 'bytes':
      if (typeof value !== 'string') reportWrongType(shape, value, place)
      else place.found.error ??= base64Problem(value)
      break
    case 'time':
    case 'microTime': {
      if (typeof value !== 'string') throw new UnmarshalError(wrongType('string', value, place))
      const time = shape === 'time' ? parseZonedTime(value) : parseMicroTime(value)
      if (typeof time === 'string') throw new UnmarshalError(time)
      break
    }
    case 'any':
      break
  }
}

/**
 * Returns true for a number that fits into the type. 2^63 also counts as an int64, because JavaScript rounds the largest int64, 2^63 - 1,
 * to 2^63.
 */
function isInteger(value: JsonValue, type: 'int32' | 'int64'): boolean {
  if (typeof value === 'bigint') return type === 'int64'
  if (typeof value !== 'number' || !Number.isInteger(value)) return false
  return type === 'int32' ? value >= -(2 ** 31) && value < 2 ** 31 : Math.abs(value) <= 2 ** 63
}

function reportWrongType(shape: Shape, value: JsonValue, place: Place): void {
  place.found.error ??= wrongType(shape, value, place)
}

function wrongType(shape: Shape, value: JsonValue, { holder, names, found }: Place): string {
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const number = isNumber && (shape === 'int32' || shape === 'int64') ? ` ${value}` : ''
  const target = names.length === 0 ? 'value' : `struct field ${[found.holder ?? holder, ...names].join('.')}`
  return `json: cannot unmarshal ${goKindOf(value)}${number} into Go ${target} of type ${goType(shape)}`
}

function goType(shape: Shape): string {
  if (shape === 'bytes') return '[]uint8'
  if (typeof shape === 'string') return shape
  if (isList(shape)) return `[]${goType(shape[0])}`
  if ('objectOr' in shape) return goType(shape.objectOr)
  return 'mapOf' in shape ? `map[string]${goType(shape.mapOf)}` : `v1.${shape.type}`
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
