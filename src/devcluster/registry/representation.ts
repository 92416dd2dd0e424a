/** Objects in the version in which they are stored, and in the version in which they are asked for. */
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { inGoOrder } from '../types/go-order.ts'
import { asGo } from '../types/go-value.ts'
import { internalError } from './status-error.ts'

/** So many calls of a conversion webhook run at once for one request. */
const maxConversions = 16

/**
 * Converts between versions: as the conversion strategy `None` does, where only `apiVersion` differs, or by a webhook.
 * What is shown of one stored object is made once, so that all watchers share it.
 */
export class Representation {
  readonly #shown = new WeakMap<ResourceInfo, WeakMap<JsonObject, JsonObject>>()

  /** A stored object as the version of `info` shows it; where a webhook converts, after `prepare`. */
  present(info: ResourceInfo, stored: JsonObject): JsonObject {
    const shown = this.#shownOf(info)
    let object = shown.get(stored)
    if (object === undefined) {
      object = deepFreeze(inGoOrder(info.conversion === undefined ? read(info, stored) : info.conversion.fromStorage(stored), info.goType))
      shown.set(stored, object)
    }
    return object
  }

  /**
   * Asks the conversion webhook about stored objects, if the type has one; each has a call of its own, as with the API server.
   * `anew`: also about those of which the answer is known, as a read of one object does. Throws the first error.
   */
  async prepare(info: ResourceInfo, stored: readonly JsonObject[], { anew = false } = {}): Promise<void> {
    const { converter } = info
    if (converter === undefined) return
    const shown = this.#shownOf(info)
    const apiVersion = apiVersionOf(info)
    const waiting = stored.filter((object) => anew || !shown.has(object)).values()
    const convertAll = async (): Promise<void> => {
      for (const object of waiting) {
        const own = asStored(info, object)
        const here = own.apiVersion === apiVersion ? own : converted(info.schema, await converter.convert(own, apiVersion))
        shown.set(object, deepFreeze(inGoOrder(here, info.goType)))
      }
    }
    await Promise.all(Array.from({ length: Math.min(maxConversions, stored.length) }, convertAll))
  }

  /** Both in one. */
  async show(info: ResourceInfo, stored: JsonObject): Promise<JsonObject> {
    await this.prepare(info, [stored])
    return this.present(info, stored)
  }

  /** An object in the version of `info` as it is stored; in the order in which it will be shown, so that nobody needs another one to show it. */
  toStorage(info: ResourceInfo, given: JsonObject): JsonObject | Promise<JsonObject> {
    const object = inGoOrder(info.goType === undefined ? given : asGo(info.goType, given), info.goType)
    if (info.conversion !== undefined) return info.conversion.toStorage(object)
    const apiVersion = apiVersionOf({ group: info.group, version: info.storageVersion })
    if (object.apiVersion === apiVersion) return object
    const schema = info.schemaOf?.(info.storageVersion)
    if (info.converter === undefined) return converted(schema, { ...object, apiVersion })
    return info.converter.convert(object, apiVersion).then((stored) => converted(schema, stored))
  }

  #shownOf(info: ResourceInfo): WeakMap<JsonObject, JsonObject> {
    let shown = this.#shown.get(info)
    if (shown === undefined) {
      shown = new WeakMap()
      this.#shown.set(info, shown)
    }
    return shown
  }
}

function read(info: ResourceInfo, stored: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(info)
  const object = asStored(info, stored)
  if (object.apiVersion === apiVersion) return object
  if (info.converter !== undefined) throw internalError('the object has not been converted')
  return converted(info.schema, { ...object, apiVersion })
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
