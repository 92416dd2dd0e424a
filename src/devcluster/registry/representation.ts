/** Objects in the version in which they are stored, and in the version in which they are asked for. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'

/**
 * Converts between versions as the conversion strategy `None` does: only `apiVersion` differs.
 * What is shown of one stored object is made once, so that all watchers share it.
 */
export class Representation {
  readonly #shown = new WeakMap<ResourceInfo, WeakMap<JsonObject, JsonObject>>()

  /** A stored object as the version of `info` shows it, with that version's defaults. */
  present(info: ResourceInfo, stored: JsonObject): JsonObject {
    let shown = this.#shown.get(info)
    if (shown === undefined) {
      shown = new WeakMap()
      this.#shown.set(info, shown)
    }
    let object = shown.get(stored)
    if (object === undefined) {
      const apiVersion = apiVersionOf(info)
      const converted = stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion }
      object = deepFreeze(info.schema?.default(converted) ?? converted)
      shown.set(stored, object)
    }
    return object
  }

  /** An object in the version of `info` as it is stored. */
  toStorage(info: ResourceInfo, object: JsonObject): JsonObject {
    const apiVersion = apiVersionOf({ group: info.group, version: info.storageVersion })
    return object.apiVersion === apiVersion ? object : { ...object, apiVersion }
  }
}
