/**
 * Correlates the values of an updated object with those of the old object (`k8s.io/apiserver/pkg/cel/common: equality.go,
 * CorrelatedObject`). Ratcheting needs the old values: if an update does not change a value, the errors of the value become warnings.
 */
import type { JsonValue } from '../api/json.ts'
import { getOwn, isObject, jsonEqual, stringifyJson } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'

/**
 * Finds items of the old list by their keys (`k8s.io/apiserver/pkg/cel/common: maplist.go`). If the list is of type `map`, the old value of
 * an item is the item of the old list with the same values in the key fields. In lists of other types, items have no old value.
 */
export class KeyedItems {
  readonly #keys: readonly string[]
  readonly #items = new Map<string, JsonValue>()
  constructor(schema: StructuralSchema, items: readonly JsonValue[]) {
    this.#keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []
    if (this.#keys.length === 0) return
    for (const item of items) {
      const key = this.#keyOf(item)
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item)
    }
  }
  find(item: JsonValue): JsonValue | undefined {
    const key = this.#items.size === 0 ? undefined : this.#keyOf(item)
    return key === undefined ? undefined : this.#items.get(key)
  }
  #keyOf(item: JsonValue): string | undefined {
    if (!isObject(item)) return undefined
    const values = this.#keys.map((key) => getOwn(item, key))
    if (values.some((value) => value === undefined || typeof value === 'object')) return undefined
    return stringifyJson(values)
  }
}

/** A value of the updated object and the corresponding value of the old object. */
export class Correlation {
  readonly #schema: StructuralSchema
  readonly #value: JsonValue
  readonly #old: JsonValue
  #items: KeyedItems | undefined
  #equal: boolean | undefined

  constructor(schema: StructuralSchema, value: JsonValue, old: JsonValue) {
    this.#schema = schema
    this.#value = value
    this.#old = old
  }

  /**
   * True if the update does not change the value. An object with a field that the schema does not describe counts as changed. A list that
   * is not of type `map` counts as unchanged if its JSON has not changed, even if an item has a field that the schema does not describe.
   */
  get isUnchanged(): boolean {
    if (this.#equal !== undefined) return this.#equal
    try {
      this.#equal = this.#compare()
    } catch (error) {
      // A RangeError means that the comparison has exhausted the stack, because the value is nested deeply. The value then counts as
      // changed.
      if (!(error instanceof RangeError)) throw error
      this.#equal = false
    }
    return this.#equal
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old]
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false
      const isKeyed = this.#schema['x-kubernetes-list-type'] === 'map'
      return isKeyed ? value.every((_, index) => this.item(index)?.isUnchanged === true) : jsonEqual(value, old)
    }
    if (!isObject(value) || !isObject(old)) return jsonEqual(value, old)
    const names = Object.keys(value)
    return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isUnchanged === true)
  }

  field(name: string): Correlation | undefined {
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined
    const [value, old] = [getOwn(this.#value, name), getOwn(this.#old, name)]
    const { properties = {}, additionalProperties } = this.#schema
    const schema = Object.hasOwn(properties, name)
      ? properties[name]
      : typeof additionalProperties === 'object'
        ? additionalProperties
        : undefined
    return value === undefined || old === undefined || schema === undefined ? undefined : new Correlation(schema, value, old)
  }

  item(index: number): Correlation | undefined {
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old) || this.#schema.items === undefined) return undefined
    this.#items ??= new KeyedItems(this.#schema, this.#old)
    const old = this.#items.find(this.#value[index]!)
    return old === undefined ? undefined : new Correlation(this.#schema.items, this.#value[index]!, old)
  }
}

/**
 * The values that determine whether an error becomes a warning (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel:
 * ratchetingOptions`).
 */
export interface Ratchet {
  /** The value and its old value; undefined if the value has no old value. */
  readonly current: Correlation | undefined
  /** The nearest ancestor that has an old value, and the old value of this ancestor. */
  readonly nearestParent: Correlation | undefined
}

export const noRatchet: Ratchet = { current: undefined, nearestParent: undefined }

export function isUnchanged({ current, nearestParent }: Ratchet): boolean {
  return (current ?? nearestParent)?.isUnchanged === true
}

/**
 * Returns the ratchet of a field. The root's fields apiVersion and kind get no old values, so their errors never become warnings.
 * kube-apiserver converts the old object to the version of the new object before the comparison, so the comparison cannot show whether the
 * client has changed these fields.
 */
export function ratchetField(ratchet: Ratchet, name: string): Ratchet {
  const { current, nearestParent } = ratchet
  if (current === undefined) return ratchet
  if (nearestParent === undefined && (name === 'apiVersion' || name === 'kind')) return noRatchet
  return { current: current.field(name), nearestParent: current }
}

export function ratchetItem(ratchet: Ratchet, index: number): Ratchet {
  const { current } = ratchet
  return current === undefined ? ratchet : { current: current.item(index), nearestParent: current }
}
