/** Tasks that run beside everything else until they are told to stop. */
import type { Logger } from '../telemetry/logger.ts'

export interface BackgroundTask {
  /** `failed` carries why it ended though nobody had asked for that. */
  readonly state: 'running' | 'ended' | { readonly failed: unknown }
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>
  /** Tells it to stop; gives `ended`. */
  stop(): Promise<void>
}

/**
 * Starts `task` with a signal of its own. A failure is logged and never thrown: one part that fails does not take others down.
 * That it ends with the signal's reason when it is told to stop is no failure; anything else that it throws then is told as a warning.
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
      if (!aborted) logger.error({ err: error }, `${name} has failed; everything else goes on`)
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
