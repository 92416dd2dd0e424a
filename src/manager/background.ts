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

/** Starts `task` with a signal of its own. A failure is logged and never thrown: one part that fails does not take others down. */
export function inBackground(name: string, task: (signal: AbortSignal) => Promise<void>, logger: Logger): BackgroundTask {
  const controller = new AbortController()
  let state: BackgroundTask['state'] = 'running'
  const ended = runTask()

  async function runTask(): Promise<void> {
    try {
      await task(controller.signal)
      state = 'ended'
    } catch (error) {
      state = controller.signal.aborted ? 'ended' : { failed: error }
      if (!controller.signal.aborted) logger.error({ err: error }, `${name} has failed; everything else goes on`)
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
