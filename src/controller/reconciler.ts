/** The reconciler: its request, its context and its result. */
import type { Clock } from '../runtime/clock.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { isObject } from '../api/json.ts'

export type { CacheReader }

/** The key of the object to reconcile. */
export type ReconcileRequest = ObjectKey

/**
 * The result of a reconcile. With nothing or `{}` the object is not requeued. With `requeueAfterMs` it is requeued after that time. With
 * `requeue` it is requeued with back-off, after 5 ms, 10 ms, 20 ms, … until a reconcile returns another result.
 *
 * A `requeueAfterMs` of 0 or less, such as `expiry - now` after the expiry, is the same as `requeue`: a reconciler that always returns it
 * is called no more often than one that always fails. (In controller-runtime 0 means no requeue.)
 */
export type Result = void | { readonly requeueAfterMs: number } | { readonly requeue: true }

/**
 * Returns how the result requeues its key; a number is the delay in milliseconds.
 *
 * @throws {TypeError} for an invalid result of an untyped program, such as a misspelled option, which must not count as no requeue.
 */
export function requeueOf(result: Result): 'success' | 'requeue' | number {
  if (result === undefined) return 'success'
  if (!isObject(result)) throw wrongResult(String(result))
  const { requeue = false, requeueAfterMs, ...others } = result as Readonly<Record<string, unknown>>
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrongResult(`an object with ${quote(other)}`)
  if (typeof requeue !== 'boolean') throw wrongResult(`requeue: ${String(requeue)}`)
  if (requeue || requeueAfterMs === undefined) return requeue ? 'requeue' : 'success'
  if (!Number.isFinite(requeueAfterMs)) throw wrongResult(`requeueAfterMs: ${String(requeueAfterMs)}`)
  return (requeueAfterMs as number) <= 0 ? 'requeue' : (requeueAfterMs as number)
}

function wrongResult(found: string): TypeError {
  return new TypeError(`The reconciler returned ${found}; expected is nothing, { requeueAfterMs: milliseconds } or { requeue: true }.`)
}

/** The context of a reconcile. */
export interface ReconcileContext {
  /** A client for the API server, whose requests are aborted with `signal`. */
  readonly client: Client
  /**
   * Reads from the informers, without a request; objects are frozen, and may be older than those of the API server. A list without a
   * namespace returns the objects of all namespaces that the process watches. A read throws (`PRO_INPUT`) when the cache cannot know
   * whether an object exists: for a type or namespace that is not watched, and for a key of a namespaced type without a namespace.
   */
  readonly cache: CacheReader
  /** A logger with the fields of the controller, the object and the reconcile. */
  readonly logger: Logger
  /** Aborts when the reconcile exceeds its time limit, or is still running some time after the shutdown of the process has begun. */
  readonly signal: AbortSignal
  /** A unique id of this call of the reconciler. */
  readonly reconcileID: string
  readonly clock: Clock
  readonly events: EventRecorder
}

export type Reconciler = (request: ReconcileRequest, context: ReconcileContext) => Promise<Result>

/** An error that a retry cannot fix: it is reported once, and the object is not requeued until it changes. */
export class TerminalError extends ProreusError {
  override readonly name: string = 'TerminalError'

  constructor(message: string, options?: { cause?: unknown }) {
    super('PRO_INPUT', message, options)
  }
}
