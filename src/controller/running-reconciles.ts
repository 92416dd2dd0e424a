/**
 * `RunningReconciles`: the running reconciles of a controller. If a reconcile changes an object, the event of this change does not enqueue
 * the key of the reconcile.
 */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { Cause } from '../cache/origin.ts'
import type { WorkQueue } from './queue.ts'
import type { ReconcileEnvironment } from './running-reconcile.ts'
import { RunningReconcile } from './running-reconcile.ts'

/**
 * Adds the keys of events to the work queue. If the running reconcile of a key has caused an event, the event does not enqueue this key.
 *
 * A write of a reconcile changes the cache when the response or the watch event arrives, whichever arrives first:
 *
 * - If the response arrives first, the running reconcile is known to be the cause. The key is not enqueued.
 * - If the watch event arrives first, the cause is unknown. The event is held back until the reconcile ends. By then, the responses show
 *   which of the held-back events the reconcile has caused. All other held-back events enqueue the key. Holding events back causes no
 *   delay, because the queue does not hand out a key that is being reconciled.
 *
 * Two kinds of changes always enqueue the key:
 *
 * - Deletions. A reconciler that deletes an object usually returns, and does the next step when the object is gone.
 * - Writes whose response arrives after the end of the reconcile. The next reconcile may already have read an older state.
 */
export class RunningReconciles {
  readonly #environment: ReconcileEnvironment
  readonly #queue: Pick<WorkQueue<string>, 'add'>
  readonly #running = new Map<string, RunningReconcile>()
  #none: PromiseWithResolvers<void> | undefined

  constructor(environment: ReconcileEnvironment, queue: Pick<WorkQueue<string>, 'add'>) {
    this.#environment = environment
    this.#queue = queue
  }

  get size(): number {
    return this.#running.size
  }

  /**
   * Adds a key to the queue after an event of `object`. If the running reconcile of this key has caused the event, the key is not added.
   */
  changed(key: string, priority: number, object: DeepReadonly<KubernetesObject>, cause: Cause): void {
    const running = this.#running.get(key)
    if (running !== undefined && (cause === running || (cause === 'unknown' && running.holdsBack(object, priority)))) return
    this.#queue.add(key, { priority })
  }

  /** Creates the context of a reconcile of `key`. No other reconcile of the key may start before `end` is called. */
  start(key: string): RunningReconcile {
    const running = new RunningReconcile(key, this.#environment)
    this.#running.set(key, running)
    return running
  }

  /**
   * Ends a reconcile, and discards the held-back events that the reconcile has caused. If other events were held back during the reconcile,
   * the key of the reconcile is added to the queue.
   */
  end(running: RunningReconcile): void {
    this.#running.delete(running.key)
    const priority = running.heldBackPriority()
    if (priority !== undefined) this.#queue.add(running.key, { priority })
    if (this.#running.size > 0) return
    this.#none?.resolve()
    this.#none = undefined
  }

  /** Aborts the signals of all running reconciles. */
  abort(reason: Error): void {
    for (const running of this.#running.values()) running.abort(reason)
  }

  /** Resolves when no reconcile is running. */
  whenNone(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    this.#none ??= Promise.withResolvers()
    return this.#none.promise
  }
}
