/** How long a handler has: what the API server says it waits, less what the answer needs to get there. */
import type { Clock } from '../api/clock.ts'

/** Without `?timeout=`: what the API server itself uses when a webhook names none. */
const defaultMs = 10_000
/** For the way back: an answer that comes late is lost, and the user reads of a failed call. */
const marginMs = 100

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A duration as Go writes it (`10s`, `1m30s`, `500ms`) in milliseconds; undefined when it is none. */
function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) ms += Number(number) * units[unit!]!
  return ms
}

/** The last text that was asked for, and what it means: the API server always says the same. */
let last: { readonly text: unknown; readonly ms: number } = { text: undefined, ms: defaultMs }

/** The time for a handler, from the query parameter `timeout`. */
export function deadlineFrom(timeout: unknown): number {
  if (timeout !== last.text) {
    const ms = typeof timeout === 'string' ? parseDuration(timeout) : undefined
    // Of a very short time, half: a margin of all of it would leave nothing to try with.
    last = { text: timeout, ms: ms === undefined ? defaultMs : Math.max(ms - marginMs, ms / 2) }
  }
  return last.ms
}

/** The time that counts as none: below it, what a request has waited is within the margin. */
const noticeableMs = 10

/** The query parameter `timeout`, less what has passed since the request began to arrive. */
export function timeoutLeft(timeout: unknown, passedMs: number): unknown {
  if (passedMs < noticeableMs) return timeout
  const ms = (typeof timeout === 'string' ? parseDuration(timeout) : undefined) ?? defaultMs
  return `${Math.max(1, Math.round(ms - passedMs))}ms`
}

export const timedOut = Symbol('timed out')

/**
 * What `work` gives, or `timedOut` when it takes more than another `ms`; the controller aborts at that moment.
 * Work that goes on regardless is left alone: its result, or its error, is nobody's any more.
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
