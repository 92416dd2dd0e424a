/** The types of a reconciler: its request, its context and its result. */
import type { Clock } from '../runtime/clock.ts'
import type { ObjectKey } from '../api/object.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { isObject } from '../api/json.ts'

/** The key of the object to reconcile. */
export type ReconcileRequest = ObjectKey

/**
 * The result of a reconcile:
 *
 * - undefined or `{}`: the object is not requeued.
 * - `requeueAfterMs`: the object is requeued after that time. A `requeueAfterMs` of 0 or less has the same effect as `requeue`. For
 *   example, `expiry - now` is negative after the expiry, and without the back-off would cause a tight loop. (In controller-runtime, 0
 *   means no requeue.)
 * - `requeue`: the object is requeued with back-off, by default after 5 ms, 10 ms, 20 ms, ….
 *
 * If the object is reconciled again before `requeueAfterMs` has passed, the outcome of the later reconcile decides about the timer:
 *
 * - A result without `requeue`, or a `TerminalError`, cancels the timer.
 * - A result with `requeue`, or any other error, does not change the timer.
 *
 * `priority` is the priority of the requeued object: an integer. An object with a higher priority is reconciled earlier. A priority of 1
 * counts as 100 ms of waiting. Priorities above 600 count as 600, and priorities below -600 count as -600. Default: 0 for `requeueAfterMs`,
 * and the priority of this reconcile for `requeue`.
 */
export type Result =
  void | { readonly requeueAfterMs: number; readonly priority?: number } | { readonly requeue: true; readonly priority?: number }

/**
 * Returns whether the key is requeued after this result, and how. A number is the delay in milliseconds.
 *
 * @throws {TypeError} for an invalid result, e.g. an object with a misspelled option. A reconciler that is not type-checked may return such
 *   a result.
 */
export function requeueOf(result: Result): 'success' | 'requeue' | number {
  if (result === undefined) return 'success'
  if (!isObject(result)) throw wrongResult(String(result))
  const { requeue = false, requeueAfterMs, priority, ...others } = result as Readonly<Record<string, unknown>>
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrongResult(`an object with ${quote(other)}`)
  if (typeof requeue !== 'boolean') throw wrongResult(`requeue: ${String(requeue)}`)
  if (priority !== undefined && !Number.isInteger(priority)) throw wrongResult(`priority: ${String(priority)}`, 'an integer')
  if (requeue || requeueAfterMs === undefined) return requeue ? 'requeue' : 'success'
  if (!Number.isFinite(requeueAfterMs)) throw wrongResult(`requeueAfterMs: ${String(requeueAfterMs)}`)
  return (requeueAfterMs as number) <= 0 ? 'requeue' : (requeueAfterMs as number)
}

/**
 * Returns the priority with which the key is requeued after this result; undefined for the default. Call `requeueOf` first, because it
 * validates the result.
 */
export function priorityOf(result: Result): number | undefined {
  return result === undefined ? undefined : result.priority
}

function wrongResult(found: string, expected = 'nothing, { requeueAfterMs: milliseconds } or { requeue: true }'): TypeError {
  return new TypeError(`The reconciler returned ${found}; expected is ${expected}.`)
}

/**
 * The second argument of a reconciler. Do not copy the context with `{ ...context }`: most properties are getters of a class, and the copy
 * would lack them. Destructure the context, or pass on the context itself.
 */
export interface ReconcileContext {
  /** A client for the API server. Its requests are aborted when `signal` aborts. */
  readonly client: Client
  /**
   * Reads objects from the informers, without a request. The objects are frozen, and may be older than those of the API server. A `list`
   * without a namespace returns objects of all watched namespaces. If a type is known only at run time, use `acquire` to watch the type.
   *
   * A read throws `PRO_INPUT` if the cache cannot know whether an object exists:
   *
   * - The type or the namespace is not watched.
   * - The type is namespaced, and the key has no namespace.
   */
  readonly cache: OperatorCache
  /** A logger that adds the controller, the object and the `reconcileID` to each log line. */
  readonly logger: Logger
  /**
   * Aborts when the reconcile exceeds its time limit, or when this replica is no longer the leader. During the shutdown of the process, the
   * signal aborts when the grace period has ended.
   */
  readonly signal: AbortSignal
  /** A unique id of this call of the reconciler. */
  readonly reconcileID: string
  readonly clock: Clock
  readonly events: EventRecorder
}

export type Reconciler = (request: ReconcileRequest, context: ReconcileContext) => Promise<Result>

/**
 * An error that a retry cannot fix. The error is logged, and the object is not requeued. The next event or resync enqueues the object
 * again. An error that has a `TerminalError` in its chain of causes is handled in the same way.
 */
export class TerminalError extends ProreusError {
  override readonly name: string = 'TerminalError'

  constructor(message: string, options?: { cause?: unknown }) {
    super('PRO_INPUT', message, options)
  }
}

/**
 * Returns true when the error is a `TerminalError`, or when its chain of causes contains a `TerminalError`. Go's `errors.Is` also searches
 * wrapped errors.
 */
export function isTerminal(error: unknown): boolean {
  const seen = new Set<unknown>()
  for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
    if (each instanceof TerminalError) return true
    seen.add(each)
  }
  return false
}
