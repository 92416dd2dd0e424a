/** `source`: external sources of events, such as timers and streams, which enqueue objects of a controller. */
import type { Clock } from '../runtime/clock.ts'
import { TimeSlices } from '../runtime/time-slices.ts'
import { sleep, untilAborted } from '../runtime/waiting.ts'
import { expect, isDuration, refuseOptions } from '../api/option-checks.ts'
import type { ObjectKey } from '../api/object.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'

/**
 * Time in milliseconds after which the sources that `source.from` returns take no more events in one iteration of the event loop, so that
 * timers and sockets can run. The workers have a separate time slice of the same length.
 */
const sliceMs = 2

/** All sources share the time slices, because they share the event loop. */
const slices = new TimeSlices(sliceMs)

/** The second argument of a source's `run`. */
export interface SourceContext {
  /** Aborts when the controller stops working, e.g. because the process stops, or because this replica is no longer the leader. */
  readonly signal: AbortSignal
  /** The cache of the controller. */
  readonly cache: OperatorCache
  readonly clock: Clock
}

/** Keys of objects to reconcile, or a promise of them. */
type Keys = readonly ObjectKey[] | Promise<readonly ObjectKey[]>

/**
 * An external source of events. `source.interval` and `source.from` return sources.
 *
 * A source runs while its controller works. The controller begins to work when the first list of each type is complete. A controller
 * without `everyReplica` works only on the leader.
 */
export interface Source {
  /**
   * Calls `enqueue` with keys of objects to reconcile, until the signal aborts. When `run` throws, the error is logged, and `run` is called
   * again after a pause. When `run` returns, it is called again only when this replica becomes the leader again.
   */
  run(enqueue: (keys: readonly ObjectKey[]) => void, context: SourceContext): Promise<void>
}

/**
 * Returns a source that enqueues keys every `ms` milliseconds. The first time is `ms` milliseconds after the start of the source.
 *
 * @param keys the keys, or a function that is called each time and returns the keys.
 *
 * @example
 * sources: [source.interval(60_000, ({ cache }) => cache.list(site).map(keyOf))]
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when `ms` is not a number above 0.
 */
export function interval(ms: number, keys: readonly ObjectKey[] | ((context: SourceContext) => Keys)): Source {
  refuseOptions('source.interval', isDuration(ms, 'ms'))
  return Object.freeze<Source>({
    async run(enqueue, context) {
      for (;;) {
        await sleep(context.clock, ms, context.signal)
        enqueue(typeof keys === 'function' ? await settled(keys(context), context) : keys)
      }
    },
  })
}

/**
 * Returns a source that enqueues keys for each event of an asynchronous iterable.
 *
 * @param events the iterable, or a function that returns the iterable. The source iterates again after an error, and when this replica
 *   becomes the leader again. Most iterables, such as generators, can be iterated only once. For such an iterable, pass a function.
 * @param map returns the keys for an event. Default: the event is a key.
 *
 * @example
 * sources: [source.from(({ signal }) => on(bus, 'changed', { signal }), ([name]) => [{ namespace: 'sites', name }])]
 */
export function from(events: Events<ObjectKey>): Source
export function from<T>(events: Events<T>, map: (event: T, context: SourceContext) => Keys): Source
export function from<T>(events: Events<T>, map?: (event: T, context: SourceContext) => Keys): Source {
  const isEvents = expect('an asynchronous iterable, or a function', (value) => typeof value === 'function' || isAsyncIterable(value))
  refuseOptions('source.from', isEvents(events, 'events'))
  return Object.freeze<Source>({
    async run(enqueue, context) {
      const iterator = (typeof events === 'function' ? events(context) : events)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const next = await settled(iterator.next(), context)
          if (next.done === true) return
          enqueue(map === undefined ? [next.value as ObjectKey] : await settled(map(next.value, context), context))
          // Without pauses, a buffer with many events would block the event loop. A generator that never waits would also block the event
          // loop.
          const turn = slices.next(() => context.clock.monotonicNow())
          if (turn !== undefined) await turn
        }
      } finally {
        // The iterator may ignore the signal, so its end is not awaited.
        iterator.return?.().catch(() => undefined)
      }
    },
  })
}

/** An asynchronous iterable, or a function that returns an asynchronous iterable. */
type Events<T> = AsyncIterable<T> | ((context: SourceContext) => AsyncIterable<T>)

function isAsyncIterable(value: unknown): boolean {
  return typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}

/**
 * Returns a promise that settles like `value`. If the signal aborts first, because the controller is stopped, the promise rejects with the
 * reason of the signal.
 */
function settled<T>(value: T | Promise<T>, { signal }: SourceContext): Promise<T> {
  return untilAborted(Promise.resolve(value), signal, () => undefined)
}
