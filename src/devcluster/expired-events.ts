/** Deletes expired Events, as kube-apiserver does. */
import { messageOf } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import type { Clock, Timer } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import { textAt } from './apimachinery/unstructured.ts'
import type { ObjectStore } from './storage/object-store.ts'

const eventsKey = '/events'
/** Age in milliseconds at which an Event expires: the default of kube-apiserver's flag `--event-ttl`. */
const lifeMs = 3_600_000
/** Interval in milliseconds at which a running cluster deletes expired Events. */
const sweepMs = 300_000

const timePaths = [['metadata', 'creationTimestamp'], ['eventTime'], ['lastTimestamp'], ['series', 'lastObservedTime']] as const

function isExpired(event: JsonObject, now: number): boolean {
  const times = timePaths.map((path) => Date.parse(textAt(event, ...path))).filter((time) => !Number.isNaN(time))
  return times.length > 0 && Math.max(...times) + lifeMs < now
}

/**
 * Deletes the Events that are older than an hour. Without this deletion, a cluster that stores its objects for weeks would store all Events
 * of these weeks.
 */
export async function deleteExpiredEvents(store: ObjectStore, now: number): Promise<void> {
  const { keys, get } = store.snapshot(eventsKey)
  const expired = keys.map((key) => get(key)!).filter((event) => isExpired(event, now))
  const keyOf = (event: JsonObject) => ({ namespace: textAt(event, 'metadata', 'namespace'), name: textAt(event, 'metadata', 'name') })
  await Promise.all(expired.map((event) => store.delete(eventsKey, keyOf(event), event)))
}

export interface EventExpiryOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
}

/** Deletes expired Events every five minutes, until the signal aborts. */
export function expireEvents({ store, clock, logger }: EventExpiryOptions, signal: AbortSignal): void {
  let timer: Timer
  const sweep = async (): Promise<void> => {
    try {
      await deleteExpiredEvents(store, clock.now())
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'expired Events cannot be deleted')
    }
    if (!signal.aborted) timer = clock.after(sweepMs, () => void sweep())
  }
  timer = clock.after(sweepMs, () => void sweep())
  signal.addEventListener('abort', () => timer.cancel(), { once: true })
}
