/** The handlers of termination signals and uncaught errors of the process. */
import { messageOf } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface Termination {
  /** Aborts when the process must shut down gracefully. */
  readonly signal: AbortSignal
  /** Removes the signal and error handlers from the process. */
  release(): void
}

/**
 * Installs handlers of signals and uncaught errors on the process. The first SIGTERM or SIGINT aborts the returned `signal`, so that the
 * process shuts down gracefully. A further signal ends the process immediately.
 * An unhandled rejection is only logged. It can come from the code of one controller or webhook, and the others must continue to run. After
 * an uncaught exception, the state of the process is undefined. The returned `signal` is then aborted, and the exit code is 1.
 *
 * @param signals the signals that are handled. Default: SIGTERM and SIGINT.
 */
export function onTermination(logger: Logger, signals: readonly ('SIGTERM' | 'SIGINT')[] = ['SIGTERM', 'SIGINT']): Termination {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    logger.info(
      `received ${name}: shutting down after the running requests and reconciles have ended; a second signal ends the process immediately`,
    )
    controller.abort(new Error(`received ${name}`))
  }
  const onRejection = (reason: unknown): void => {
    logger.error({ err: reason }, `unhandled rejection: ${messageOf(reason)}`)
  }
  const onException = (error: unknown): void => {
    process.exitCode = 1
    logger.fatal({ err: error }, `uncaught exception: ${messageOf(error)}`)
    controller.abort(error)
  }
  for (const name of signals) process.on(name, onSignal)
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return {
    signal: controller.signal,
    release() {
      for (const name of signals) process.off(name, onSignal)
      process.off('unhandledRejection', onRejection)
      process.off('uncaughtException', onException)
    },
  }
}
