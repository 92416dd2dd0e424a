/** CEL values for JSON with a schema. Items and fields are converted when they are read. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, jsonEqual } from '../../api/json.ts'
import type { DataType } from './data-type.ts'
import { DynamicList, DynamicMap } from './dynamic-value.ts'
import { unescapeIdentifier } from './escape.ts'
import { noSuchOverload } from './errors.ts'
import type { ListSemantics, Value } from './values.ts'
import { Double, ListValue, MapValue, OpaqueValue } from './values.ts'

export class SchemaList extends ListValue {
  readonly data: readonly JsonValue[]
  readonly item: DataType
  /** Keys of the items of a set; undefined until `ownKeys` in list-identity.ts computes them. */
  keys: string[] | undefined
  constructor(data: readonly JsonValue[], item: DataType, semantics: ListSemantics) {
    super(semantics)
    this.data = data
    this.item = item
    this.keys = undefined
  }
  get size(): number {
    return this.data.length
  }
  at(index: number): Value {
    return this.item(this.data[index]!)
  }
}

/** An object whose schema has `additionalProperties`: all its values have the same schema. */
export class SchemaMap extends MapValue {
  readonly data: JsonObject
  readonly value: DataType
  #keys: readonly string[] | undefined
  constructor(data: JsonObject, value: DataType) {
    super()
    this.data = data
    this.value = value
  }
  get size(): number {
    return this.keys().length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') throw noSuchOverload()
    const value = getOwn(this.data, key)
    return value === undefined ? undefined : this.value(value)
  }
  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.data))
  }
}

/** An object whose schema has `properties`, or neither `properties` nor `additionalProperties`. A field that is null counts as absent. */
export class SchemaObject extends MapValue {
  readonly data: JsonObject
  /** The properties that the schema declares, keyed by unescaped name. */
  readonly fields: ReadonlyMap<string, DataType>
  /** The maps that have been read from fields. They are reused, because each map caches its keys. */
  maps: Map<string, SchemaMap> | undefined
  constructor(data: JsonObject, fields: ReadonlyMap<string, DataType>) {
    super()
    this.data = data
    this.fields = fields
    this.maps = undefined
  }
  get size(): number {
    return Object.keys(this.data).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') throw noSuchOverload()
    return fieldReader(key)(this)
  }
  keys(): readonly Value[] {
    return Object.keys(this.data).filter((name) => this.fields.has(name))
  }
  unknownFields(): readonly string[] {
    return Object.keys(this.data).filter((name) => !this.fields.has(name))
  }
}

/**
 * A value that has no schema because of `x-kubernetes-preserve-unknown-fields`. Expressions can only compare it for equality
 * (`k8s.io/apiserver/pkg/cel/common: unknownPreserved`).
 */
export class PreservedValue extends OpaqueValue {
  readonly typeName = 'unknown'
  readonly data: JsonValue
  constructor(data: JsonValue) {
    super()
    this.data = data
  }
  equals(other: OpaqueValue): boolean {
    return this.isData(other)
  }
  /** Returns true when `value` has the same JSON data as this `PreservedValue`. `value` may have any CEL type. */
  isData(value: Value): boolean {
    const data = dataOf(value)
    return data !== undefined && jsonEqual(this.data, data)
  }
}

/** Returns the JSON data of a CEL value; undefined for a value that has no JSON data. */
function dataOf(value: Value): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof PreservedValue || value instanceof SchemaList || value instanceof SchemaMap || value instanceof SchemaObject) {
    return value.data as JsonValue
  }
  if (value instanceof DynamicList || value instanceof DynamicMap) return value.data as JsonValue
  // A CEL double without a fraction equals no JSON number. In Go, the double is a float64, but a JSON number of the same value is an int64,
  // and an int64 never equals a float64.
  return value instanceof Double && !Number.isInteger(value.value) ? value.value : undefined
}

/**
 * Returns a function that reads a field of an object. Each selection in an expression has its own function, which caches the `DataType` of
 * the field.
 */
export function fieldReader(escaped: string): (object: SchemaObject) => Value | undefined {
  const name = unescapeIdentifier(escaped)
  if (name === undefined) return () => undefined
  // Every JavaScript object inherits the properties of `Object.prototype`, such as `constructor`. If the field has the name of such a
  // property, the field is read with `getOwn`, which ignores inherited properties.
  const isInherited = name in Object.prototype
  let fields: ReadonlyMap<string, DataType> | undefined
  let type: DataType | undefined
  return (object) => {
    // The `DataType` of the field is cached, because a selection nearly always reads objects of the same schema.
    if (object.fields !== fields) {
      fields = object.fields
      type = fields.get(name)
    }
    const value = isInherited ? getOwn(object.data, name) : object.data[name]
    if (type === undefined || value === undefined || value === null) return undefined
    const known = object.maps?.get(name)
    if (known !== undefined) return known
    const found = type(value)
    if (found instanceof SchemaMap) (object.maps ??= new Map<string, SchemaMap>()).set(name, found)
    return found
  }
}

export function fieldTester(escaped: string): (object: SchemaObject) => boolean {
  const name = unescapeIdentifier(escaped)
  return ({ data, fields }) => {
    const value = name === undefined ? undefined : getOwn(data, name)
    return value !== undefined && value !== null && fields.has(name!)
  }
}
