/**
 * Logs warnings of the API server, e.g. about a deprecated version or an unknown field: once for each controller rather than for each
 * request.
 */
import type { Clock } from '../api/clock.ts'
import type { WarnedRequest } from '../client/transport.ts'
import type { Logger } from '../telemetry/logger.ts'
import { logContext } from '../telemetry/log-context.ts'

/** Repeated after an hour, for readers of a recent part of the log. */
const againMs = 3_600_000
const maxRemembered = 256

/**
 * Returns the function that logs a warning: each text once an hour for each controller at level `warn`, otherwise at level `debug`. The
 * line has the fields of the request, and of the reconcile that sent it.
 */
export function warningLog(processLogger: Logger, clock: Clock): (text: string, request: WarnedRequest) => void {
  /** When each warning was logged, the oldest first. */
  const said = new Map<string, number>()
  return (text, { method, path }) => {
    const { owner = '', logger = processLogger } = logContext() ?? {}
    const warning = `${text} (${method} ${path})`
    const key = `${owner}\0${text}`
    const now = clock.now()
    const known = said.get(key)
    if (known !== undefined && now - known < againMs) {
      logger.debug(`the API server warns again: ${warning}`)
      return
    }
    said.delete(key)
    said.set(key, now)
    const [oldest] = said.keys()
    if (said.size > maxRemembered && oldest !== undefined) said.delete(oldest)
    logger.warn(`the API server warns: ${warning}`)
  }
}
