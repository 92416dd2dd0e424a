/** JSON as its schema describes it, seen as CEL values. Nothing is converted before it is asked for. */
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
  /** What the items of a set are told apart by, once that was asked. */
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

/** An object whose values all have the same schema (`additionalProperties`). */
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

/** An object with fields. One that is null counts as absent. */
export class SchemaObject extends MapValue {
  readonly data: JsonObject
  /** The fields that the schema describes, by their own names. */
  readonly fields: ReadonlyMap<string, DataType>
  /** Maps below, once they were asked for: they know their size then. */
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

/** Data of which the schema says nothing: it can be compared, and nothing else. */
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
  /** Whether a value of any type is of the same data. */
  isData(value: Value): boolean {
    const data = dataOf(value)
    return data !== undefined && jsonEqual(this.data, data)
  }
}

/** What a value was made of; undefined for what does not come from JSON. */
function dataOf(value: Value): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  if (value instanceof PreservedValue || value instanceof SchemaList || value instanceof SchemaMap || value instanceof SchemaObject) {
    return value.data as JsonValue
  }
  if (value instanceof DynamicList || value instanceof DynamicMap) return value.data as JsonValue
  // A whole number is data of another type than a float of the same value.
  return value instanceof Double && !Number.isInteger(value.value) ? value.value : undefined
}

/** Reads a field by the name that expressions know it by: made once for each place that does so. */
export function fieldReader(escaped: string): (object: SchemaObject) => Value | undefined {
  const name = unescapeIdentifier(escaped)
  if (name === undefined) return () => undefined
  // Only these are found in an object that does not have them.
  const isInherited = name in Object.prototype
  let fields: ReadonlyMap<string, DataType> | undefined
  let type: DataType | undefined
  return (object) => {
    // A place nearly always sees objects of one schema.
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
