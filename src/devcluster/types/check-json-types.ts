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
  /** Go's message for the first field with a wrong type. */
  readonly error?: string
  /** Paths of unknown fields. */
  readonly unknown: readonly string[]
}

export function checkShape(shape: Shape, object: JsonObject): ShapeResult {
  return run(shape, object, '', [])
}

class ShapeError extends Error {}

function run(shape: Shape, value: JsonValue, holder: string, names: readonly string[]): ShapeResult {
  const unknown: string[] = []
  try {
    check(shape, value, { holder, names, path: names.join('.'), unknown })
    return { unknown }
  } catch (error) {
    if (error instanceof ShapeError) return { error: error.message, unknown }
    throw error
  }
}

interface Place {
  /** Name of the Go struct that contains the field. */
  readonly holder: string
  /** Names of the fields from the root to this field, without indices, as in Go's messages. */
  readonly names: readonly string[]
  /** Path of the field, including the indices of list items, e.g. `spec.containers[0].image`. The paths in `unknown` have the same form. */
  readonly path: string
  readonly unknown: string[]
}

function check(shape: Shape, value: JsonValue, place: Place): void {
  if (value === null || shape === 'any') return
  if (typeof shape === 'string') {
    checkLeaf(shape, value, place)
  } else if (isList(shape)) {
    if (!Array.isArray(value)) throw wrongType(shape, value, place)
    value.forEach((item, index) => check(shape[0], item, { ...place, path: `${place.path}[${index}]` }))
  } else if ('objectOr' in shape) {
    // Go decodes a value of this shape with the `UnmarshalJSON` method of its type. This method ignores unknown fields.
    if (isObject(value)) check(shape.objectOr, value, { ...place, unknown: [] })
  } else if (!isObject(value)) {
    throw wrongType(shape, value, place)
  } else if ('mapOf' in shape) {
    for (const [key, item] of Object.entries(value))
      if (item !== undefined) check(shape.mapOf, item, { ...place, path: joined(place.path, key) })
  } else {
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      const field = getOwn(shape.fields as unknown as JsonObject, key) as Shape | undefined
      const path = joined(place.path, key)
      if (field === undefined) place.unknown.push(path)
      else check(field, item, { holder: shape.type, names: [...place.names, key], path, unknown: place.unknown })
    }
  }
}

function checkLeaf(shape: Exclude<Shape, object>, value: JsonValue, place: Place): void {
  switch (shape) {
    case 'string':
      if (typeof value !== 'string') throw wrongType(shape, value, place)
      break
    case 'bool':
      if (typeof value !== 'boolean') throw wrongType(shape, value, place)
      break
    case 'int32':
    case 'int64':
      if (typeof value === 'bigint' && shape === 'int64') break
      if (typeof value !== 'number' || !isInteger(value, shape)) throw wrongType(shape, value, place)
      break
    case 'float64':
      if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongType(shape, value, place)
      break
    case 'intOrString':
      if (typeof value !== 'string' && typeof value !== 'number')
        throw new ShapeError(`json: cannot unmarshal ${goKindOf(value)} into Go value of type int32`)
      if (typeof value === 'number' && (value | 0) !== value)
        throw new ShapeError(`json: cannot unmarshal number ${value} into Go value of type int32`)
      break
    case 'quantity':
      if (parseQuantity(value) === undefined) throw new ShapeError(invalidQuantity)
      break
    case 'bytes': {
      if (typeof value !== 'string') throw wrongType(shape, value, place)
      const problem = base64Problem(value)
      if (problem !== undefined) throw new ShapeError(problem)
      break
    }
    case 'time':
    case 'microTime': {
      if (typeof value !== 'string') throw wrongType('string', value, place)
      const time = shape === 'time' ? parseZonedTime(value) : parseMicroTime(value)
      if (typeof time === 'string') throw new ShapeError(time)
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
function isInteger(value: number, type: 'int32' | 'int64'): boolean {
  return Number.isInteger(value) && (type === 'int32' ? value >= -(2 ** 31) && value < 2 ** 31 : Math.abs(value) <= 2 ** 63)
}

function wrongType(shape: Shape, value: JsonValue, place: Place): ShapeError {
  const number = typeof value === 'number' && typeof shape === 'string' && shape.startsWith('int') ? ` ${value}` : ''
  const field = [place.holder, ...place.names].join('.')
  return new ShapeError(`json: cannot unmarshal ${goKindOf(value)}${number} into Go struct field ${field} of type ${goType(shape)}`)
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
