/** The user and the options of a request. The layers below HTTP use this type. */
import type { JsonObject } from '../../api/json.ts'

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface RequestContext {
  readonly user: UserInfo
  /** True to process the request without writing to the store. */
  readonly dryRun: boolean
  /** The field manager of the fields that the request writes. If empty, the part of `userAgent` before the slash is used. */
  readonly fieldManager: string
  /** The treatment of unknown and duplicate fields, as in the query parameter `fieldValidation`. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly userAgent: string
  /**
   * Adds a `Warning` header with the text to the response. If the response already has a `Warning` header with the same text, no header is
   * added.
   */
  warn(text: string): void
  readonly signal: AbortSignal
  /** The deadline of the request, in milliseconds of `clock.monotonicNow()`. Default: none. */
  readonly deadline?: number
  /** The `CreateOptions`, `UpdateOptions` or other options of the request. They become `AdmissionRequest.options`. */
  readonly options?: JsonObject
}

/** The decoded body of a request. */
export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of duplicate keys, e.g. `spec.size`. */
  readonly duplicates: readonly string[]
}
