/** Turns of the event loop: reconciles that never really wait run one after another, and timers and sockets come in between. */
import type { Clock } from '../api/clock.ts'

/**
 * How long timers and sockets wait for reconciles that are quick. A webhook's answer takes some turns, and is to be there within
 * milliseconds; a turn costs a busy queue some ten microseconds.
 */
const sliceMs = 2

interface Turn {
  readonly startedAt: number
  /** Resolves in the next turn. */
  readonly over: Promise<void>
}

/** One for all workers of all controllers: the thread has one event loop, and together they must not hold it up. */
let current: Turn | undefined

/** For a worker that is about to reconcile: undefined while there is time left in this turn, else what to wait for before it asks again. */
export function nextTurn(clock: Clock): Promise<void> | undefined {
  const now = clock.now()
  if (current === undefined) {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    current = { startedAt: now, over }
    setImmediate(() => {
      current = undefined
      resolve()
    })
    return undefined
  }
  const spent = now - current.startedAt
  // A clock that was set back says nothing about the time that has been spent.
  return spent >= 0 && spent < sliceMs ? undefined : current.over
}
