/** The user and options of a request, for the layers below HTTP. */
import type { JsonObject } from '../../api/json.ts'

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface RequestContext {
  readonly user: UserInfo
  /** True to run everything except the write to the storage. */
  readonly dryRun: boolean
  /** The field manager of the written fields; when empty, the part of `userAgent` before the slash. */
  readonly fieldManager: string
  /** Treatment of unknown and duplicate fields. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly userAgent: string
  /** Sends a `Warning` header with the response. */
  warn(text: string): void
  readonly signal: AbortSignal
  /** Time at which the whole request times out. */
  readonly deadline?: number
  /** `CreateOptions`, `UpdateOptions`, …, for `AdmissionRequest.options`. */
  readonly options?: JsonObject
}

/** The decoded body of a request. */
export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of duplicate keys, e.g. `spec.size`. */
  readonly duplicates: readonly string[]
}
