/**
 * Logs warnings of the API server, e.g. about a deprecated version or an unknown field: once an hour for each controller rather than for
 * each request.
 */
import type { Clock } from '../runtime/clock.ts'
import type { WarnedRequest } from '../client/transport.ts'
import type { Logger } from '../telemetry/logger.ts'
import { logContext } from '../telemetry/log-context.ts'

/** A warning is logged again after an hour, for readers of only a recent part of the log. */
const againMs = 3_600_000
const maxRemembered = 256

/**
 * Returns the function that logs a warning: the same message once an hour for each controller at level `warn`, otherwise at level `debug`.
 * The log message names method and path of the request; the log line has the fields of the reconcile that sent it.
 */
export function warningLog(processLogger: Logger, clock: Clock): (text: string, request: WarnedRequest) => void {
  /** The times at which warnings were logged, the oldest first. */
  const loggedAt = new Map<string, number>()
  return (text, { method, path }) => {
    const { owner = '', logger = processLogger } = logContext() ?? {}
    const warning = `${text} (${method} ${path})`
    const key = `${owner}\0${text}`
    const now = clock.now()
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
