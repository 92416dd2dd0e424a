/** What the API server demands of schemas of lists that are sets or maps. */
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../api/field-error.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath, keyPath } from './path.ts'
import { isSchema } from './structural-junctors.ts'

const listTypes = ['atomic', 'set', 'map']

export function listErrors(schema: StructuralSchema, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const typePlace = childPath(path, 'x-kubernetes-list-type')
  const errors: FieldError[] = []
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(typePlace, detail) : invalid(typePlace, listType, detail))
  }
  if (listType === undefined) return errors
  if (!listTypes.includes(listType)) errors.push(notSupported(typePlace, listType, listTypes))
  if (schema.type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified'
    errors.push(
      schema.type === undefined ? required(childPath(path, 'type'), detail) : invalid(childPath(path, 'type'), schema.type, detail),
    )
  }
  const { items } = schema
  if (!isSchema(items)) return errors
  const place = childPath(path, 'items')
  if (listType !== 'atomic' && items.nullable === true) {
    errors.push(forbidden(childPath(place, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  if (listType === 'set') errors.push(...setErrors(items, place))
  if (listType === 'map') errors.push(...mapErrors(items, keys, path, place))
  return errors
}

function setErrors(items: StructuralSchema, place: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type']
  const mapType = items['x-kubernetes-map-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(childPath(place, 'x-kubernetes-list-type'), listType, detail)]
  }
  if (items.type === 'object' && mapType !== 'atomic') return [invalid(childPath(place, 'x-kubernetes-map-type'), mapType ?? null, detail)]
  return []
}

function mapErrors(items: StructuralSchema, keys: readonly string[], path: string, place: string): FieldError[] {
  const keysPlace = childPath(path, 'x-kubernetes-list-map-keys')
  if (keys.length === 0) return [required(keysPlace, 'must not be empty if x-kubernetes-list-type is map')]
  if (items.type !== 'object') {
    return [invalid(childPath(place, 'type'), items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map")]
  }
  const errors: FieldError[] = []
  if (new Set(keys).size < keys.length) errors.push(invalid(keysPlace, keys, 'must not contain duplicate entries'))
  for (const key of new Set(keys)) {
    const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined
    const keyPlace = keyPath(childPath(place, 'properties'), key)
    if (property === undefined) {
      errors.push(invalid(keysPlace, keys, 'entries must all be names of item properties'))
      continue
    }
    if (property.type === 'array' || property.type === 'object') {
      errors.push(
        invalid(childPath(keyPlace, 'type'), property.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
      )
    }
    if (property.nullable === true) {
      errors.push(forbidden(childPath(keyPlace, 'nullable'), 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'))
    }
    if (property.default === undefined && items.required?.includes(key) !== true) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push(required(childPath(keyPlace, 'default'), detail))
    }
  }
  return errors
}
