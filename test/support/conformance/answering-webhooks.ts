/** Waits for the webhooks of an operator that has just started. */
import { isApiError } from '../../../src/client/api-error.ts'
import { until } from '../../../src/testing/until.ts'

/**
 * Resolves when a request that calls the webhooks no longer fails with 500. An API server learns of a change of the webhook configurations
 * through a watch. Until the API server has received the change, it calls the webhooks at their old address.
 */
export async function untilWebhooksAnswer(request: () => Promise<unknown>): Promise<void> {
  await until('the webhooks answer', () =>
    request().then(
      () => true,
      (error: unknown) => {
        if (isApiError(error) && error.statusCode === 500) return false
        throw error
      },
    ),
  )
}
