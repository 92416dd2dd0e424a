/**
 * The parts of a review without handlers: the schema's defaults, validation, patch and response. Handlers run on the main thread and do not
 * depend on where the evaluation runs: `InlineEvaluation` runs on the main thread, `OffloadedEvaluation` delegates to one in a worker
 * thread.
 */
import type { ErrorList } from '../../api/error-list.ts'
import type { JsonObject } from '../../api/json.ts'
import type { AdmissionRequest, AdmissionResponse, WrittenAnswer } from '../review/admission-review.ts'

export type Verb = 'mutate' | 'validate'

/** A plain value or, when something has to be awaited, a promise. */
export type Awaitable<T> = T | Promise<T>

/** The decoded request, and the schema's errors. */
export interface Found {
  readonly request: AdmissionRequest
  /** False when the webhook does not apply to the object, which is then admitted unchanged. */
  readonly applies: boolean
  readonly errors: ErrorList
  readonly warnings: readonly string[]
}

export interface ReviewedObjects {
  /** The object; in a mutating webhook, with the schema's defaults. */
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** The evaluation of one review. */
export interface Evaluation {
  /** The request as far as it is known: before a worker thread has parsed it, it may be undefined or lack `dryRun` and `options`. */
  readonly request: AdmissionRequest | undefined
  /**
   * Decodes the request, applies the schema's defaults (in a mutating webhook) and validates the object. Ends when the call is aborted.
   *
   * @throws {MalformedReview} when the body is not an AdmissionReview.
   * @throws {BodyRefused} when the object exceeds the limits on values and nesting.
   */
  begin(call: { readonly signal: AbortSignal }): Awaitable<Found>
  /** Returns the objects for the handlers. */
  objects(): Awaitable<ReviewedObjects>
  /** Replaces the object with a handler's result, and validates it. */
  change(object: JsonObject): Awaitable<ErrorList>
  /** Serializes the response, with the patch from the original object to the current one. */
  answer(response: AdmissionResponse): Awaitable<WrittenAnswer>
  /** Releases the worker thread's copy of the objects: afterwards `answer` can only serialize a response without a patch. Idempotent. */
  close(): void
}

/** Calls `next` with a value, synchronously unless it is a promise: a promise costs more than the work of most reviews. */
export function whenReady<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
