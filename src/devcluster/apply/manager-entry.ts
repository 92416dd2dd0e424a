/** One entry of `metadata.managedFields`. */
import type { FieldSet } from './field-set.ts'

/** One entry of managedFields. Its identity consists of manager, operation, subresource and, for the operation Update, apiVersion. */
export interface ManagerEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** The identity under which a request writes, and the time of the request in milliseconds since 1970. */
export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly now: number
}
