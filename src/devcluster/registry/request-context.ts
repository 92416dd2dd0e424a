/** Who asks, and how: what travels with a request below the HTTP layer. */
import type { JsonObject } from '../../api/json.ts'

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface RequestContext {
  readonly user: UserInfo
  /** Everything happens but the write itself. */
  readonly dryRun: boolean
  /** Owner of the fields that are written; empty: the first part of `userAgent`. */
  readonly fieldManager: string
  /** What becomes of unknown and duplicate fields. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly userAgent: string
  /** Sends a `Warning` header with the answer. */
  warn(text: string): void
  readonly signal: AbortSignal
  /** When the time of the whole request is over. */
  readonly deadline?: number
  /** `CreateOptions`, `UpdateOptions`, …: goes into `AdmissionRequest.options`. */
  readonly options?: JsonObject
}

/** A request's body, decoded. */
export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of keys that stood more than once, e.g. `spec.size`. */
  readonly duplicates: readonly string[]
}
