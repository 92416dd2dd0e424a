/** `RunningReconciles`: the running reconciles of a controller and their writes, so that a reconcile is not called again for its own writes. */
import type { ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { Client } from '../client/client.ts'
import type { Cause, Origin } from '../cache/origin.ts'
import type { OwnWrites } from '../cache/read-your-writes.ts'
import { readYourWrites } from '../cache/read-your-writes.ts'
import type { WorkQueue } from './queue.ts'
import type { ReconcileContext, Reconciler } from './reconciler.ts'

/**
 * Maximum number of events that a reconcile holds back. Further events are added to the queue at once, which can only cause a needless
 * reconcile.
 */
const maxHeldBack = 100

/** One running reconcile. It is the origin of the writes of its client. */
class RunningReconcile implements Origin, OwnWrites {
  readonly controller: string
  readonly key: string
  readonly #cache: OwnWrites
  /** The states that this reconcile has written, as uid and resourceVersion. */
  #written: Set<string> | undefined
  /** The priorities of the events that were held back, by the states of their objects. */
  #heldBack: Map<string, number> | undefined

  constructor(controller: string, key: string, cache: OwnWrites) {
    this.controller = controller
    this.key = key
    this.#cache = cache
  }

  written: OwnWrites['written'] = (type, object) => {
    const { metadata } = object as unknown as Partial<KubernetesObject>
    if (metadata?.uid && metadata.resourceVersion) (this.#written ??= new Set()).add(stateOf(metadata))
    this.#cache.written(type, object, this)
  }

  uidsOf(type: ResourceType, key: ObjectKey): readonly string[] {
    return this.#cache.uidsOf(type, key)
  }

  deleted(type: ResourceType, key: ObjectKey, uid: string, before?: readonly string[]): void {
    this.#cache.deleted(type, key, uid, before)
  }

  /** Returns false when the event must be added to the queue. */
  holdsBack({ metadata }: DeepReadonly<KubernetesObject>, priority: number): boolean {
    const heldBack = (this.#heldBack ??= new Map())
    const state = stateOf(metadata)
    if (heldBack.size >= maxHeldBack && !heldBack.has(state)) return false
    heldBack.set(state, Math.max(priority, heldBack.get(state) ?? priority))
    return true
  }

  /** Returns the priority of the events that other clients have caused; undefined when there are none. */
  priority(): number | undefined {
    if (this.#heldBack === undefined) return undefined
    const foreign = [...this.#heldBack].filter(([state]) => this.#written?.has(state) !== true)
    return foreign.length === 0 ? undefined : Math.max(...foreign.map(([, priority]) => priority))
  }
}

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
  readonly #controller: string
  readonly #cache: OwnWrites
  readonly #queue: Pick<WorkQueue<string>, 'add'>
  readonly #running = new Map<string, RunningReconcile>()

  constructor(controller: string, cache: OwnWrites, queue: Pick<WorkQueue<string>, 'add'>) {
    this.#controller = controller
    this.#cache = cache
    this.#queue = queue
  }

  /** Adds a key to the queue because `object` was added or updated. */
  changed(key: string, priority: number, object: DeepReadonly<KubernetesObject>, cause: Cause): void {
    const running = this.#running.get(key)
    if (running !== undefined && (cause === running || (cause === 'unknown' && running.holdsBack(object, priority)))) return
    this.#queue.add(key, { priority })
  }

  /** Returns a reconciler whose client passes its writes to the cache. */
  reconciler(reconcile: Reconciler): Reconciler {
    return async (request, context) => {
      const key = formatKey(request)
      const running = new RunningReconcile(this.#controller, key, this.#cache)
      this.#running.set(key, running)
      try {
        return await reconcile(request, withOwnWrites(context, running))
      } finally {
        this.#running.delete(key)
        const priority = running.priority()
        if (priority !== undefined) this.#queue.add(key, { priority })
      }
    }
  }
}

/** Returns the context with a client that passes its writes to `writes`. Like the properties of `context`, the client is created lazily. */
function withOwnWrites(context: ReconcileContext, writes: OwnWrites): ReconcileContext {
  const { cache, clock, events } = context
  let client: Client | undefined
  return {
    cache,
    clock,
    events,
    get reconcileID() {
      return context.reconcileID
    },
    get logger() {
      return context.logger
    },
    get signal() {
      return context.signal
    },
    get client() {
      return (client ??= readYourWrites(context.client, writes))
    },
  }
}

function stateOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }): string {
  return `${uid} ${resourceVersion}`
}
