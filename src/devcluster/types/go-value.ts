/**
 * Converts JSON objects in the same way as Go, when Go decodes an object into a struct and then encodes this struct as JSON. The conversion
 * removes unknown fields, and empty fields with `omitempty`. The conversion adds missing fields that Go never omits, such as `spec: {}` or
 * `lastTransitionTime: null`.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { GoField, GoType, StructType } from './go-types.ts'

/**
 * The treatment of empty lists and maps in fields with `omitempty`. `drops` removes them, as Go's encoder does. `keeps` leaves them, as
 * Go's decoder does.
 */
type Empties = 'keeps' | 'drops'

/** Returns the object as Go encodes it. If the encoding changes nothing, returns `object` itself. */
export function asGo(struct: StructType, object: JsonObject): JsonObject {
  return structAs(struct, object, 'drops')
}

/** Returns the object as Go decodes it. Unlike in `asGo`, empty lists and maps are kept. Returns the same object when nothing changes. */
export function asDecoded(struct: StructType, object: JsonObject): JsonObject {
  return structAs(struct, object, 'keeps')
}

function structAs(struct: StructType, object: JsonObject, empties: Empties): JsonObject {
  let copy: JsonObject | undefined
  for (const key of Object.keys(object)) {
    if (struct.fields.has(key)) continue
    copy ??= { ...object }
    delete copy[key]
  }
  for (const [name, field] of struct.fields) {
    const given = getOwn(object, name)
    const value = fieldValue(field, given, empties)
    if (value === given && (value !== undefined || !Object.hasOwn(object, name))) continue
    copy ??= { ...object }
    if (value === undefined) delete copy[name]
    else setOwn(copy, name, value)
  }
  return copy ?? object
}

function fieldValue({ type, pointer, dropsEmpty }: GoField, value: JsonValue | undefined, empties: Empties): JsonValue | undefined {
  if (value === undefined || value === null) return dropsEmpty ? undefined : pointer ? null : zeroValue(type)
  const known = valueAs(type, value, empties)
  return dropsEmpty && !pointer && isEmpty(known, empties) ? undefined : known
}

function isEmpty(value: JsonValue, empties: Empties): boolean {
  if (typeof value === 'object') return value === null || (empties === 'drops' && Object.keys(value).length === 0)
  return value === '' || value === 0 || value === false
}

function valueAs(type: GoType, value: JsonValue, empties: Empties): JsonValue {
  switch (type.kind) {
    case 'struct':
      return isObject(value) ? structAs(type, value, empties) : value
    case 'structOr':
      return isObject(value) ? structAs(type.struct, value, empties) : value
    case 'list': {
      if (!Array.isArray(value)) return value
      const items = value.map((item) => itemAs(type.item, item, empties))
      return items.some((item, index) => item !== value[index]) ? items : value
    }
    case 'map': {
      if (!isObject(value)) return value
      const entries = Object.entries(value).map(([key, item]) => [key, itemAs(type.value, item ?? null, empties)] as const)
      if (entries.every(([key, item]) => item === value[key])) return value
      const copy: JsonObject = {}
      for (const [key, item] of entries) setOwn(copy, key, item)
      return copy
    }
    default:
      return value
  }
}

function itemAs(type: GoType, item: JsonValue, empties: Empties): JsonValue {
  return item === null ? zeroValue(type) : valueAs(type, item, empties)
}

/** Returns the JSON value that Go encodes for a field that is not set. */
function zeroValue(type: GoType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return asGo(type, {})
    case 'scalar':
      return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0
    case 'special':
      if (type.special === 'quantity') return '0'
      return type.special === 'intOrString' ? 0 : type.special === 'duration' ? '0s' : null
    default:
      return null
  }
}
