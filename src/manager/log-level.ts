/** Changes the log level while the process runs. */
import type { LevelChangeEventListener } from 'pino'
import { ProreusError } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

export const logLevels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Sets the level of a logger. Child loggers without a separate level inherit the new level, because in pino, a logger is the prototype of
 * its child loggers.
 *
 * @throws {ProreusError} `PRO_INPUT` for an unknown level.
 */
export function setLogLevel(logger: Logger, level: string): void {
  if (!logLevels.includes(level)) {
    throw new ProreusError(
      'PRO_INPUT',
      `The log level is ${JSON.stringify(level.slice(0, 40))}: it must be one of ${logLevels.join(', ')}.`,
    )
  }
  const before = logger.level
  if (before === level) return
  const report = (): void => logger.warn(`the log level is ${level} now; it was ${before}`)
  // The report has the level `warn`. If the new level suppresses this report, the report is logged before the level changes.
  const isDropped = ['error', 'fatal', 'silent'].includes(level)
  if (isDropped) report()
  logger.level = level
  if (!isDropped) report()
}

/**
 * Installs a handler for SIGUSR2, except on Windows, which has no SIGUSR2. SIGUSR1 is not used, because it starts the inspector of Node.js.
 *
 * If the log level is not `debug`, the signal changes the log level to `debug`. If the log level is `debug`, the signal restores the
 * previous level. If there is no previous level, because the process started with the level `debug`, the signal changes the log level to
 * `info`.
 *
 * @returns the function that removes the handler.
 */
export function toggleDebugOnSignal(logger: Logger): () => void {
  if (process.platform === 'win32') return () => undefined
  let beforeDebug = 'info'
  const onLevelChange: LevelChangeEventListener = (level, _value, previous, _previousValue, changed) => {
    // Child loggers inherit the listeners, so this listener is also called when the level of a child logger changes. Such a change is
    // ignored.
    if (changed === logger && level === 'debug' && previous !== 'debug') beforeDebug = previous
  }
  const onSignal = (): void => setLogLevel(logger, logger.level === 'debug' ? beforeDebug : 'debug')
  logger.on('level-change', onLevelChange)
  process.on('SIGUSR2', onSignal)
  return () => {
    logger.off('level-change', onLevelChange)
    process.off('SIGUSR2', onSignal)
  }
}
