/** `retryRefused`: retries a reconcile after the API server has rejected a request. */
import { isApiError } from '../../client/api-error.ts'
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'

/**
 * Thrown by a reconcile that must be retried, for example because a PersistentVolumeClaim is being deleted. `retryRefused` handles a
 * `Refusal` like an API error.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/**
 * Wraps a reconcile function, so that a reconcile is retried with back-off after a `Refusal` or an API error, e.g. a conflict or the
 * rejection of a request by a webhook. These errors are not logged, because the status and the Events of the object report the failure.
 * Other errors are thrown.
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
