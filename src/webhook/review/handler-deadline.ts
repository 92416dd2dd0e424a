/** The deadline of the handlers: the API server's timeout, minus the time for sending the response. */
import { parseGoDuration } from '../../formats/go-duration.ts'
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, within } from '../../runtime/waiting.ts'

/** The default of `timeoutSeconds` in a webhook configuration, in milliseconds. */
const webhookMs = 10_000
/**
 * Milliseconds that are reserved for sending the response. A response that arrives after the API server's timeout counts as a failed call.
 */
const marginMs = 100

/**
 * Returns the time limit of the handlers in milliseconds.
 *
 * @param timeout the query parameter `timeout` of the request, a duration in Go's notation such as `10s`.
 * @param passedMs the milliseconds since the headers of the request arrived. They are subtracted from the timeout.
 * @param defaultMs the timeout in milliseconds of a request without a valid `timeout`.
 */
export function deadlineFrom(timeout: unknown, passedMs = 0, defaultMs = webhookMs): number {
  const given = typeof timeout === 'string' ? parseGoDuration(timeout) : undefined
  const ms = given === undefined || given < 0n ? defaultMs : Number(given) / 1e6
  const left = Math.max(0, ms - passedMs)
  // The margin could exceed a very short timeout. Therefore, the handlers always have at least half of the remaining time.
  return Math.max(left - marginMs, left / 2)
}

/**
 * Resolves to the result of `work`. If `work` takes longer than `ms` milliseconds, resolves to `timedOut` and aborts the AbortController. A
 * later result or error of `work` is then ignored.
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
