import t from 'tap'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import { until } from '../../../../src/testing/until.ts'
import { replicaSetController } from '../../../../src/devcluster/controllers/workloads/replica-set.ts'
import { forbidden, objectOf, podOf, quiet, runScripted, time } from '../../../support/devcluster/scripted-controller.ts'

const labels = { app: 'web' }
const replicaSetOf = (spec: object): KubernetesObject =>
  objectOf('web', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels } }, ...spec },
  })

t.test('the creation of a Pod that the API server rejects is tried again', async (t) => {
  let isRejected = true
  const world = runScripted(t, replicaSetController, (method) => {
    if (method !== 'create') return {}
    if (isRejected) throw forbidden
    return { metadata: { name: 'web-1' } }
  })
  world.set(apps.replicaSet, replicaSetOf({}))
  await until('the failure is reported', () => world.asked.some(([method]) => method === 'patch'))
  await quiet()
  t.match(world.asked.splice(0), [
    ['create', 'pods', { metadata: { generateName: 'web-' } }],
    [
      'patch',
      'replicasets',
      { name: 'web' },
      { status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] } },
    ],
  ])
  isRejected = false
  await until('it is tried again', async () => {
    await world.clock.advance(10)
    return world.events.includes('web Normal SuccessfulCreate: Created pod: web-1')
  })
})

t.test('a Pod becomes available after minReadySeconds, without any event', async (t) => {
  const world = runScripted(t, replicaSetController)
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true }]
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time }]
  world.set(podType, podOf('web-1', {}, { status: { phase: 'Running', conditions } }, { labels, ownerReferences }))
  world.set(apps.replicaSet, replicaSetOf({ minReadySeconds: 10 }))
  const available = (): unknown[] =>
    world.asked.splice(0).map(([, , , patch]) => (patch as { status: { availableReplicas?: number } }).status.availableReplicas)
  await quiet()
  await world.clock.advance(9_999)
  await quiet()
  t.notOk(available().includes(1))
  await world.clock.advance(1)
  await until('the status is written', () => world.asked.length > 0)
  t.equal(available()[0], 1)
})

t.test('a terminating Pod counts only while the selector matches its labels', async (t) => {
  const world = runScripted(t, replicaSetController)
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true }]
  for (const [name, own] of Object.entries({ 'web-1': labels, 'web-2': { app: 'other' } }))
    world.set(podType, podOf(name, {}, { status: { phase: 'Running' } }, { labels: own, ownerReferences, deletionTimestamp: time }))
  world.set(apps.replicaSet, replicaSetOf({ replicas: 0 }))
  await until('the status is written', () => world.asked.length > 0)
  t.match(world.asked[0], ['patch', 'replicasets', { name: 'web' }, { status: { terminatingReplicas: 1 } }])
})
