/** A schema with rules, an object, and the errors of the API server for both. */
import type { JsonObject } from '../../../src/api/json.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'

export interface RecordedCase {
  readonly name: string
  readonly schema: StructuralSchema
  /** Errors of the CRD as `field: reason: message`. */
  readonly definition?: readonly string[]
  readonly object?: JsonObject
  /** The old object of an update. */
  readonly old?: JsonObject
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}
