/** What the API server warns of, e.g. a deprecated version: said once, not with every request. */
import type { Clock } from '../api/clock.ts'
import type { Logger } from '../telemetry/logger.ts'

/** Who looks at a log now has not read that of yesterday. */
const againMs = 3_600_000
const maxRemembered = 256

/** Gives the function that logs a warning: each text once an hour, in between at debug level. */
export function warningLog(logger: Logger, clock: Clock): (text: string) => void {
  /** When each text was said; the one that was said first comes first. */
  const said = new Map<string, number>()
  return (text) => {
    const now = clock.now()
    const known = said.get(text)
    if (known !== undefined && now - known < againMs) {
      logger.debug(`the API server warns again: ${text}`)
      return
    }
    said.delete(text)
    said.set(text, now)
    const [oldest] = said.keys()
    if (said.size > maxRemembered && oldest !== undefined) said.delete(oldest)
    logger.warn(`the API server warns: ${text}`)
  }
}
