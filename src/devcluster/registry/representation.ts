/** Converts objects between the storage version and the requested version. */
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { inGoOrder } from '../types/go-order.ts'
import { asGo } from '../types/go-value.ts'
import { internalError } from '../apimachinery/status-error.ts'

/** Maximum number of concurrent calls of a conversion webhook for one request. */
const maxConversions = 16

/**
 * Converts objects between versions:
 *
 * - Custom resources are converted by the webhook of their CRD. With the conversion strategy `None`, only `apiVersion` changes. After the
 *   conversion, the fields that the target version does not have are removed.
 * - The few built-in types that need a conversion are converted by the functions in `info.conversion`.
 *
 * The converted form of a stored object is cached, and all watchers share it.
 */
export class Representation {
  readonly #shown = new WeakMap<ResourceInfo, WeakMap<JsonObject, JsonObject>>()

  /** Returns a stored object in the version of `info`. If a webhook converts the type, `prepare` must have been called for the object. */
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
   * Converts stored objects with the conversion webhook, if the type has one, and caches the results. As in kube-apiserver, each call of
   * the webhook converts only one object. With `refresh`, cached objects are converted again. Reads and deletions of a single object set
   * `refresh`.
   *
   * @throws the first error of a conversion.
   */
  async prepare(info: ResourceInfo, stored: readonly JsonObject[], { refresh = false } = {}): Promise<void> {
    const { converter } = info
    if (converter === undefined) return
    const shown = this.#shownOf(info)
    const apiVersion = apiVersionOf(info)
    const waiting = stored.filter((object) => refresh || !shown.has(object)).values()
    const convertAll = async (): Promise<void> => {
      for (const object of waiting) {
        const own = asStored(info, object)
        const here = own.apiVersion === apiVersion ? own : converted(info.schema, await converter.convert(own, apiVersion))
        shown.set(object, deepFreeze(inGoOrder(here, info.goType)))
      }
    }
    await Promise.all(Array.from({ length: Math.min(maxConversions, stored.length) }, convertAll))
  }

  /**
   * Converts a stored object to the version of `info`. If the versions differ and the type has a conversion webhook, the webhook converts
   * the object.
   */
  async show(info: ResourceInfo, stored: JsonObject): Promise<JsonObject> {
    await this.prepare(info, [stored])
    return this.present(info, stored)
  }

  /**
   * Converts an object from the version of `info` to the storage version. The fields of the result have the order of the fields in
   * responses. Therefore, a response needs no reordered copy.
   */
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

/** Removes the fields that the schema of the target version does not have, and the nulls that this schema does not allow. */
function converted(schema: CompiledSchema | undefined, object: JsonObject): JsonObject {
  return schema?.convert(object) ?? object
}

/** Prunes a stored object and applies defaults, with the current schema of the version in which it is stored. */
function asStored(info: ResourceInfo, stored: JsonObject): JsonObject {
  const version = typeof stored.apiVersion === 'string' ? parseApiVersion(stored.apiVersion).version : info.version
  const schema = info.schemaOf === undefined ? info.schema : info.schemaOf(version)
  return schema === undefined ? stored : schema.default(schema.prune(stored).object)
}
