/** A recorded case: a schema with rules, an object, and the API server's errors for the schema and for the object. */
import type { JsonObject } from '../../../src/api/json.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'

export interface RecordedCase {
  readonly name: string
  readonly schema: StructuralSchema
  /** The errors for the CustomResourceDefinition, each as `field: reason: message`. */
  readonly definition?: readonly string[]
  readonly object?: JsonObject
  /** For an update: the stored object that `object` replaces. */
  readonly old?: JsonObject
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}
