/** Deadlines of handlers: the timeout of the API server less the time that the response needs. */
import type { Clock } from '../api/clock.ts'

/** Default of `timeoutSeconds` in a webhook configuration. */
const defaultMs = 10_000
/** Time for the response to arrive: after its timeout the API server reports a failed call instead. */
const marginMs = 100

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Parses a duration of Go (`10s`, `1m30s`, `500ms`) to milliseconds; returns undefined for an invalid one. */
function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) ms += Number(number) * units[unit!]!
  return ms
}

/** The last parsed text: the API server sends the same one with every call. */
let last: { readonly text: unknown; readonly ms: number } = { text: undefined, ms: defaultMs }

/** Returns the time limit in milliseconds for the query parameter `timeout`. */
export function deadlineFrom(timeout: unknown): number {
  if (timeout !== last.text) {
    const ms = typeof timeout === 'string' ? parseDuration(timeout) : undefined
    // At least half of a very short timeout, which the margin would use up.
    last = { text: timeout, ms: ms === undefined ? defaultMs : Math.max(ms - marginMs, ms / 2) }
  }
  return last.ms
}

/** A request that has waited for less is not charged for it: that is within the margin. */
const noticeableMs = 10

/** Returns the query parameter `timeout`, reduced by the time since the request began to arrive. */
export function timeoutLeft(timeout: unknown, passedMs: number): unknown {
  if (passedMs < noticeableMs) return timeout
  const ms = (typeof timeout === 'string' ? parseDuration(timeout) : undefined) ?? defaultMs
  return `${Math.max(1, Math.round(ms - passedMs))}ms`
}

export const timedOut = Symbol('timed out')

/**
 * Resolves to the result of `work`, or to `timedOut` after `ms`, when it also aborts the controller. The result or error of work that goes
 * on is ignored.
 */
export function withDeadline<T>(
  clock: Clock,
  ms: number,
  controller: Pick<AbortController, 'abort'>,
  work: Promise<T>,
): Promise<T | typeof timedOut> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      controller.abort(new DOMException('the deadline of the request has passed', 'TimeoutError'))
      resolve(timedOut)
    })
    work.then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error as Error)
      },
    )
  })
}
