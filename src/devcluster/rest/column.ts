/** A column of the table that `kubectl get` shows for a type. */
import type { JsonObject, JsonValue } from '../../api/json.ts'

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** A column with a priority greater than 0 is shown only with `-o wide`. */
  readonly priority: number
  cell(object: JsonObject, now: number): JsonValue
}
