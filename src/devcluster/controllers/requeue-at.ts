/** Requeues an object at a certain time. */
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'

/**
 * Returns a result that requeues the object at `time`. A reconcile calls this function at its end, because the delay is relative to the current
 * time. If `time` has already passed, the delay is 1 ms.
 */
export function requeueAt(time: number, { clock }: Pick<ReconcileContext, 'clock'>): Result {
  return { requeueAfterMs: Math.max(1, time - clock.now()) }
}
