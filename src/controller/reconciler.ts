/** What an operator writes: a function that brings the world closer to what one object asks for, and what it may answer. */
import type { Clock } from '../api/clock.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { isObject } from '../api/json.ts'

export type { CacheReader }

/** Which object is to be reconciled. */
export type ReconcileRequest = ObjectKey

/**
 * Nothing, or `{}`: done until something changes. `requeueAfterMs`: again in so many milliseconds. `requeue`: again, with back-off: after 5 ms, 10 ms,
 * 20 ms, … until a reconcile ends in another way.
 *
 * A `requeueAfterMs` of 0 or less, as `expiry - now` is when that has passed, means as soon as is fair: the same as `requeue`, so that a
 * reconciler that always gives it takes no more of the process than one that fails. (In controller-runtime 0 means not at all.)
 */
export type Result = void | { readonly requeueAfterMs: number } | { readonly requeue: true }

/**
 * What becomes of an object after a reconcile: a number is the time until the next one in milliseconds.
 *
 * @throws {TypeError} for what is no result, as a program without types may return it: a misspelled wish must not count as none.
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
