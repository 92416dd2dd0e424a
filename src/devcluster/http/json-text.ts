/** Makes the JSON of objects, lists and watch events from the JSON that `jsonOf` caches. */
import { isObject, stringifyJson } from '../../api/json.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Status } from '../../api/status.ts'
import { jsonOf } from '../apimachinery/json-of.ts'

export class JsonText {
  readonly #items = new WeakMap<object, JsonObject>()
  /** The objects from which `asItem` has made items, keyed by item. */
  readonly #objects = new WeakMap<object, JsonObject>()
  /**
   * The latest line of a watch stream. The line is cached, because the server sends the same line to several watchers, one after the other.
   */
  #event: { readonly type: string; readonly object: object; readonly line: Buffer } | undefined

  of(object: JsonObject | Status): string {
    return isList(object) ? this.#partsOf(object).join('') : jsonOf(object)
  }

  /** Returns the body of a response: the JSON and a line break. A list is returned as bytes, so that the long text is encoded only once. */
  body(object: JsonObject | Status): string | Buffer {
    return isList(object) ? bytesOf([...this.#partsOf(object), '\n']) : `${this.of(object)}\n`
  }

  /** Returns the object as an item of a list of a built-in type. Such an item has no apiVersion and no kind. */
  asItem(object: JsonObject): JsonObject {
    const known = this.#items.get(object)
    if (known !== undefined) return known
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object
    if (Object.isFrozen(object)) {
      this.#items.set(object, Object.freeze(item))
      this.#objects.set(item, object)
    }
    return item
  }

  /** Returns a line of a watch stream. */
  event(type: string, object: JsonObject | Status): Buffer {
    const last = this.#event
    if (last?.object === object && last.type === type) return last.line
    const line = Buffer.from(`{"type":${JSON.stringify(type)},"object":${this.of(object)}}\n`)
    if (Object.isFrozen(object)) this.#event = { type, object, line }
    return line
  }

  /** Returns the JSON of a list in parts, from the cached JSON of its items. */
  #partsOf(list: JsonObject & { items: unknown[] }): string[] {
    const parts: string[] = []
    for (const [key, value] of Object.entries(list)) {
      if (value === undefined) continue
      parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(key)}:`)
      if (key === 'items') this.#addItems(parts, list.items)
      else parts.push(stringifyJson(value))
    }
    parts.push('}')
    return parts
  }

  #addItems(parts: string[], items: readonly unknown[]): void {
    let start = ''
    let separator = '['
    for (const item of items) {
      const object = isObject(item) ? this.#objects.get(item) : undefined
      const text = object && jsonOf(object)
      if (text !== undefined && (start === '' || !text.startsWith(start))) start = startOf(object!)
      if (text?.startsWith(start) === true) parts.push(`${separator}{`, text.slice(start.length))
      else parts.push(separator, isObject(item) ? this.of(item) : stringifyJson(item)!)
      separator = ','
    }
    parts.push(items.length === 0 ? '[]' : ']')
  }
}

/**
 * Returns the beginning of an object's JSON: kind and apiVersion. In a list of a built-in type, items have neither, so `{` replaces this
 * beginning.
 */
function startOf({ kind, apiVersion }: JsonObject): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`
}

/** Encodes the parts of a text one by one. It would take five times as long to join the parts first and then encode the joined string. */
function bytesOf(parts: readonly string[]): Buffer {
  let length = 0
  for (const part of parts) length += Buffer.byteLength(part)
  // The buffer has separate memory, outside of the pool of Node.js, so that `respond` can free this memory.
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const part of parts) at += bytes.write(part, at)
  return bytes
}

function isList(object: JsonObject | Status): object is JsonObject & { items: unknown[] } {
  return 'items' in object && Array.isArray(object.items) && typeof object.kind === 'string' && object.kind.endsWith('List')
}
