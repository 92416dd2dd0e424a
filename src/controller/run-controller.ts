/** `runController`: prepares a controller, and calls its `work` in each period in which this replica may reconcile. */
import type { ControllerDefinition } from './builder.ts'
import type { ControllerEnvironment } from './prepared-controller.ts'

/** The terms of this replica. A term is a period in which this replica may reconcile. */
export interface Terms {
  /**
   * Resolves when a term begins, or immediately during a term. Rejects with the reason of `signal` if `signal` aborts first. `lost` aborts
   * when the term ends.
   */
  term(signal: AbortSignal): Promise<{ readonly lost: AbortSignal }>
}

/**
 * Prepares the controller immediately, so that its informers are up to date when the first term begins. A term is a period in which this
 * replica may reconcile. Until `stop` aborts, `work` is called in each term. If `terms` is absent, `work` is called only once. The promise
 * resolves when the controller has stopped, and rejects when a worker fails.
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
