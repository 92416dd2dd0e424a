/** The JSON of objects as strings, cached because a watch event is sent to many watchers, and an object is part of many lists. */
import { isObject, stringifyJson } from '../../api/json.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Status } from '../../api/status.ts'

export class JsonText {
  /** The JSON of frozen objects. The JSON of other objects is not cached, because they can change. */
  readonly #texts = new WeakMap<object, string>()
  readonly #items = new WeakMap<object, JsonObject>()

  of(object: JsonObject | Status): string {
    const known = this.#texts.get(object)
    if (known !== undefined) return known
    const text = isList(object) ? this.#list(object) : stringifyJson(object)!
    if (Object.isFrozen(object)) this.#texts.set(object, text)
    return text
  }

  /** Returns an object without apiVersion and kind, as in lists of built-in types. */
  asItem(object: JsonObject): JsonObject {
    const known = this.#items.get(object)
    if (known !== undefined) return known
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object
    if (Object.isFrozen(object)) this.#items.set(object, Object.freeze(item))
    return item
  }

  /** Returns a line of a watch stream. */
  event(type: string, object: JsonObject | Status): string {
    return `{"type":${JSON.stringify(type)},"object":${this.of(object)}}\n`
  }

  /** Builds the JSON of a list from the cached JSON of its items. */
  #list(list: JsonObject & { items: unknown[] }): string {
    const items = (): string => `[${list.items.map((item) => (isObject(item) ? this.of(item) : stringifyJson(item))).join(',')}]`
    const fields = Object.entries(list).filter(([, value]) => value !== undefined)
    return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${key === 'items' ? items() : stringifyJson(value)}`).join(',')}}`
  }
}

function isList(object: JsonObject | Status): object is JsonObject & { items: unknown[] } {
  return 'items' in object && Array.isArray(object.items) && typeof object.kind === 'string' && object.kind.endsWith('List')
}
