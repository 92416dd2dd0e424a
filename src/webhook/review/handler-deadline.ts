/** Deadlines of handlers: the API server's timeout, minus time for sending the response. */
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, within } from '../../runtime/waiting.ts'

/** Default of `timeoutSeconds` in a webhook configuration. */
const defaultMs = 10_000
/** Time in which the response must arrive at the API server, which reports a failed call after its timeout. */
const marginMs = 100

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Parses a duration of Go (`10s`, `1m30s`, `500ms`) to milliseconds; returns undefined for an invalid one. */
function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) ms += Number(number) * units[unit!]!
  return ms
}

/** The last parsed timeout: the API server sends the same value with every call. */
let last: { readonly text: unknown; readonly ms: number } = { text: undefined, ms: defaultMs }

/** Returns the time limit in milliseconds for the query parameter `timeout`. */
export function deadlineFrom(timeout: unknown): number {
  if (timeout !== last.text) {
    const ms = typeof timeout === 'string' ? parseDuration(timeout) : undefined
    // The deadline is at least half of the timeout: the margin would use up a very short one.
    last = { text: timeout, ms: ms === undefined ? defaultMs : Math.max(ms - marginMs, ms / 2) }
  }
  return last.ms
}

/** A waiting time below this is not subtracted from the timeout: it is within the margin. */
const noticeableMs = 10

/** Returns the query parameter `timeout`, reduced by the time since the request began to arrive. */
export function timeoutLeft(timeout: unknown, passedMs: number): unknown {
  if (passedMs < noticeableMs) return timeout
  const ms = (typeof timeout === 'string' ? parseDuration(timeout) : undefined) ?? defaultMs
  return `${Math.max(1, Math.round(ms - passedMs))}ms`
}

/**
 * Resolves to the result of `work`, or after `ms` to `timedOut`; the controller is then aborted, and a later result or error of `work` is
 * ignored.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  controller: Pick<AbortController, 'abort'>,
  work: Promise<T>,
): Promise<T | typeof timedOut> {
  const result = await within(clock, ms, work)
  if (result === timedOut) controller.abort(new DOMException('the deadline of the request has passed', 'TimeoutError'))
  return result
}
