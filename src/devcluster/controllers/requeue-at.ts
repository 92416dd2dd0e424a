/** Requeues an object at a certain time, or after a delay. */
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'

/**
 * Returns a result that requeues the object at `time`. If `time` has passed, the delay is 1 ms. The delay starts when the reconcile ends,
 * so a reconcile must call this function last.
 */
export function requeueAt(time: number, { clock }: Pick<ReconcileContext, 'clock'>): Result {
  return { requeueAfterMs: Math.max(1, time - clock.now()) }
}

/**
 * Returns a result that requeues the object after the shortest positive delay. Delays that are undefined or 0 are ignored. If no delay is
 * positive, returns undefined.
 */
export function requeueAfterFirst(delaysMs: readonly (number | undefined)[]): Result {
  const first = Math.min(...delaysMs.map((ms) => ms ?? 0).filter((ms) => ms > 0))
  return Number.isFinite(first) ? { requeueAfterMs: first } : undefined
}
