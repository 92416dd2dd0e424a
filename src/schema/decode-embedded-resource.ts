/**
 * Decodes embedded resources. Their apiVersion and kind must be strings, and their metadata is decoded as ObjectMeta
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta: CoerceWithOptions`).
 */
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from '../api/json.ts'
import { decodeObjectMeta } from '../api/object-meta-json.ts'
import type { SchemaNode } from './node.ts'
import { childPath, fieldChildPath, indexPath, keyPath } from '../api/field-path.ts'

type Node = Pick<SchemaNode, 'properties' | 'additional' | 'items' | 'embeddedResource'>

export interface Coerced<Value extends JsonValue> {
  /** The decoded value. If decoding changed nothing, this is the input value itself and not a copy. */
  readonly value: Value
  /** Sorted paths of unknown fields in the metadata of embedded resources. */
  readonly unknown: readonly string[]
  /** The first error of decoding; undefined if kube-apiserver can decode the value. */
  readonly error: FieldError | undefined
}

/**
 * Decodes the embedded resources of a value.
 *
 * @param dropsNulls true for a custom resource, false for a default in a schema. If true, a null in a field that is not nullable and has no
 *   default counts as an absent field, because defaulting later removes the null. If false, a null is decoded like any other value.
 */
export function coerceResources<Value extends JsonValue>(node: Node, value: Value, dropsNulls = true): Coerced<Value> {
  const coercer = new Coercer(dropsNulls)
  const result = coercer.value(node, value, '')
  return { value: result as Value, unknown: coercer.unknown.sort(), error: coercer.error }
}

/** Returns true if a value of the schema can contain an embedded resource. */
export function holdsResources(node: SchemaNode): boolean {
  const children = [...node.properties.values(), node.items, node.additional]
  return node.embeddedResource || children.some((child) => typeof child === 'object' && holdsResources(child))
}

class Coercer {
  readonly unknown: string[] = []
  error: FieldError | undefined
  readonly #dropsNulls: boolean

  constructor(dropsNulls: boolean) {
    this.#dropsNulls = dropsNulls
  }

  value(node: Node, value: JsonValue, path: string): JsonValue {
    if (Array.isArray(value)) return this.#list(node, value, path)
    return isObject(value) ? this.#object(node, value, path) : value
  }

  #list({ items }: Node, list: JsonValue[], path: string): JsonValue[] {
    if (items === undefined) return list
    const next = list.map((item, index) => this.value(items, item, indexPath(path, index)))
    return next.every((item, index) => item === list[index]) ? list : next
  }

  #object(node: Node, object: JsonObject, path: string): JsonObject {
    let result = node.embeddedResource ? this.#resource(node, object, path) : object
    for (const key of Object.keys(object)) {
      const own = node.properties.get(key)
      const child = own ?? (typeof node.additional === 'object' ? node.additional : undefined)
      const value = getOwn(result, key)
      if (child === undefined || value === undefined) continue
      const next = this.value(child, value, own === undefined ? keyPath(path, key) : fieldChildPath(path, key))
      if (next !== value) result = withField(result, key, next)
    }
    return result
  }

  #resource(node: Node, object: JsonObject, path: string): JsonObject {
    for (const key of ['apiVersion', 'kind']) {
      const value = getOwn(object, key)
      if (value === undefined || typeof value === 'string' || this.#isDropped(node, key, value)) continue
      this.error ??= invalid(childPath(path, key), value, 'must be a string')
    }
    const metadata = getOwn(object, 'metadata')
    if (metadata === undefined || this.#isDropped(node, 'metadata', metadata)) return object
    const decoded = decodeObjectMeta(metadata)
    if (decoded.error !== undefined) this.error ??= invalid(childPath(path, 'metadata'), metadata, decoded.error)
    this.unknown.push(...decoded.unknown.map((name) => `${childPath(path, 'metadata')}.${name}`))
    return decoded.error !== undefined || jsonEqual(decoded.metadata, metadata) ? object : withField(object, 'metadata', decoded.metadata)
  }

  #isDropped(node: Node, key: string, value: JsonValue): boolean {
    const child = node.properties.get(key)
    return this.#dropsNulls && value === null && child !== undefined && !child.nullable && child.default === undefined
  }
}

function withField(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const copy = { ...object }
  setOwn(copy, key, value)
  return copy
}
