/**
 * The steps of a review without the handlers: decoding, defaults and validation by the schema, the patch, and the response.
 * `InlineEvaluation` performs them on the main thread. `OffloadedEvaluation` delegates them to an `InlineEvaluation` in a worker thread.
 * Handlers always run on the main thread.
 */
import type { ErrorList } from '../../api/error-list.ts'
import type { JsonObject } from '../../api/json.ts'
import type { AdmissionRequest, AdmissionResponse, WrittenAnswer } from '../review/admission-review.ts'

export type Verb = 'mutate' | 'validate'

/** A plain value, or a promise if the value is not available yet. */
export type Awaitable<T> = T | Promise<T>

/** The decoded request, and the result of the validation by the schema. */
export interface Found {
  readonly request: AdmissionRequest
  /** False when the webhook does not apply to the object. The object is then admitted unchanged. */
  readonly applies: boolean
  readonly errors: ErrorList
  readonly warnings: readonly string[]
}

export interface ReviewedObjects {
  /** The object. In a mutating webhook, the defaults of the schema have been applied to it. */
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** The steps of one review, such as decoding, validation and the response. An `Evaluation` does not run the handlers. */
export interface Evaluation {
  /**
   * The decoded request. If a worker thread parses the body, `request` is preliminary until `begin` has resolved. A preliminary `request`
   * is undefined, or its `dryRun` and `options` may be wrong.
   */
  readonly request: AdmissionRequest | undefined
  /**
   * Decodes the request, applies the defaults of the schema (in a mutating webhook) and validates the object. Rejects when `signal` aborts.
   *
   * @throws {MalformedReview} when the body is not an AdmissionReview.
   * @throws {BodyRefused} when the object exceeds the limits on values and nesting.
   */
  begin(call: { readonly signal: AbortSignal }): Awaitable<Found>
  /** Returns the objects that are passed to the handlers. */
  objects(): Awaitable<ReviewedObjects>
  /** Replaces the object with the result of a handler, validates the new object with the schema, and returns the errors. */
  change(object: JsonObject): Awaitable<ErrorList>
  /**
   * Serializes the response. If a mutating webhook allows the request, the response contains the patch that converts the original object to
   * the current object.
   */
  answer(response: AdmissionResponse): Awaitable<WrittenAnswer>
  /**
   * Releases the objects that the worker thread holds. After the first call of `close`, `answer` can serialize only a response without a
   * patch. Further calls of `close` have no effect.
   */
  close(): void
}

/**
 * Calls `next` with the value. If `value` is a promise, `next` is called with its result. If it is not a promise, `next` is called
 * synchronously, because a promise costs more time than most reviews take.
 */
export function whenReady<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
