/**
 * Tests of the status of a Memcached: its numbers and its conditions. Some containers have a reason or message that is not valid in a
 * condition.
 */
import t from 'tap'
import type { Condition } from '../../../src/api/conditions.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { apps } from '../../../src/api/kubernetes/apps.ts'
import type { Memcached } from '../../../src/operators/memcached/kind.ts'
import { podsOf, statusOf } from '../../../src/operators/memcached/status.ts'
import { aPod, aReplicaSet } from '../../support/operators/memcached.ts'

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
  for (const reason of ['bad reason', 'bad!', '', '1', 'x'.repeat(1025), 'ends-with-a-hyphen-'])
    t.match(available({ reason, message }), { reason: 'PodsStarting' })
  t.equal(available({ reason: 'CrashLoopBackOff', message: 'x'.repeat(100_000) })?.message?.length, 32_768)
})

const deploymentWith = (status: object, generation = 1) => ({ metadata: { name: 'a', generation }, status }) as never

function statusWith(status: object | undefined, { size = 3, generation = 1, pods = [] as readonly object[] } = {}) {
  const deployment = status === undefined ? undefined : deploymentWith(status, generation)
  return statusOf({ ...object, spec: { ...object.spec, size } }, { deployment, pods: pods as never }, 0)
}
function conditionWith(type: string, ...all: Parameters<typeof statusWith>): string {
  const { status, reason, message } = findCondition(statusWith(...all).conditions as readonly Condition[], type)!
  return `${status} ${reason} ${message}`.trim()
}

t.test('the numbers are those of the Deployment, and 0 while it has none', async (t) => {
  const status = { replicas: 4, readyReplicas: 3, availableReplicas: 2, updatedReplicas: 1 }
  const numbers = { selector: 'app=memcached,memcached_cr=a', observedGeneration: 1 }
  t.match(statusWith(status), { replicas: 4, readyReplicas: 3, ...numbers })
  for (const none of [undefined, {}]) t.match(statusWith(none), { replicas: 0, readyReplicas: 0, ...numbers })
})

t.test('the nodes are sorted by name', async (t) => {
  const pods = ['a-c', 'a-a', 'a-b'].map((name) => ({ metadata: { name } }))
  t.strictSame(statusWith({}, { pods }).nodes, ['a-a', 'a-b', 'a-c'])
})

t.test('a Memcached is available with as many available Pods as its size, or more', async (t) => {
  t.equal(
    conditionWith('Available', { availableReplicas: 2, readyReplicas: 3, replicas: 3 }),
    'False PodsStarting 2 of 3 Pods are available.',
  )
  t.equal(conditionWith('Available', { availableReplicas: 3 }), 'True PodsAvailable 3 of 3 Pods are available.')
  t.equal(conditionWith('Available', { availableReplicas: 4 }), 'True PodsAvailable 4 of 3 Pods are available.')
  t.equal(conditionWith('Available', undefined), 'False PodsStarting 0 of 3 Pods are available.')
})

t.test('a Memcached is progressing until all Pods have the current template, and no Pod is left over', async (t) => {
  const done = { observedGeneration: 2, replicas: 3, updatedReplicas: 3 }
  const at = { generation: 2 }
  t.equal(conditionWith('Progressing', done, at), 'False AsExpected')
  t.equal(conditionWith('Progressing', undefined), 'False AsExpected', 'there is no Deployment that could progress')
  for (const [change, updated] of [
    [{ observedGeneration: 1 }, 3],
    [{ replicas: 4 }, 3],
    [{ replicas: 2 }, 3],
    [{ updatedReplicas: 2 }, 2],
    [{ updatedReplicas: 4 }, 4],
  ] as const)
    t.equal(
      conditionWith('Progressing', { ...done, ...change }, at),
      `True RollingOut ${updated} of 3 Pods have the current template.`,
      JSON.stringify(change),
    )
  t.equal(conditionWith('Progressing', { ...done, observedGeneration: 3 }, at), 'False AsExpected')
  t.equal(conditionWith('Progressing', {}), 'True RollingOut 0 of 3 Pods have the current template.', 'nobody has observed it yet')
})

t.test('the message of the first Pod that has one is in the condition', async (t) => {
  const podWith = (name: string, ...states: readonly object[]) => ({
    metadata: { name },
    status: { containerStatuses: states.map((state) => ({ name: 'main', state })) },
  })
  const pods = [
    { metadata: { name: 'a-new' } },
    podWith('a-running', { running: {} }, { waiting: { reason: 'ContainerCreating' } }),
    podWith('a-failing', { waiting: { reason: 'ErrImagePull', message: 'not found' } }),
    podWith('a-later', { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }),
  ]
  t.equal(conditionWith('Available', {}, { pods }), 'False ErrImagePull 0 of 3 Pods are available. not found')
  t.equal(conditionWith('Available', { availableReplicas: 3 }, { pods }), 'True PodsAvailable 3 of 3 Pods are available.')
})

t.test('while the Deployment cannot be written, the Memcached is not available, and says why', async (t) => {
  const degraded = { reason: 'NameConflict', message: 'The Deployment a belongs to somebody else.' }
  const deployment = deploymentWith({ observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 })
  const { conditions } = statusOf(object, { deployment, pods: [], degraded }, 0)
  t.match(conditions, [
    { type: 'Available', status: 'False', ...degraded },
    { type: 'Degraded', status: 'True', ...degraded },
    { type: 'Progressing', status: 'False', reason: 'AsExpected' },
  ])
})

t.test('a condition keeps the time of its last transition until its status changes, and has the generation', async (t) => {
  const at = Date.parse('2026-01-01T00:00:00Z')
  const first = statusOf(object, { deployment: undefined, pods: [] }, at).conditions as Condition[]
  const stored = { ...object, metadata: { ...object.metadata, generation: 2 }, status: { conditions: first } } as unknown as Memcached
  const later = statusOf(stored, { deployment: deploymentWith({ availableReplicas: 1 }), pods: [] }, at + 60_000)
  t.equal(later.observedGeneration, 2)
  t.match(later.conditions, [
    { type: 'Available', lastTransitionTime: '2026-01-01T00:01:00Z', observedGeneration: 2 },
    { type: 'Degraded', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 2 },
    { type: 'Progressing', lastTransitionTime: '2026-01-01T00:01:00Z', observedGeneration: 2 },
  ])
})

t.test('only Pods whose ReplicaSet the Deployment controls count, and only until their deletion begins', async (t) => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'test', name: 'a', uid: 'u' } } as apps.Deployment
  const before = { ...deployment, metadata: { ...deployment.metadata, uid: 'before' } }
  const [current, old, foreign] = [aReplicaSet(deployment, 'a-2'), aReplicaSet(deployment, 'a-1'), aReplicaSet(before, 'a-0')]
  const pods = [
    aPod(current, 'current'),
    aPod(old, 'old'),
    aPod(foreign, 'foreign'),
    aPod(current, 'orphan', { ownerReferences: [] }),
    aPod(current, 'leaving', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ]
  t.strictSame(
    podsOf(deployment, [current, old, foreign], pods).map(({ metadata }) => metadata.name),
    ['current', 'old'],
  )
  t.strictSame(podsOf(deployment, [], pods), [], 'the cache does not have the ReplicaSets yet')
})
