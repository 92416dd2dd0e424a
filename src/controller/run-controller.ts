/** `runController`: prepares a controller, and lets it work while this replica may reconcile. */
import type { ControllerDefinition } from './builder.ts'
import type { ControllerEnvironment } from './prepared-controller.ts'

/** Tells when this replica may reconcile. */
export interface Terms {
  /**
   * Resolves to the current period in which this replica may reconcile, or to the next one. `lost` aborts when the period ends. Rejects with
   * the signal's reason when the signal aborts first.
   */
  term(signal: AbortSignal): Promise<{ readonly lost: AbortSignal }>
}

/**
 * Prepares the controller at once, so that its informers are up to date when its first term begins. It then works in each term until `stop`
 * aborts; without `terms`, it works all the time. Resolves when it has stopped, and rejects when a worker fails.
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
