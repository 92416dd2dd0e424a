/** Tests of Echos when another client has already created a Job with the name of the Echo. */
import t from 'tap'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import type { Client } from '../../../src/client/client.ts'
import { reconcileEcho } from '../../../src/operators/echo/echo-controller.ts'
import type { Echo } from '../../../src/operators/echo/kind.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'

const key = { namespace: 'test', name: 'hello' }
const created = '2026-01-01T00:00:00Z'
const foreign = { apiVersion: 'batch/v1', kind: batch.job.kind, metadata: { ...key, uid: 'foreign', creationTimestamp: created } }

/** Returns the statuses that a reconcile of the Echo writes. */
async function statusesOf(conditions: readonly object[], generation = 1): Promise<readonly Echo['status'][]> {
  const statuses: Echo['status'][] = []
  const client = {
    patchStatus: async (_type: unknown, _key: unknown, patch: Echo) => void statuses.push(patch.status),
  } as unknown as Client
  const object = {
    metadata: { ...key, uid: 'echo', generation, creationTimestamp: created },
    spec: { message: 'hi' },
    status: { observedGeneration: 1, conditions },
  } as unknown as Echo
  await reconcileEcho(object, reconcileContext({ client, cached: [foreign] }))
  return statuses
}

const condition = (type: string, status: string) => ({ type, status, reason: 'AsExpected', message: '', lastTransitionTime: created })

t.test('a message that was printed stays complete, and is not printed again', async (t) => {
  t.strictSame(await statusesOf([condition('Complete', 'True')]), [])
  t.strictSame(await statusesOf([condition('Failed', 'True')]), [])
})

t.test('a message that was not printed yet waits for the name', async (t) => {
  const conflict = [{ conditions: [{ type: 'Complete', status: 'False' }, { type: 'Failed', reason: 'NameConflict' }, {}] }]
  t.match(await statusesOf([]), conflict)
  t.match(await statusesOf([condition('Complete', 'True')], 2), conflict)
})
