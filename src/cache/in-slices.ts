/** `forEachInSlices`: processes the objects of lists without blocking the event loop. */
import type { Clock } from '../runtime/clock.ts'
import { TimeSlices } from '../runtime/time-slices.ts'

/**
 * Duration of a time slice in milliseconds. After each time slice, the event loop serves timers and sockets. Processing 20,000 objects
 * takes some hundred milliseconds, and the webhooks of this process must respond during this time.
 */
const sliceMs = 2

/** All informers share the time slices, because they share the event loop. */
const slices = new TimeSlices(sliceMs)

/** Calls `action` for each item, and yields to the event loop whenever the time slice is used up. */
export async function forEachInSlices<Item>(items: readonly Item[], clock: Clock, action: (item: Item) => void): Promise<void> {
  for (const item of items) {
    action(item)
    const turn = slices.next(() => clock.monotonicNow())
    if (turn !== undefined) await turn
  }
}
