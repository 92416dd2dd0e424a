/** `runController`: prepares a controller, and lets it work while this replica may reconcile. */
import type { ControllerDefinition } from './builder.ts'
import type { ControllerEnvironment } from './prepared-controller.ts'

/** The periods in which this replica may reconcile. */
export interface Terms {
  /**
   * Resolves when a period begins, or immediately during a period. `lost` aborts when the period ends. Rejects with the signal's reason
   * when the signal aborts first.
   */
  term(signal: AbortSignal): Promise<{ readonly lost: AbortSignal }>
}

/**
 * Prepares the controller immediately, so that its informers are up to date when the first term begins. Then calls `work` in each term
 * until `stop` aborts. Without `terms`, `work` is called only once. Resolves when the controller has stopped, and rejects when a worker
 * fails.
 */
export async function runController(
  definition: ControllerDefinition,
  environment: ControllerEnvironment,
  stop: AbortSignal,
  terms?: Terms,
): Promise<void> {
  const controller = definition.prepare(environment)
  try {
    if (terms === undefined) await controller.work({ stop, lost: new AbortController().signal })
    else while (!stop.aborted) await controller.work({ stop, lost: (await terms.term(stop)).lost })
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw error
  } finally {
    await controller.close()
  }
}
