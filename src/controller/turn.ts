/** Time slices: workers yield to the event loop between reconciles that never wait. */
import type { Clock } from '../api/clock.ts'

/**
 * Maximum time that timers and sockets wait for fast reconciles. A webhook's response takes some turns of the event loop and should be sent
 * within milliseconds; a turn costs a busy queue some ten microseconds.
 */
const sliceMs = 2

interface Turn {
  readonly startedAt: number
  /** Resolves in the next turn. */
  readonly over: Promise<void>
}

/** One slice for all workers of all controllers, because they share the event loop. */
let current: Turn | undefined

/**
 * Called by a worker before it reconciles: returns undefined while there is time left in this turn, else the promise to await before
 * calling again.
 */
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
  // When the clock was set back, the spent time is unknown.
  return spent >= 0 && spent < sliceMs ? undefined : current.over
}
