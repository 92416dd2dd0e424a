/** Background tasks: asynchronous functions that run until their signal aborts. */
import type { Logger } from '../telemetry/logger.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'

export interface BackgroundTask {
  /**
   * `failed` contains the error of a task that failed before `stop` was called. If a task fails after `stop` was called, its state is
   * `ended`.
   */
  readonly state: 'running' | 'ended' | { readonly failed: unknown }
  /** Resolves when the task has ended for any reason. */
  readonly ended: Promise<void>
  /** Aborts the signal that was passed to the task; returns `ended`. */
  stop(): Promise<void>
}

/**
 * Starts `task` with a new signal, which `stop` aborts. An error of the task is never thrown, because it must not stop other tasks:
 *
 * - If the task fails before `stop` is called, the error is logged as an error.
 * - If the task rejects after `stop` because its signal has aborted, the task has ended normally.
 * - Any other error after `stop` is logged as a warning.
 */
export function inBackground(name: string, task: (signal: AbortSignal) => Promise<void>, logger: Logger): BackgroundTask {
  const controller = new AbortController()
  let state: BackgroundTask['state'] = 'running'
  const ended = runTask()

  async function runTask(): Promise<void> {
    try {
      await task(controller.signal)
      state = 'ended'
    } catch (error) {
      const { aborted, reason } = controller.signal
      state = aborted ? 'ended' : { failed: error }
      if (!aborted)
        logger.error({ err: loggedError(error) }, `${name} has failed; everything else goes on${permissionAdvice(error, 'operator')}`)
      else if (isBecauseOf(reason, error)) logger.debug(`${name} was stopped`)
      else logger.warn({ err: error }, `${name} has failed while it was being stopped`)
    }
  }

  return {
    get state() {
      return state
    },
    ended,
    stop() {
      controller.abort(new Error(`${name} is stopped`))
      return ended
    },
  }
}

function isBecauseOf(reason: unknown, error: unknown): boolean {
  return error === reason || (error instanceof Error && (error.name === 'AbortError' || error.cause === reason))
}
