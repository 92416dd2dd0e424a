/** `retryRefused`: reconciles of workloads whose requests the API server may refuse. */
import { isApiError } from '../../../client/api-error.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'

/**
 * Returns a reconcile that is tried again with back-off after the API server has refused a request, e.g. because of a webhook or a conflict.
 * The workload has reported the failure in its status and Events by then, so no error is logged. Other errors are thrown.
 */
export function retryRefused<T>(
  reconcile: (object: T, context: ReconcileContext) => Promise<Result>,
): (object: T, context: ReconcileContext) => Promise<Result> {
  return async (object, context) => {
    try {
      return await reconcile(object, context)
    } catch (error) {
      if (!isApiError(error)) throw error
      return { requeue: true }
    }
  }
}
