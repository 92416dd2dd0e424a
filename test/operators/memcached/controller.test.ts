/** Tests of the controller of Memcacheds when the API server refuses a request, or another client has changed the Deployment. */
import t from 'tap'
import type { Test } from 'tap'
import { apps } from '../../../src/api/kubernetes/apps.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { memcachedController } from '../../../src/operators/memcached/controller.ts'
import type { Memcached } from '../../../src/operators/memcached/kind.ts'
import { memcached } from '../../../src/operators/memcached/kind.ts'
import { aMemcached, aPod, aReplicaSet } from '../../support/operators/memcached.ts'
import type { ScriptedController } from '../../support/operators/scripted-controller.ts'
import { refusal, scriptedController } from '../../support/operators/scripted-controller.ts'

const key = { namespace: 'test', name: 'a' }
const apply = 'apply deployments test/a'
const writeStatus = 'patchStatus memcacheds test/a'

const start = (t: Test) =>
  scriptedController(t, memcachedController({ name: 'memcached', kind: memcached, image: 'example.com/memcached:1' }))

const found = (controller: ScriptedController) => controller.get(memcached, key) as unknown as Memcached
const deploymentIn = (controller: ScriptedController) => controller.get(apps.deployment, key)!
const conditionsOf = (controller: ScriptedController) =>
  found(controller).status?.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim())

/** Changes a label of the Memcached, which triggers a reconcile. */
async function touch(controller: ScriptedController, team: string): Promise<void> {
  const object = found(controller)
  await controller.put(memcached, { ...object, metadata: { ...object.metadata, labels: { team } } })
}

t.test('a Deployment is applied when it is missing or has other fields, with an Event, and not otherwise', async (t) => {
  const controller = await start(t)
  await controller.put(memcached, aMemcached())
  t.strictSame(controller.requests(), [apply, writeStatus])
  t.strictSame(controller.events(), ['Normal DeploymentCreated: Deployment a with 2 Pods'])
  t.equal(controller.retryMs(), undefined)
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []])
  await controller.put(memcached, { ...found(controller), spec: { size: 1, containerPort: 11_211 } })
  t.strictSame(controller.requests()[0], apply)
  t.strictSame(controller.events(), ['Normal DeploymentUpdated: Deployment a with 1 Pod'])
  const { spec, ...deployment } = deploymentIn(controller) as KubernetesObject & { spec: object }
  await controller.put(apps.deployment, { ...deployment, spec: { ...spec, replicas: 5 } })
  t.strictSame(controller.requests(), [apply], 'the change of another client is undone')
  await controller.remove(apps.deployment, key)
  t.strictSame(controller.events(), [
    'Normal DeploymentUpdated: Deployment a with 1 Pod',
    'Normal DeploymentCreated: Deployment a with 1 Pod',
  ])
})

t.test('a Memcached that is being deleted gets no Deployment and no status', async (t) => {
  const controller = await start(t)
  await controller.put(memcached, aMemcached({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  t.strictSame([controller.requests(), controller.events(), controller.retryMs()], [[], [], undefined])
})

t.test('the status names the Pods of the Deployment, and changes with each of its Pods', async (t) => {
  const controller = await start(t)
  await controller.put(memcached, aMemcached())
  const deployment = deploymentIn(controller)
  const replicaSet = aReplicaSet(deployment, 'a-1')
  const other = aReplicaSet({ ...deployment, metadata: { ...deployment.metadata, uid: 'before' } }, 'a-0')
  // The cache receives a Pod before its ReplicaSet.
  await controller.put(core.pod, aPod(replicaSet, 'a-1-z'))
  await controller.put(core.pod, aPod(other, 'a-0-x'))
  t.strictSame(found(controller).status?.nodes, [])
  await controller.put(apps.replicaSet, other)
  await controller.put(apps.replicaSet, replicaSet)
  t.strictSame(found(controller).status?.nodes, ['a-1-z'])
  await controller.put(core.pod, aPod(replicaSet, 'a-1-b'))
  t.strictSame(found(controller).status?.nodes, ['a-1-b', 'a-1-z'])
  await controller.put(core.pod, aPod(replicaSet, 'a-1-z', { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  t.strictSame(found(controller).status?.nodes, ['a-1-b'])
  await controller.put(apps.deployment, {
    ...deployment,
    status: { observedGeneration: 1, replicas: 2, readyReplicas: 1, availableReplicas: 0 },
  })
  t.match(found(controller).status, { replicas: 2, readyReplicas: 1, selector: 'app=memcached,memcached_cr=a', observedGeneration: 1 })
  await controller.remove(core.pod, { namespace: 'test', name: 'a-1-b' })
  t.strictSame(found(controller).status?.nodes, [])
})

for (const [code, reason] of [
  [403, 'Forbidden'],
  [422, 'Invalid'],
] as const)
  // prettier-ignore
  t.test(`a Deployment that is refused with ${code} is reported once, and tried again after half a minute`, async (t) => {
    const controller = await start(t)
    controller.errors.apply = refusal(code, reason, 'exceeded quota')
    await controller.put(memcached, aMemcached())
    t.strictSame(controller.requests(), [apply, writeStatus])
    t.strictSame(controller.events(), ['Warning DeploymentRefused: exceeded quota'])
    t.strictSame(conditionsOf(controller), [
      'Available False DeploymentRefused exceeded quota',
      'Degraded True DeploymentRefused exceeded quota',
      'Progressing False AsExpected',
    ])
    t.strictSame(found(controller).status?.nodes, [])
    t.match(found(controller).status, { replicas: 0, readyReplicas: 0 })
    t.equal(controller.retryMs(), 30_000)
    await touch(controller, 'a')
    t.strictSame([controller.requests(), controller.events()], [[apply], []], 'the status contains the refusal already')
    controller.errors.apply = refusal(code, reason, 'another quota')
    await controller.advance(29_999)
    t.strictSame(controller.requests(), [])
    await controller.advance(1)
    t.strictSame(controller.requests(), [apply, writeStatus])
    t.strictSame(controller.events(), ['Warning DeploymentRefused: another quota'], 'another message is another Event')
    delete controller.errors.apply
    await controller.advance(30_000)
    t.strictSame(controller.events(), ['Normal DeploymentCreated: Deployment a with 2 Pods'])
    t.equal(conditionsOf(controller)?.[1], 'Degraded False AsExpected')
    t.equal(controller.retryMs(), undefined)
    t.strictSame(controller.failures(), [])
  })

t.test('while an update of the Deployment is refused, the status is about the Pods that run', async (t) => {
  const controller = await start(t)
  await controller.put(memcached, aMemcached())
  const deployment = { ...deploymentIn(controller), status: { replicas: 2, readyReplicas: 2, availableReplicas: 2 } }
  const replicaSet = aReplicaSet(deployment, 'a-1')
  await controller.put(apps.replicaSet, replicaSet)
  await controller.put(core.pod, aPod(replicaSet, 'a-1-b'))
  await controller.put(apps.deployment, deployment)
  controller.errors.apply = refusal(403, 'Forbidden', 'exceeded quota')
  await controller.put(memcached, { ...found(controller), spec: { size: 3, containerPort: 11_211 } })
  t.match(found(controller).status, { nodes: ['a-1-b'], replicas: 2, readyReplicas: 2 })
  t.equal(conditionsOf(controller)?.[0], 'Available False DeploymentRefused exceeded quota')
})

t.test('an error that is no refusal fails the reconcile, which is tried again with back-off', async (t) => {
  for (const error of [refusal(500, 'InternalError', 'not now'), refusal(409, 'Conflict', 'changed'), new Error('connection refused')]) {
    const controller = await start(t)
    controller.errors.apply = error
    await controller.put(memcached, aMemcached())
    t.strictSame(controller.failures(), [error.message])
    t.strictSame([controller.requests(), controller.events(), found(controller).status], [[apply], [], undefined])
    t.equal(controller.retryMs(), 5)
    delete controller.errors.apply
    await controller.advance(5)
    t.strictSame(controller.requests(), [apply, writeStatus])
  }
})

t.test('a status that cannot be written fails the reconcile', async (t) => {
  const controller = await start(t)
  controller.errors.patchStatus = refusal(500, 'InternalError', 'not now')
  await controller.put(memcached, aMemcached())
  t.strictSame(controller.failures(), ['not now'])
  delete controller.errors.patchStatus
  controller.requests()
  await controller.advance(5)
  t.strictSame(controller.requests(), [writeStatus])
})

t.test('a Deployment of another owner is reported once, and its place is taken within half a minute after its deletion', async (t) => {
  const controller = await start(t)
  await controller.put(apps.deployment, {
    metadata: { ...key, uid: 'foreign' },
    spec: { replicas: 7 },
    status: { replicas: 7, readyReplicas: 7 },
  })
  const foreign = deploymentIn(controller)
  const replicaSet = aReplicaSet(foreign, 'foreign')
  await controller.put(apps.replicaSet, replicaSet)
  await controller.put(core.pod, aPod(replicaSet, 'foreign-1'))
  await controller.put(memcached, aMemcached())
  const message = 'The Deployment a belongs to somebody else.'
  t.strictSame([controller.requests(), controller.events()], [[writeStatus], [`Warning NameConflict: ${message}`]])
  t.strictSame(conditionsOf(controller), [
    `Available False NameConflict ${message}`,
    `Degraded True NameConflict ${message}`,
    'Progressing False AsExpected',
  ])
  t.strictSame(found(controller).status?.nodes, [])
  t.match(found(controller).status, { replicas: 0, readyReplicas: 0 })
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []])
  t.equal(controller.retryMs(), 30_000)
  await controller.remove(apps.deployment, key)
  await controller.advance(30_000)
  t.strictSame(controller.events(), ['Normal DeploymentCreated: Deployment a with 2 Pods'])
})

t.test('a refusal is a new Warning unless the status contains it as the current one', async (t) => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const known = { type: 'Degraded', status: 'True', reason: 'DeploymentRefused', message: 'exceeded quota', lastTransitionTime }
  for (const [change, warnings] of [
    [{}, 0],
    [{ status: 'False' }, 1],
    [{ reason: 'NameConflict' }, 1],
    [{ message: 'another quota' }, 1],
    [{ type: 'Available' }, 1],
  ] as const) {
    const controller = await start(t)
    controller.errors.apply = refusal(403, 'Forbidden', 'exceeded quota')
    await controller.put(memcached, { ...aMemcached(), status: { conditions: [{ ...known, ...change }] } })
    t.equal(controller.events().length, warnings, JSON.stringify(change))
  }
})
