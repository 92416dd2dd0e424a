/** `Standby`: limits the size of a controller's work queue while another replica is the leader. */
import type { Clock, Timer } from '../runtime/clock.ts'
import { TimeSlices } from '../runtime/time-slices.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { EnqueueHandler } from './enqueue.ts'
import type { WorkQueue } from './queue.ts'

/**
 * The default lease duration in milliseconds, which is also the default of Kubernetes' own components. With this lease duration, a standby
 * keeps keys in its queue for 60 seconds: 15 seconds and `marginMs`.
 */
const defaultLeaseDurationMs = 15_000
/**
 * A key stays queued on a standby for the lease duration plus this time in milliseconds. When the standby becomes the leader, its queue
 * then contains the keys of all objects that have changed since the previous leader stopped. These keys are reconciled first. They include
 * the keys of deleted objects, which the cache no longer contains.
 *
 * After a crash of the leader, a standby can take over only when the lease duration has passed since the leader's last renewal. The
 * additional time is necessary for two reasons:
 *
 * - At the time of the crash, the leader may not yet have reconciled an object that changed some time before. The queue of the standby must
 *   still contain the key of this object.
 * - The standby may have to retry its requests for the lease, and then takes over later.
 */
const marginMs = 45_000
/** Interval in milliseconds between two checks for keys that have been queued for too long. These keys are dropped. */
const sweepMs = 30_000

/**
 * Maximum time in milliseconds for which objects are enqueued without a pause. During the pauses, the process can respond to webhook
 * requests.
 */
const sliceMs = 2
const slices = new TimeSlices(sliceMs)

export interface StandbyOptions {
  readonly queue: WorkQueue<string>
  /** The keys of objects whose deletion events were received. When a key is dropped from the queue, it is removed from this set. */
  readonly seenGone: Set<string>
  readonly clock: Clock
  /** The lease duration of the leader election in milliseconds. Default: 15 s. */
  readonly leaseDurationMs?: number | undefined
}

/**
 * Limits the queue of a controller on a standby. A standby reconciles nothing. Without a limit, its queue grows until the queue contains
 * the keys of all objects, including deleted objects.
 */
export class Standby {
  readonly #options: StandbyOptions
  readonly #keptMs: number
  #timer: Timer | undefined
  #incomplete = false

  constructor(options: StandbyOptions) {
    this.#options = options
    this.#keptMs = (options.leaseDurationMs ?? defaultLeaseDurationMs) + marginMs
  }

  /**
   * Begins to drop keys from the queue. Every 30 seconds, a check drops each key whose waiting time is longer than the lease duration plus
   * 45 seconds. The waiting time begins when the key was last added without a delay, or when a delay of the key last ended, whichever is
   * later. Retries and timers that are not due yet are not dropped.
   */
  begin(): void {
    this.#timer = this.#options.clock.after(sweepMs, () => {
      const { queue, seenGone } = this.#options
      this.#incomplete = true
      queue.drop((key, waitedMs) => {
        const drops = waitedMs > this.#keptMs
        if (drops) seenGone.delete(key)
        return drops
      })
      this.begin()
    })
  }

  /**
   * Stops dropping keys. Returns true if keys may have been dropped, or if this replica was the leader before. In both cases, the queue may
   * lack keys, and the caller must enqueue all objects with `replay`.
   */
  end(): boolean {
    this.#timer?.cancel()
    this.#timer = undefined
    const incomplete = this.#incomplete
    // After this replica has been the leader, another replica may be the leader for some time. If this replica then becomes the leader
    // again, its queue may lack keys. Therefore, the next call of `end` returns true.
    this.#incomplete = true
    return incomplete
  }
}

/** A watched type, and the handler of its events. */
export interface Replayed {
  readonly type: ResourceType
  readonly handler: Pick<EnqueueHandler, 'added'>
}

/** Passes all objects of the cache to the handlers, as if they had just been listed. Ends early when the signal aborts. */
export async function replay(sources: readonly Replayed[], cache: CacheReader, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const { type, handler } of sources) {
    for (const object of cache.list(type)) {
      handler.added(object, true)
      const turn = slices.next(() => clock.monotonicNow())
      if (turn !== undefined) await turn
      if (signal.aborted) return
    }
  }
}
