/** Converts a custom resource between the versions of its type. */
import type { JsonObject } from '../../api/json.ts'

export interface Converter {
  /**
   * Converts an object to `apiVersion`. If the object already has this apiVersion, resolves with the same object. Rejects with a
   * `StatusError` 500 when the conversion fails.
   */
  convert(object: JsonObject, apiVersion: string): Promise<JsonObject>
}
