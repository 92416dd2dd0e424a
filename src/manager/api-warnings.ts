/** What the API server warns of, e.g. a deprecated version or an unknown field: said once for each controller, not with every request. */
import type { Clock } from '../api/clock.ts'
import type { WarnedRequest } from '../client/transport.ts'
import type { Logger } from '../telemetry/logger.ts'
import { logContext } from '../telemetry/log-context.ts'

/** Who looks at a log now has not read that of yesterday. */
const againMs = 3_600_000
const maxRemembered = 256

/**
 * Gives the function that logs a warning: each text once an hour for each controller, in between at debug level. The line names the request,
 * and carries the fields of the reconcile that made it.
 */
export function warningLog(processLogger: Logger, clock: Clock): (text: string, request: WarnedRequest) => void {
  /** When each was said; the one that was said first comes first. */
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
