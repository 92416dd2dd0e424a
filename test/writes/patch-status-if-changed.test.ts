import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import type { Client } from '../../src/client/client.ts'
import type { core } from '../../src/index.ts'
import { patchStatusIfChanged } from '../../src/writes/patch-status-if-changed.ts'
import { objectOf } from '../support/controller/fakes.ts'

const stored = {
  ...objectOf(pod, 'a'),
  spec: { containers: [] },
  status: { phase: 'Running', hostIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
} as unknown as core.Pod

async function patch(status: object, object = stored) {
  const requests: unknown[] = []
  const patched = { ...object, status: {} }
  const client = { patchStatus: async (...args: unknown[]) => (requests.push(args), patched) } as unknown as Client
  const result = await patchStatusIfChanged(client, pod, object, status, { fieldManager: 'me' })
  return { requests, result: result === object ? 'unchanged' : result === patched ? 'patched' : 'other' }
}

t.test('an equal status is not written, whatever the order of its keys', async (t) => {
  for (const status of [
    {},
    { conditions: [{ status: 'True', type: 'Ready' }], phase: 'Running' },
    { podIP: null, hostIP: undefined, message: undefined },
  ])
    t.strictSame(await patch(status), { requests: [], result: 'unchanged' })
})

t.test('only the fields that differ are written', async (t) => {
  const conditions = [{ type: 'Ready', status: 'False' }]
  t.strictSame(await patch({ phase: 'Running', hostIP: null, podIP: '10.0.0.2', conditions }), {
    requests: [[pod, { namespace: 'ns', name: 'a' }, { status: { hostIP: null, podIP: '10.0.0.2', conditions } }, { fieldManager: 'me' }]],
    result: 'patched',
  })
})

t.test('an object without a status gets one', async (t) => {
  const { status: _, ...without } = stored
  const { requests } = await patch({ phase: 'Pending', podIP: null }, without as core.Pod)
  t.match(requests, [[pod, {}, { status: { phase: 'Pending' } }]])
})
