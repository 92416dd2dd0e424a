/** Returns CEL values for JSON data that has no schema, for example for the objects of match conditions. */
import type { JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { isInt64, toInt } from './integers.ts'
import type { Value } from './values.ts'
import { Double, ListValue, MapValue } from './values.ts'

export class DynamicList extends ListValue {
  readonly data: readonly JsonValue[]
  constructor(data: readonly JsonValue[]) {
    super()
    this.data = data
  }
  get size(): number {
    return this.data.length
  }
  at(index: number): Value {
    return dynamicValue(this.data[index]!)
  }
}

export class DynamicMap extends MapValue {
  readonly data: { [key: string]: JsonValue | undefined }
  constructor(data: { [key: string]: JsonValue | undefined }) {
    super()
    this.data = data
  }
  get size(): number {
    return this.keys().length
  }
  find(key: Value): Value | undefined {
    const value = typeof key === 'string' ? getOwn(this.data, key) : undefined
    return value === undefined ? undefined : dynamicValue(value)
  }
  keys(): readonly string[] {
    return Object.keys(this.data).filter((key) => this.data[key] !== undefined)
  }
}

export function dynamicValue(data: JsonValue): Value {
  if (Array.isArray(data)) return new DynamicList(data)
  if (isObject(data)) return new DynamicMap(data)
  if (typeof data !== 'number' || Number.isSafeInteger(data)) return data
  return isInt64(data) ? toInt(BigInt(data)) : new Double(data)
}
