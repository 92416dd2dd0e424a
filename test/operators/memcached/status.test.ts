/** Tests of the status of a Memcached whose containers have a reason or a message that is not valid in a condition. */
import t from 'tap'
import type { Condition } from '../../../src/api/conditions.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { Memcached } from '../../../src/operators/memcached/kind.ts'
import { statusOf } from '../../../src/operators/memcached/status.ts'

const object = {
  apiVersion: 'cache.example.com/v1alpha1',
  kind: 'Memcached',
  metadata: { namespace: 'test', name: 'a', generation: 1 },
  spec: { size: 1, containerPort: 11_211 },
} as unknown as Memcached

function available(waiting: { readonly reason?: string; readonly message?: string }) {
  const pod = { metadata: { name: 'a-1' }, status: { containerStatuses: [{ name: 'main', state: { waiting } }] } }
  const { conditions } = statusOf(object, { deployment: undefined, pods: [pod as never] }, 0)
  return findCondition(conditions as readonly Condition[], 'Available')
}

t.test('the reason and the message of a waiting container are in the condition, when a condition may have them', async (t) => {
  const message = 'back-off 10s restarting failed container'
  t.match(available({ reason: 'CrashLoopBackOff', message }), {
    status: 'False',
    reason: 'CrashLoopBackOff',
    message: `0 of 1 Pods are available. ${message}`,
  })
  for (const reason of ['bad reason!', '', '1', 'x'.repeat(1025), 'ends-with-a-hyphen-'])
    t.match(available({ reason, message }), { reason: 'PodsStarting' })
  t.equal(available({ reason: 'CrashLoopBackOff', message: 'x'.repeat(100_000) })?.message?.length, 32_768)
})
