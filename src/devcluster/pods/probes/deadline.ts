/** `withDeadline`: aborts work that takes too long. */
import type { Clock } from '../../../runtime/clock.ts'

/** The reason with which `withDeadline` aborts work that takes too long. The message is that of Go's `context.DeadlineExceeded`. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('context deadline exceeded')
  }
}

export interface DeadlineOptions {
  readonly clock: Clock
  /** The signal that can abort the work before its deadline. */
  readonly signal: AbortSignal
}

/**
 * Returns a promise with the result or error of `work`. The signal of `work` aborts when `options.signal` aborts. After `ms` milliseconds,
 * the signal of `work` aborts with a `DeadlineExceeded`.
 */
export async function withDeadline<T>(ms: number, options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, signal } = options
  const deadline = new AbortController()
  const timer = clock.after(ms, () => deadline.abort(new DeadlineExceeded()))
  try {
    return await work(AbortSignal.any([signal, deadline.signal]))
  } finally {
    timer.cancel()
  }
}
