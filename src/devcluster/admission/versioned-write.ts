/** Converts the objects of a request to the version that a webhook's rules match. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { StatusError, internalError } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { asGo } from '../types/go-value.ts'
import type { AdmissionAttributes } from './admission.ts'

export interface VersionedWrite {
  readonly attributes: AdmissionAttributes
  /** The type in the version that the webhook's rules match. */
  readonly info: ResourceInfo
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/**
 * Returns a function that converts the objects of a request to another version of their type, and caches the result for each version. The
 * function throws a `StatusError` with code 500 when the conversion webhook fails.
 */
export function versionsOf(attributes: AdmissionAttributes): (info: ResourceInfo) => Promise<VersionedWrite> {
  const known = new Map<ResourceInfo, Promise<VersionedWrite>>()
  const convert = async (info: ResourceInfo): Promise<VersionedWrite> => {
    const sent = (object: JsonObject | undefined): Promise<JsonObject | undefined> => asSent(object, info, attributes.info)
    return { attributes, info, object: await sent(attributes.object), oldObject: await sent(attributes.oldObject) }
  }
  return (info) => {
    const write = known.get(info) ?? convert(info)
    known.set(info, write)
    return write
  }
}

/**
 * Converts a patched object from the version of the admission webhook back to the version of the request, and applies defaults:
 *
 * - If a conversion webhook converts the object, the defaults of the admission webhook's version are applied before the conversion.
 *   `redefault` is not called.
 * - Otherwise, `redefault` is called after the conversion.
 *
 * @param redefault applies the defaults of the request's version.
 */
export async function fromVersion(
  patched: JsonObject,
  { info, attributes }: VersionedWrite,
  redefault: (object: JsonObject) => JsonObject,
): Promise<JsonObject> {
  if (info.converter === undefined || info.version === attributes.info.version)
    return redefault((await inVersion(patched, attributes.info, info))!)
  return (await inVersion(info.schema?.default(patched) ?? patched, attributes.info, info))!
}

/**
 * Returns the object as it is sent to a webhook, in the version that the webhook's rules match. For a type with `distinguishesEmptyLists`,
 * the decoded object can contain empty lists that Go omits from JSON. These lists are removed.
 */
async function asSent(object: JsonObject | undefined, info: ResourceInfo, from: ResourceInfo): Promise<JsonObject | undefined> {
  const encoded =
    object === undefined || from.goType === undefined || from.strategy.distinguishesEmptyLists !== true ? object : asGo(from.goType, object)
  return inVersion(encoded, info, from)
}

/**
 * Converts an object of the type `from` to the version of `info`. With the conversion strategy None, only the apiVersion changes. An object
 * of any other type, such as Scale, is returned unchanged.
 */
async function inVersion(object: JsonObject | undefined, info: ResourceInfo, from: ResourceInfo): Promise<JsonObject | undefined> {
  if (object === undefined || info.version === from.version || object.apiVersion !== apiVersionOf(from)) return object
  const apiVersion = apiVersionOf(info)
  if (from.converter === undefined) return { ...object, apiVersion }
  try {
    return await from.converter.convert(object, apiVersion)
  } catch (error) {
    throw error instanceof StatusError ? internalError(error.message) : error
  }
}
