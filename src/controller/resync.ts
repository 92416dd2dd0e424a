/** `resync`: enqueues all objects periodically, in case an event was missed, or something outside the cluster changed without an event. */
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import type { Logger } from '../telemetry/logger.ts'

/** The default resync period. controller-runtime's informers have the same period. */
export const defaultResyncPeriodMs = 10 * 3_600_000

export interface ResyncOptions {
  /** The mean time between two resyncs in milliseconds. With 0, there is no resync. */
  readonly periodMs: number
  readonly clock: Clock
  /** Returns a number in [0, 1), for the jitter of the period. */
  readonly random: () => number
  readonly logger: Logger
  /** Enqueues all objects. Their keys get a low priority in the queue. */
  readonly enqueueAll: () => Promise<void>
}

/**
 * Enqueues all objects after each period. The promise resolves when the signal aborts. Each period is up to 10 % shorter or longer than
 * `periodMs`, so the controllers of a cluster do not resync at the same time.
 */
export async function resync({ periodMs, clock, random, logger, enqueueAll }: ResyncOptions, signal: AbortSignal): Promise<void> {
  if (periodMs === 0) return
  for (;;) {
    await sleep(clock, periodMs * (0.9 + 0.2 * random()), signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      await enqueueAll()
    } catch (err) {
      logger.error({ err }, 'the resync failed; the next one follows after the usual time')
    }
  }
}
