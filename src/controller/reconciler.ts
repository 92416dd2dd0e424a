/** What an operator writes: a function that brings the world closer to what one object asks for, and what it may answer. */
import type { Clock } from '../api/clock.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ProreusError } from '../api/errors.ts'

export type { CacheReader }

/** Which object is to be reconciled. */
export type ReconcileRequest = ObjectKey

/**
 * Nothing: done until something changes. `requeueAfter`: again in so many milliseconds. `requeue`: again, with back-off: after 5 ms, 10 ms,
 * 20 ms, … until a reconcile ends in another way.
 *
 * A `requeueAfter` of 0 or less, as `expiry - now` is when that has passed, means as soon as is fair: the same as `requeue`, so that a
 * reconciler that always gives it takes no more of the process than one that fails. (In controller-runtime 0 means not at all.)
 */
export type Result = void | { readonly requeueAfterMs: number } | { readonly requeue: true }

/** What becomes of an object after a reconcile: a number is the time until the next one in milliseconds, if it is one. */
export function requeueOf(result: Result): 'success' | 'requeue' | number {
  if (result === undefined) return 'success'
  if ('requeue' in result) return result.requeue ? 'requeue' : 'success'
  return result.requeueAfterMs <= 0 ? 'requeue' : result.requeueAfterMs
}

/** What a reconcile works with. */
export interface ReconcileContext {
  /** Goes to the API server. Its requests are aborted with `signal`. */
  readonly client: Client
  /**
   * What the informers hold: no request, objects are frozen, and may be a moment behind the API server. Where the process is limited to
   * some namespaces, a list without one is of all of these. Throws (`PRO_INPUT`) where "not found" would mean nothing: for a type or
   * namespace that is not watched, and for a key that lacks the namespace of its type.
   */
  readonly cache: CacheReader
  /** Says with each line which controller, object and reconcile it is about. */
  readonly logger: Logger
  /** Aborts when the reconcile has run too long, or still runs a while after the process was told to stop. */
  readonly signal: AbortSignal
  /** Unique for this run of the reconciler. */
  readonly reconcileID: string
  readonly clock: Clock
  readonly events: EventRecorder
}

export type Reconciler = (request: ReconcileRequest, context: ReconcileContext) => Promise<Result>

/** An error that trying again cannot mend: it is reported once, and the object waits for its next change. */
export class TerminalError extends ProreusError {
  override readonly name: string = 'TerminalError'

  constructor(message: string, options?: { cause?: unknown }) {
    super('PRO_INPUT', message, options)
  }
}
