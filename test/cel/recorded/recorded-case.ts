/** A schema with rules, and what the API server said of it and of an object. */
import type { JsonObject } from '../../../src/api/json.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'

export interface RecordedCase {
  readonly name: string
  readonly schema: StructuralSchema
  /** Errors of the definition: `field: reason: message`. */
  readonly definition?: readonly string[]
  readonly object?: JsonObject
  /** What an update replaces. */
  readonly old?: JsonObject
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}
