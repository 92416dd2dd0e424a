/** `retryRefused`: retries a reconcile after the API server has rejected a request. */
import { isApiError } from '../../../client/api-error.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'

/** A workload that cannot go on for now, although the API server has not refused the last request. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/**
 * Wraps a reconcile function. If the API server rejects a request, for example because of a webhook or a conflict, the reconcile is retried
 * with back-off. No error is logged, because the workload reports the failure in its status and Events. Other errors are thrown.
 */
export function retryRefused<T>(
  reconcile: (object: T, context: ReconcileContext) => Promise<Result>,
): (object: T, context: ReconcileContext) => Promise<Result> {
  return async (object, context) => {
    try {
      return await reconcile(object, context)
    } catch (error) {
      if (!isApiError(error) && !(error instanceof Refusal)) throw error
      return { requeue: true }
    }
  }
}
