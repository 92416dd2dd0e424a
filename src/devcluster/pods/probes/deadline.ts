/** `withDeadline`: aborts work that is not done in time. */
import type { Clock } from '../../../runtime/clock.ts'

/** The reason with which `withDeadline` aborts work whose time is over. The message is that of Go's `context.DeadlineExceeded`. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('context deadline exceeded')
  }
}

export interface DeadlineOptions {
  readonly clock: Clock
  /** The signal that aborts the work before its time is over. */
  readonly signal: AbortSignal
}

/** Settles like `work`. The signal of `work` aborts when `options.signal` aborts, or after `ms` milliseconds with a `DeadlineExceeded`. */
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
