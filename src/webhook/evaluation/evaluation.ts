/**
 * What of a review needs no handler: the schema's defaults, its validation, the patch and the answer. Handlers run on the main thread and
 * do not see where the rest does: `InlineEvaluation` is right here, `OffloadedEvaluation` has one of these in a worker thread.
 */
import type { ErrorList } from '../../api/error-list.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Call } from '../handler.ts'
import type { AdmissionRequest, AdmissionResponse, WrittenAnswer } from '../review.ts'

export type Verb = 'mutate' | 'validate'

/** A value now where there is nothing to wait for. */
export type Awaitable<T> = T | Promise<T>

/** The request, and what the schema found in its object. */
export interface Found {
  readonly request: AdmissionRequest
  /** False: the object is none of this webhook's business, and is allowed as it is. */
  readonly applies: boolean
  readonly errors: ErrorList
  readonly warnings: readonly string[]
}

export interface ReviewedObjects {
  /** With the schema's defaults in a mutating webhook. */
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** One review. */
export interface Evaluation {
  /** As far as it is known: before a worker thread has read it perhaps not at all, or without `dryRun` and `options`. */
  readonly request: AdmissionRequest | undefined
  /**
   * Reads the request, fills in the schema's defaults (for a mutating webhook) and validates the object. Ends when the call is aborted.
   *
   * @throws {MalformedReview} when it is no AdmissionReview.
   * @throws {BodyRefused} when there is more in it than in any object.
   */
  begin(call: Call): Awaitable<Found>
  /** What handlers are given. */
  objects(): Awaitable<ReviewedObjects>
  /** Takes what a handler has made of the object, and validates it. */
  change(object: JsonObject): Awaitable<ErrorList>
  /** Writes the answer, with the patch to what has become of the object. */
  answer(response: AdmissionResponse): Awaitable<WrittenAnswer>
  /** Nothing follows but perhaps the answer, and that has no patch. May be called again. */
  close(): void
}

/** Goes on with a value: at once where it is there, for a promise costs more than most reviews have to do. */
export function whenReady<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
