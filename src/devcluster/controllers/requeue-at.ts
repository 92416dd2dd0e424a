/** Requeues an object at a certain time. */
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'

/**
 * Returns a result that requeues the object at `time`. If `time` has already passed, the delay is 1 ms. The delay starts at the end of the
 * reconcile, and a reconcile therefore calls this function last.
 */
export function requeueAt(time: number, { clock }: Pick<ReconcileContext, 'clock'>): Result {
  return { requeueAfterMs: Math.max(1, time - clock.now()) }
}
