/** Validates `x-kubernetes-list-type` and `x-kubernetes-list-map-keys` in a schema. */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../api/field-error.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { childPath, keyPath } from '../../api/field-path.ts'
import { wrongType } from './check-openapi.ts'
import { isSchema, ownProperty } from './subschemas.ts'

const listTypes = ['atomic', 'set', 'map']

export function listErrors(schema: StructuralSchema, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type'] ?? undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const typePlace = childPath(path, 'x-kubernetes-list-type')
  const errors: FieldError[] = []
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(typePlace, detail) : invalid(typePlace, listType, detail))
  }
  if (listType === undefined) return errors
  if (!listTypes.includes(listType)) errors.push(notSupported(typePlace, listType, listTypes))
  const place = childPath(path, 'items')
  const items = isSchema(schema.items) ? schema.items : undefined
  if (schema.type !== 'array') errors.push(wrongType(schema, path, 'must be array if x-kubernetes-list-type is specified'))
  else if (listType === 'set' && items !== undefined) errors.push(...setErrors(items, place))
  if (items?.nullable === true && (listType === 'set' || listType === 'map')) {
    errors.push(forbidden(childPath(place, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  if (listType === 'map') errors.push(...mapErrors(items, keys, path, place))
  return errors
}

function setErrors(items: StructuralSchema, place: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(childPath(place, 'x-kubernetes-list-type'), listType, detail)]
  }
  // kube-apiserver reports the value of the list type, although the error is about the map type.
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalid(childPath(place, 'x-kubernetes-map-type'), listType ?? null, detail)]
  }
  return []
}

function mapErrors(items: StructuralSchema | undefined, keys: readonly string[], path: string, place: string): FieldError[] {
  const keysPlace = childPath(path, 'x-kubernetes-list-map-keys')
  const errors: FieldError[] = []
  if (keys.length === 0) errors.push(required(keysPlace, 'must not be empty if x-kubernetes-list-type is map'))
  if (items === undefined) return [...errors, required(place, 'must have a schema if x-kubernetes-list-type is map')]
  if (items.type !== 'object') {
    errors.push(invalid(childPath(place, 'type'), items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map"))
  } else if (new Set(keys).size < keys.length) errors.push(invalid(keysPlace, keys, 'must not contain duplicate entries'))
  for (const key of new Set(keys)) errors.push(...keyErrors(items, key, keys, keysPlace, place))
  return errors
}

function keyErrors(items: StructuralSchema, key: string, keys: readonly string[], keysPlace: string, place: string): FieldError[] {
  const property = ownProperty(items, key)
  const keyPlace = keyPath(childPath(place, 'properties'), key)
  const errors: FieldError[] = []
  if (property === undefined) {
    return items.type === 'object' ? [invalid(keysPlace, keys, 'entries must all be names of item properties')] : []
  }
  if (items.type === 'object' && (property.type === 'array' || property.type === 'object')) {
    // kube-apiserver reports the type of the items, although the error is about the type of the key field.
    errors.push(invalid(childPath(keyPlace, 'type'), items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
  }
  if (property.nullable === true) {
    errors.push(forbidden(childPath(keyPlace, 'nullable'), 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'))
  }
  if ((property.default ?? undefined) === undefined && items.required?.includes(key) !== true) {
    const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
    errors.push(required(childPath(keyPlace, 'default'), detail))
  }
  return errors
}
