/**
 * Puts fields into the order in which Go encodes them. The fields of a struct have the order of their declaration. The keys of a map are
 * sorted. Integer keys such as `"1"` are an exception: JavaScript puts integer keys first in every object.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, setOwn } from '../../api/json.ts'
import type { GoType, StructType } from './go-types.ts'

/**
 * Returns the value with its fields in Go's order. If the fields already have this order, returns the same value. Without a Go type, all
 * keys are sorted, as for a custom resource.
 */
export function inGoOrder<Value extends JsonValue>(value: Value, type: GoType | undefined): Value {
  return ordered(value, type ?? everything) as Value
}

type Order = GoType | typeof everything
/** The order for a value without a Go type: the keys of all objects in the value are sorted. */
const everything = { kind: 'everything' } as const

function ordered(value: JsonValue, type: Order): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const item = type.kind === 'list' ? type.item : type
    const items = value.map((one) => ordered(one, item))
    return items.some((one, index) => one !== value[index]) ? items : value
  }
  if (!isObject(value)) return value
  switch (type.kind) {
    case 'struct':
      return orderedStruct(value, type)
    case 'structOr':
      return orderedStruct(value, type.struct)
    case 'map':
      return withKeys(value, Object.keys(value).sort(), () => type.value)
    case 'everything':
      return withKeys(value, Object.keys(value).sort(), () => everything)
    default:
      return value
  }
}

function orderedStruct(value: JsonObject, { fields }: StructType): JsonObject {
  const declared: string[] = []
  for (const name of fields.keys()) if (Object.hasOwn(value, name)) declared.push(name)
  // Unknown fields come last.
  const keys = Object.keys(value)
  const names = declared.length === keys.length ? declared : [...declared, ...keys.filter((key) => !fields.has(key))]
  return withKeys(value, names, (name) => fields.get(name)?.type ?? everything)
}

/** Returns the object with its keys in the order of `names`. If neither the order nor the values change, returns the same object. */
function withKeys(value: JsonObject, names: readonly string[], typeOf: (name: string) => Order): JsonObject {
  const keys = Object.keys(value)
  let isSame = true
  const items = names.map((name, index) => {
    const given = value[name]
    const item = given === undefined ? undefined : ordered(given, typeOf(name))
    if (name !== keys[index] || item !== given) isSame = false
    return item
  })
  if (isSame) return value
  const copy: JsonObject = {}
  names.forEach((name, index) => {
    if (items[index] !== undefined) setOwn(copy, name, items[index])
  })
  return copy
}
