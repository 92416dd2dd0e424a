/** JSON with a schema as CEL values. Values are converted when they are read. */
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
  /** Keys of the items of a set; undefined until they are computed. See list-identity.ts. */
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

/** An object with `additionalProperties`: all its values have the same schema. */
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

/** An object with declared properties. A null field counts as absent. */
export class SchemaObject extends MapValue {
  readonly data: JsonObject
  /** The properties that the schema declares, keyed by unescaped name. */
  readonly fields: ReadonlyMap<string, DataType>
  /** Maps that were read from fields. They are kept, because each caches its keys. */
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
 * Data without a schema, kept by `x-kubernetes-preserve-unknown-fields`. It supports only equality
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
  /** Returns true when a value of any type has equal data. */
  isData(value: Value): boolean {
    const data = dataOf(value)
    return data !== undefined && jsonEqual(this.data, data)
  }
}

/** Returns the JSON data of a value; undefined for a value that has none. */
function dataOf(value: Value): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  if (value instanceof PreservedValue || value instanceof SchemaList || value instanceof SchemaMap || value instanceof SchemaObject) {
    return value.data as JsonValue
  }
  if (value instanceof DynamicList || value instanceof DynamicMap) return value.data as JsonValue
  // An integral float equals no JSON data: Go would compare its float64 with an int64.
  return value instanceof Double && !Number.isInteger(value.value) ? value.value : undefined
}

/** Returns a reader for a field, by its escaped name. Each selection in an expression creates its own reader. */
export function fieldReader(escaped: string): (object: SchemaObject) => Value | undefined {
  const name = unescapeIdentifier(escaped)
  if (name === undefined) return () => undefined
  // Names such as `constructor` are found in every object through its prototype.
  const isInherited = name in Object.prototype
  let fields: ReadonlyMap<string, DataType> | undefined
  let type: DataType | undefined
  return (object) => {
    // The schema is cached: a selection nearly always sees objects of the same schema.
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
