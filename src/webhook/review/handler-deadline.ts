/** The deadline of the handlers: the API server's timeout, minus the time for sending the response. */
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, within } from '../../runtime/waiting.ts'

/** The default of `timeoutSeconds` in a webhook configuration, in milliseconds. */
const defaultMs = 10_000
/** Milliseconds in which the response must arrive at the API server. After its timeout, the API server treats the call as failed. */
const marginMs = 100

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Parses a Go duration (`10s`, `1m30s`, `500ms`) to milliseconds. Returns undefined when the duration is invalid. */
function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) ms += Number(number) * units[unit!]!
  return ms
}

/** The timeout that was parsed last, cached because the API server usually sends the same value with every call. */
let last: { readonly text: unknown; readonly ms: number } = { text: undefined, ms: defaultMs }

/** Returns the time limit of the handlers in milliseconds, for the value of the query parameter `timeout`. */
export function deadlineFrom(timeout: unknown): number {
  if (timeout !== last.text) {
    const ms = typeof timeout === 'string' ? parseDuration(timeout) : undefined
    // The deadline is at least half of the timeout, because the margin might exceed a very short timeout.
    last = { text: timeout, ms: ms === undefined ? defaultMs : Math.max(ms - marginMs, ms / 2) }
  }
  return last.ms
}

/** Milliseconds below which the time that a request took to arrive is not subtracted, because the margin covers it. */
const noticeableMs = 10

/** Returns the query parameter `timeout`, reduced by the `passedMs` milliseconds since the request began to arrive. */
export function timeoutLeft(timeout: unknown, passedMs: number): unknown {
  if (passedMs < noticeableMs) return timeout
  const ms = (typeof timeout === 'string' ? parseDuration(timeout) : undefined) ?? defaultMs
  return `${Math.max(1, Math.round(ms - passedMs))}ms`
}

/**
 * Resolves to the result of `work`. After `ms` milliseconds it resolves to `timedOut` instead and aborts the controller; a later result or
 * error of `work` is then ignored.
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
