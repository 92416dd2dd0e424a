/** The Events that kube-apiserver would have deleted. */
import type { JsonObject } from '../api/json.ts'
import { textAt } from './apimachinery/unstructured.ts'
import type { ObjectStore } from './storage/object-store.ts'

const eventsKey = '/events'
/** Time in milliseconds after which kube-apiserver deletes an Event (its flag `--event-ttl`). */
const lifeMs = 3_600_000

const timePaths = [['metadata', 'creationTimestamp'], ['eventTime'], ['lastTimestamp'], ['series', 'lastObservedTime']] as const

function isExpired(event: JsonObject, now: number): boolean {
  const times = timePaths.map((path) => Date.parse(textAt(event, ...path))).filter((time) => !Number.isNaN(time))
  return times.length > 0 && Math.max(...times) + lifeMs < now
}

/**
 * Deletes the Events that are older than an hour. A cluster that keeps its objects for weeks would otherwise keep all Events of these
 * weeks.
 */
export async function deleteExpiredEvents(store: ObjectStore, now: number): Promise<void> {
  const { keys, get } = store.snapshot(eventsKey)
  const expired = keys.map((key) => get(key)!).filter((event) => isExpired(event, now))
  const keyOf = (event: JsonObject) => ({ namespace: textAt(event, 'metadata', 'namespace'), name: textAt(event, 'metadata', 'name') })
  await Promise.all(expired.map((event) => store.delete(eventsKey, keyOf(event), event)))
}
