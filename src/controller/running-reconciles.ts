/** `RunningReconciles`: the running reconciles of a controller, so that none of them is called again for its own writes. */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { Cause } from '../cache/origin.ts'
import type { WorkQueue } from './queue.ts'
import type { ReconcileEnvironment } from './running-reconcile.ts'
import { RunningReconcile } from './running-reconcile.ts'

/**
 * Adds the keys of events to the work queue, except for events that a running reconcile of the same key has caused by its own writes.
 *
 * The change of a write arrives with the response to the write, or with the watch, whichever is first. In the first case, the cause of the
 * change is the running reconcile. In the second case, the cause is unknown. The event is then held back until the reconcile ends. This
 * delays nothing, because the queue does not return a key that is being reconciled. At the end, the responses show which events were its
 * own.
 *
 * A deletion is never ignored. A reconcile that deletes an object usually ends, and continues when the object is gone. A write that
 * completes after its reconcile has ended is an ordinary change, too, because the next reconcile may already have read an older state.
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

  /** Adds a key to the queue because `object` was added or updated. */
  changed(key: string, priority: number, object: DeepReadonly<KubernetesObject>, cause: Cause): void {
    const running = this.#running.get(key)
    if (running !== undefined && (cause === running || (cause === 'unknown' && running.holdsBack(object, priority)))) return
    this.#queue.add(key, { priority })
  }

  /** Starts a reconcile of `key`. Until `end` is called for it, no other reconcile of the key may be started. */
  start(key: string): RunningReconcile {
    const running = new RunningReconcile(key, this.#environment)
    this.#running.set(key, running)
    return running
  }

  /** Ends a reconcile. Its key is added to the queue if other clients have caused events meanwhile. */
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
