/** Logs the `Warning` headers of API responses, for example about a deprecated version or an unknown field. */
import type { Clock } from '../runtime/clock.ts'
import type { WarnedRequest } from '../client/transport.ts'
import type { Logger } from '../telemetry/logger.ts'
import { logContext } from '../telemetry/log-context.ts'

/** After an hour, the same warning is logged at level `warn` again, because a reader of the log may see only the most recent lines. */
const againMs = 3_600_000
const maxRemembered = 256

/**
 * Returns a function that logs a warning of the API server at level `warn`. If the same controller causes warnings with the same text
 * within the next hour, these warnings are logged at level `debug`. If a reconcile sent the request, the log line contains the log fields
 * of this reconcile.
 */
export function warningLog(processLogger: Logger, clock: Clock): (text: string, request: WarnedRequest) => void {
  /** For each controller and warning, the monotonic time of the last log line at level `warn`. The oldest entry is first. */
  const loggedAt = new Map<string, number>()
  return (text, { method, path }) => {
    const { controller = '', logger = processLogger } = logContext() ?? {}
    const warning = `${text} (${method} ${path})`
    const key = `${controller}\0${text}`
    const now = clock.monotonicNow()
    const known = loggedAt.get(key)
    if (known !== undefined && now - known < againMs) {
      logger.debug(`the API server warns again: ${warning}`)
      return
    }
    loggedAt.delete(key)
    loggedAt.set(key, now)
    const [oldest] = loggedAt.keys()
    if (loggedAt.size > maxRemembered && oldest !== undefined) loggedAt.delete(oldest)
    logger.warn(`the API server warns: ${warning}`)
  }
}
