/** Checks the JSON types of a built-in object's fields, with the errors of Go's decoder. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { ObjectShape, Shape } from './resource-info.ts'

export interface ShapeResult {
  /** The first wrong type, as Go says it. */
  readonly error?: string
  /** Paths of fields that the shape does not name. */
  readonly unknown: readonly string[]
}

const string = 'string'
const strings = { mapOf: string } as const

/** `meta/v1 ObjectMeta`. */
export const objectMetaShape: ObjectShape = {
  type: 'ObjectMeta',
  fields: {
    name: string,
    generateName: string,
    namespace: string,
    selfLink: string,
    uid: string,
    resourceVersion: string,
    generation: 'int64',
    creationTimestamp: string,
    deletionTimestamp: string,
    deletionGracePeriodSeconds: 'int64',
    labels: strings,
    annotations: strings,
    ownerReferences: [
      {
        type: 'OwnerReference',
        fields: { apiVersion: string, kind: string, name: string, uid: string, controller: 'bool', blockOwnerDeletion: 'bool' },
      },
    ],
    finalizers: [string],
    managedFields: [
      {
        type: 'ManagedFieldsEntry',
        fields: {
          manager: string,
          operation: string,
          apiVersion: string,
          time: string,
          fieldsType: string,
          fieldsV1: 'any',
          subresource: string,
        },
      },
    ],
  },
}

/** An object of a kind: its own fields beside apiVersion, kind and metadata. */
export function kindShape(kind: string, fields: ObjectShape['fields']): ObjectShape {
  return { type: kind, fields: { apiVersion: string, kind: string, metadata: objectMetaShape, ...fields } }
}

/** `autoscaling/v1 Scale`. */
export const scaleShape: ObjectShape = kindShape('Scale', {
  spec: { type: 'ScaleSpec', fields: { replicas: 'int32' } },
  status: { type: 'ScaleStatus', fields: { replicas: 'int32', selector: string } },
})

/** Checks metadata alone. `path`: where it stands, empty when it is decoded on its own as that of custom resources is. */
export function checkObjectMetaShape(metadata: JsonObject, path: string): ShapeResult {
  const result = run(objectMetaShape, metadata, 'ObjectMeta', path === '' ? [] : [path])
  return { ...result, unknown: result.unknown.map((field) => (path === '' ? `metadata.${field}` : field)) }
}

/** The value without the fields that the shape does not name; the same value when there are none. */
export function withoutUnknown<Value extends JsonValue>(shape: Shape, value: Value): Value {
  return known(shape, value) as Value
}

function known(shape: Shape, value: JsonValue): JsonValue {
  if (typeof shape === 'string' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    if (!isList(shape)) return value
    const items = value.map((item) => known(shape[0], item))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (isList(shape)) return value
  if ('objectOr' in shape) return known(shape.objectOr, value)
  let copy: JsonObject | undefined
  for (const [key, item] of Object.entries(value)) {
    const field = 'mapOf' in shape ? shape.mapOf : (getOwn(shape.fields as unknown as JsonObject, key) as Shape | undefined)
    const next = field === undefined || item === undefined ? undefined : known(field, item)
    if (next === item) continue
    copy ??= { ...value }
    if (next === undefined) delete copy[key]
    else setOwn(copy, key, next)
  }
  return copy ?? value
}

/** Checks a whole object. */
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
  /** The Go struct that has the field. */
  readonly holder: string
  /** Names of the fields from the root, without indices, as Go writes them. */
  readonly names: readonly string[]
  /** The same with indices, for unknown fields. */
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
    // Go reads such a value apart, and does not tell what is unknown in it.
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

/** What the API server's quantities look like; the text is part of its answer. */
const quantityText = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
const quantityPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/

export function isQuantity(value: JsonValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && quantityPattern.test(value))
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
      if (typeof value !== 'number' || !Number.isInteger(value) || (shape === 'int32' && Math.abs(value) > 2 ** 31 - 1))
        throw wrongType(shape, value, place)
      break
    case 'float64':
      if (typeof value !== 'number') throw wrongType(shape, value, place)
      break
    case 'intOrString':
      if (typeof value !== 'string' && typeof value !== 'number')
        throw new ShapeError(`json: cannot unmarshal ${kindOf(value)} into Go value of type int32`)
      break
    case 'quantity':
      if (!isQuantity(value)) throw new ShapeError(`quantities must match the regular expression '${quantityText}'`)
      break
    case 'any':
      break
  }
}

function wrongType(shape: Shape, value: JsonValue, place: Place): ShapeError {
  const number = typeof value === 'number' && typeof shape === 'string' && shape.startsWith('int') ? ` ${value}` : ''
  const field = [place.holder, ...place.names].join('.')
  return new ShapeError(`json: cannot unmarshal ${kindOf(value)}${number} into Go struct field ${field} of type ${goType(shape)}`)
}

function goType(shape: Shape): string {
  if (typeof shape === 'string') return shape
  if (isList(shape)) return `[]${goType(shape[0])}`
  if ('objectOr' in shape) return goType(shape.objectOr)
  return 'mapOf' in shape ? `map[string]${goType(shape.mapOf)}` : `v1.${shape.type}`
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
