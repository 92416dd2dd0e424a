/** One entry of `metadata.managedFields`. */
import type { FieldSet } from './field-set.ts'

/** An entry, identified by manager, operation, apiVersion (for updates) and subresource. */
export interface ManagerEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** The field manager that a request writes as. */
export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly now: number
}
