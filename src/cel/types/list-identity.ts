/**
 * Computes the keys of list items. If the left operand of `==` or `+` is a list of type `set` or `map`, kube-apiserver identifies the items
 * of both operands by these keys (`k8s.io/apiserver/pkg/cel/common: valuesunstructured.go, getSet, toMapKey`).
 *
 * The key of an item is computed from the JSON data of the item in two cases:
 *
 * - The item belongs to the left operand, and the left operand is a SchemaList.
 * - The item is a SchemaObject, SchemaMap or SchemaList.
 *
 * In all other cases, the key is computed from the CEL value of the item.
 */
import type { JsonValue } from '../../api/json.ts'
import { getOwn, isObject, stringifyJson } from '../../api/json.ts'
import { CelError, EvaluationPanic } from './errors.ts'
import { isInt64 } from './integers.ts'
import { SchemaList, SchemaMap, SchemaObject } from './schema-values.ts'
import type { ListValue, Value } from './values.ts'
import { Double, MapValue } from './values.ts'

/**
 * Returns the keys of the items of `list`, the left operand of a comparison or of `+`. If the list is a set with a schema, the keys are
 * computed once and stored in `list.keys`, as in kube-apiserver (`sync.Once`). In two cases, the stored keys are not exactly the keys of
 * the items:
 *
 * - If the key of an item cannot be computed, the function throws an `EvaluationPanic`, and `list.keys` contains only the keys of the
 *   preceding items. Later calls return these keys.
 * - The operator `+` appends the keys of the items that it takes from the right operand.
 */
export function ownKeys(list: ListValue): string[] {
  if (list instanceof SchemaList && list.semantics === 'set') {
    if (list.keys === undefined) {
      list.keys = []
      for (const item of list.data) list.keys.push(scalarKey(item, true))
    }
    return list.keys
  }
  const { semantics } = list
  return Array.from({ length: list.size }, (_, index) =>
    list instanceof SchemaList ? keyOfData(list.data[index]!, semantics, true) : keyOfValue(list.at(index), semantics, true),
  )
}

/**
 * Returns the keys of the items of `other`, the right operand. The keys have the same format as the keys that `ownKeys` returns. If an item
 * cannot be read because its data does not match its schema, the key of the item is undefined.
 *
 * @param own the keys of the left operand. If Go cannot hash the key of an item, the function throws an `EvaluationPanic` with Go's
 *   message. This message depends on whether `own` is empty.
 */
export function keysFor({ semantics }: ListValue, other: ListValue, own: readonly string[]): (string | undefined)[] {
  return Array.from({ length: other.size }, (_, index) => {
    try {
      return keyOfValue(other.at(index), semantics, own.length > 0)
    } catch (error) {
      if (error instanceof CelError) return undefined
      throw error
    }
  })
}

function keyOfData(data: JsonValue, semantics: ListValue['semantics'], hashed: boolean): string {
  if (!Array.isArray(semantics)) return scalarKey(data, hashed)
  if (!isObject(data)) return 'none'
  return (semantics as readonly string[]).map((key) => stringifyJson(scalarKey(getOwn(data, key) ?? null, hashed))).join()
}

function scalarKey(data: JsonValue, hashed: boolean): string {
  if (typeof data === 'number' || typeof data === 'bigint') return isInt64(data) ? `i${data}` : `f${data}`
  if (typeof data === 'object' && data !== null)
    throw unhashable(Array.isArray(data) ? '[]interface {}' : 'map[string]interface {}', hashed)
  return typeof data === 'string' ? `s${data}` : String(data)
}

function keyOfValue(value: Value, semantics: ListValue['semantics'], hashed: boolean): string {
  if (value instanceof SchemaObject || value instanceof SchemaMap) return keyOfData(value.data, semantics, hashed)
  if (value instanceof SchemaList) return keyOfData([...value.data], semantics, hashed)
  if (Array.isArray(semantics)) {
    if (!(value instanceof MapValue)) return 'none'
    return (semantics as readonly string[]).map((key) => stringifyJson(valueKey(value.find(key) ?? null, hashed))).join()
  }
  return valueKey(value, hashed)
}

function valueKey(value: Value, hashed: boolean): string {
  if (typeof value === 'string') return `s${value}`
  if (typeof value === 'number' || typeof value === 'bigint') return `i${value}`
  if (value instanceof Double) return `f${value.value}`
  if (value instanceof Uint8Array) throw unhashable('[]uint8', hashed)
  return typeof value === 'boolean' ? String(value) : 'other'
}

/**
 * Returns the error for a key that Go cannot hash. Go panics on such a key, and kube-apiserver reports the panic as an error of the rule.
 */
function unhashable(type: string, hashed: boolean): EvaluationPanic {
  return new EvaluationPanic(hashed ? `runtime error: hash of unhashable type ${type}` : `hash of unhashable type: ${type}`)
}
