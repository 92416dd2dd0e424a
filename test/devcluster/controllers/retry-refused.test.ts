import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { ReconcileContext } from '../../../src/controller/reconciler.ts'
import { retryRefused } from '../../../src/devcluster/controllers/retry-refused.ts'

const context = {} as ReconcileContext

t.test('a refused request causes a retry, and every other error is thrown', async (t) => {
  const rejecting = (error: Error) => retryRefused(() => Promise.reject(error))({}, context)
  t.strictSame(await rejecting(new ApiError(failure(403, 'Forbidden', 'no'))), { requeue: true })
  await t.rejects(rejecting(new TypeError('a bug')), { message: 'a bug' })
  t.strictSame(await retryRefused(() => Promise.resolve({ requeueAfterMs: 5 }))({}, context), { requeueAfterMs: 5 })
})
