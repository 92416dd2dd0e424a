/**
 * Runs synchronous computations that need an object in several versions. A webhook converts objects asynchronously, and a synchronous
 * computation cannot wait for the webhook. If a computation needs a conversion, the computation is therefore aborted, and repeated after
 * the conversion.
 */
import type { JsonObject } from '../../api/json.ts'
import { canonicalJson } from '../../api/json.ts'
import type { Converter } from '../rest/converter.ts'

/** Returns the object in another version of its type. */
export type VersionView = (object: JsonObject, apiVersion: string) => JsonObject

class Unconverted extends Error {
  readonly key: string
  readonly object: JsonObject
  readonly apiVersion: string
  constructor(key: string, object: JsonObject, apiVersion: string) {
    super('not converted yet')
    this.key = key
    this.object = object
    this.apiVersion = apiVersion
  }
}

/**
 * Runs a computation that calls `view` to convert objects. If a conversion is not cached, the computation is aborted, and runs again after
 * the conversion has finished. `compute` must therefore have no side effects.
 */
export async function acrossVersions<Result>(converter: Converter, compute: (view: VersionView) => Result): Promise<Result> {
  const known = new Map<string, JsonObject>()
  const view: VersionView = (object, apiVersion) => {
    if (object.apiVersion === apiVersion) return object
    const key = `${apiVersion} ${canonicalJson(object)}`
    const converted = known.get(key)
    if (converted === undefined) throw new Unconverted(key, object, apiVersion)
    return converted
  }
  for (;;) {
    try {
      return compute(view)
    } catch (error) {
      if (!(error instanceof Unconverted)) throw error
      known.set(error.key, await converter.convert(error.object, error.apiVersion))
    }
  }
}
