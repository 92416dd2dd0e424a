/** What ends the process from outside, or should not: termination signals, and errors that nobody caught. */
import { messageOf } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface Termination {
  /** Aborts when the process is to end in order. */
  readonly signal: AbortSignal
  /** Takes the handlers away. */
  release(): void
}

/**
 * Aborts on SIGTERM and SIGINT, so that the process ends in order; a second signal ends it at once.
 * A promise that an operator forgot to wait for is logged and ends nothing: the webhooks of everybody else are in this process.
 * After an exception outside of any promise nobody knows what still holds, so that ends the process in order, with exit code 1.
 */
export function onTermination(logger: Logger): Termination {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    logger.info(`received ${name}: what has begun is brought to its end; a second signal ends the process at once`)
    controller.abort(new Error(`received ${name}`))
  }
  const onRejection = (reason: unknown): void => {
    logger.error({ err: reason }, `a promise was rejected that nobody waits for: ${messageOf(reason)}`)
  }
  const onException = (error: unknown): void => {
    process.exitCode = 1
    logger.fatal({ err: error }, `an exception that nobody caught: ${messageOf(error)}`)
    controller.abort(error)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return {
    signal: controller.signal,
    release() {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
      process.off('unhandledRejection', onRejection)
      process.off('uncaughtException', onException)
    },
  }
}
