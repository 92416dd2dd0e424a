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
 * Handles termination signals and uncaught errors of the process:
 *
 * - The first SIGTERM or SIGINT aborts the returned `signal` (an AbortSignal), so that the process shuts down gracefully. If the process
 *   receives SIGTERM or SIGINT when `signal` is already aborted, the process ends immediately.
 * - An unhandled rejection is only logged, because the controllers and webhooks that did not cause the rejection must continue to run.
 * - An uncaught exception aborts `signal` and sets the exit code to 1, because the state of the process is undefined after such an
 *   exception.
 *
 * @param signals the termination signals that the function handles. Default: SIGTERM and SIGINT.
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
