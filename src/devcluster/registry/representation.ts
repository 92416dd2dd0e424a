/** Objects in the version in which they are stored, and in the version in which they are asked for. */
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { asGo } from '../types/go-value.ts'

/**
 * Converts between versions as the conversion strategy `None` does: only `apiVersion` differs.
 * What is shown of one stored object is made once, so that all watchers share it.
 */
export class Representation {
  readonly #shown = new WeakMap<ResourceInfo, WeakMap<JsonObject, JsonObject>>()

  /** A stored object as the version of `info` shows it. */
  present(info: ResourceInfo, stored: JsonObject): JsonObject {
    let shown = this.#shown.get(info)
    if (shown === undefined) {
      shown = new WeakMap()
      this.#shown.set(info, shown)
    }
    let object = shown.get(stored)
    if (object === undefined) {
      if (info.conversion !== undefined) {
        const shownAs = deepFreeze(info.conversion.fromStorage(stored))
        shown.set(stored, shownAs)
        return shownAs
      }
      const apiVersion = apiVersionOf(info)
      const read = asStored(info, stored)
      object = deepFreeze(read.apiVersion === apiVersion ? read : converted(info.schema, { ...read, apiVersion }))
      shown.set(stored, object)
    }
    return object
  }

  /** An object in the version of `info` as it is stored. */
  toStorage(info: ResourceInfo, given: JsonObject): JsonObject {
    const object = info.goType === undefined ? given : asGo(info.goType, given)
    if (info.conversion !== undefined) return info.conversion.toStorage(object)
    const apiVersion = apiVersionOf({ group: info.group, version: info.storageVersion })
    return object.apiVersion === apiVersion ? object : converted(info.schemaOf?.(info.storageVersion), { ...object, apiVersion })
  }
}

/** Between versions, what the other one does not know is lost. */
function converted(schema: CompiledSchema | undefined, object: JsonObject): JsonObject {
  return schema?.convert(object) ?? object
}

/** What is read is pruned and gets its defaults by the schema of the version in which it is stored, as that is now. */
function asStored(info: ResourceInfo, stored: JsonObject): JsonObject {
  const version = typeof stored.apiVersion === 'string' ? parseApiVersion(stored.apiVersion).version : info.version
  const schema = info.schemaOf === undefined ? info.schema : info.schemaOf(version)
  return schema === undefined ? stored : schema.default(schema.prune(stored).object)
}
