/** Requeues an object at a certain time. */
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'

/**
 * Returns the result of a reconcile that is repeated at `time`. The delay begins at the end of the reconcile: on an injected clock, much
 * time may pass during its requests, and `time` may then be over.
 */
export function requeueAt(time: number, { clock }: Pick<ReconcileContext, 'clock'>): Result {
  return { requeueAfterMs: Math.max(1, time - clock.now()) }
}
