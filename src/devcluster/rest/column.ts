/** The columns of a type's tables, for `kubectl get`. */
import type { JsonObject, JsonValue } from '../../api/json.ts'

/** One column. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** Shown only with `-o wide` when greater than 0. */
  readonly priority: number
  cell(object: JsonObject, now: number): JsonValue
}
