/** Tests of PodDisruptionBudgets: their status, and the evictions that they allow. */
import t from 'tap'
import { findCondition } from '../../src/api/conditions.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { policy } from '../../src/api/kubernetes/policy.ts'
import { until } from '../../src/testing/until.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const controlPlane = await conformanceControlPlane(t)
const { client } = controlPlane
const api = apiOf(t, controlPlane.connection)
const newNamespace = newNamespaces(client, 'disruption')

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] }
const template = { metadata: { labels }, spec }
type BudgetSpec = NonNullable<policy.PodDisruptionBudget['spec']>

/** Creates a ReplicaSet and waits for its Pods. Returns their names. */
async function createReplicas(namespace: string, replicas: number): Promise<readonly string[]> {
  await client.create(apps.replicaSet, { metadata: { namespace, name: 'web' }, spec: { replicas, selector, template } })
  await until('the Pods are ready', async () => {
    const { status } = await client.get(apps.replicaSet, { namespace, name: 'web' })
    return status?.readyReplicas === replicas
  })
  return (await client.list(core.pod, { namespace })).items.map(({ metadata }) => metadata.name)
}

function createBudget(namespace: string, budget: BudgetSpec, name = 'budget'): Promise<policy.PodDisruptionBudget> {
  return client.create(policy.podDisruptionBudget, { metadata: { namespace, name }, spec: { selector, ...budget } })
}

/**
 * Resolves with the budget when the fields currentHealthy, desiredHealthy, expectedPods and disruptionsAllowed of its status have the
 * values in `values`.
 */
function untilStatus(namespace: string, ...values: readonly [number, number, number, number]): Promise<policy.PodDisruptionBudget> {
  return until(`the status is ${values.join()}`, async () => {
    const found = await client.get(policy.podDisruptionBudget, { namespace, name: 'budget' })
    const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed, observedGeneration } = found.status ?? {}
    const isCurrent = observedGeneration === found.metadata.generation
    return isCurrent && [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed].join() === values.join() && found
  })
}

function evict(namespace: string, name: string, deleteOptions?: object): Promise<RawAnswer> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, ...(deleteOptions && { deleteOptions }) }
  return api('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { body })
}

/** Waits until the namespace contains an Event with this reason. Resolves with the message of the Event. */
function untilEvent(namespace: string, reason: string): Promise<string> {
  return until(`there is an Event with the reason ${reason}`, async () => {
    const { items } = await client.list(core.event, { namespace })
    return items.find((event) => event.reason === reason)?.message
  })
}

const refusal = (message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  reason: 'TooManyRequests',
  details: { causes: [{ reason: 'DisruptionBudget', message }] },
  code: 429,
})

t.test('the status of a budget counts the healthy Pods of a ReplicaSet', async (t) => {
  const namespace = await newNamespace()
  const created = await createBudget(namespace, { minAvailable: 2 })
  t.strictSame([created.metadata.generation, created.status?.disruptionsAllowed], [1, 0])
  const empty = await untilStatus(namespace, 0, 2, 0, 0)
  t.match(empty.status?.conditions, [
    { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '', observedGeneration: 1 },
  ])
  t.equal(await untilEvent(namespace, 'NoPods'), 'No matching pods found')
  await createReplicas(namespace, 3)
  const full = await untilStatus(namespace, 3, 2, 3, 1)
  t.match(full.status?.conditions, [
    { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', observedGeneration: 1 },
  ])
  t.strictSame(Object.keys(full.status ?? {}).sort(), [
    'conditions',
    'currentHealthy',
    'desiredHealthy',
    'disruptionsAllowed',
    'expectedPods',
    'observedGeneration',
  ])

  const change = (budget: object): Promise<unknown> => client.patch(policy.podDisruptionBudget, full.metadata, { spec: budget })
  await change({ minAvailable: '50%' })
  await untilStatus(namespace, 3, 2, 3, 1)
  await change({ minAvailable: null, maxUnavailable: 2 })
  await untilStatus(namespace, 3, 1, 3, 2)
  await change({ maxUnavailable: '50%' })
  await untilStatus(namespace, 3, 1, 3, 2)
  await change({ maxUnavailable: '100%' })
  const all = await untilStatus(namespace, 3, 0, 3, 3)
  t.equal(findCondition(all.status?.conditions, 'DisruptionAllowed')?.observedGeneration, 5)

  await client.patch(apps.replicaSet, { namespace, name: 'web' }, { spec: { replicas: 1 } })
  await untilStatus(namespace, 1, 0, 1, 1)
  await client.patch(apps.replicaSet, { namespace, name: 'web' }, { spec: { replicas: 2 } })
  await untilStatus(namespace, 2, 0, 2, 2)
})

t.test('the expected Pods of a Deployment are its replicas', async (t) => {
  const namespace = await newNamespace()
  await client.create(apps.deployment, { metadata: { namespace, name: 'web' }, spec: { replicas: 4, selector, template } })
  await createBudget(namespace, { maxUnavailable: '25%' })
  const { status } = await untilStatus(namespace, 4, 3, 4, 1)
  t.equal(findCondition(status?.conditions, 'DisruptionAllowed')?.reason, 'SufficientPods')
})

t.test('Pods without a controller are reported, and a controller without a scale is an error', async (t) => {
  const namespace = await newNamespace()
  await client.create(core.pod, { metadata: { namespace, name: 'bare', labels }, spec })
  await createBudget(namespace, { maxUnavailable: 1 })
  await untilStatus(namespace, 1, 0, 0, 0)
  t.match(
    await untilEvent(namespace, 'UnmanagedPods'),
    /^Pods selected by this PodDisruptionBudget \(selector: .*\) were found to be unmanaged\./,
  )

  const owned = await newNamespace()
  const owner = await client.create(core.configMap, { metadata: { namespace: owned, name: 'owner' } })
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, controller: true }
  await client.create(core.pod, { metadata: { namespace: owned, name: 'owned', labels, ownerReferences: [reference] }, spec })
  await createBudget(owned, { maxUnavailable: 1 })
  const failed = await until('the condition is SyncFailed', async () => {
    const { status } = await client.get(policy.podDisruptionBudget, { namespace: owned, name: 'budget' })
    const condition = findCondition(status?.conditions, 'DisruptionAllowed')
    return condition?.reason === 'SyncFailed' && condition
  })
  t.match(failed, { status: 'False', message: 'configmaps does not implement the scale subresource' })
  const message = await untilEvent(owned, 'CalculateExpectedPodCountFailed')
  t.equal(message, 'Failed to calculate the number of expected pods: configmaps does not implement the scale subresource')
})

t.test('an eviction is refused while the budget allows none', async (t) => {
  const namespace = await newNamespace()
  const [first] = (await createReplicas(namespace, 2)) as [string]
  await createBudget(namespace, { minAvailable: 2 })
  await untilStatus(namespace, 2, 2, 2, 0)
  const refused = await evict(namespace, first)
  t.strictSame([refused.status, refused.headers['retry-after']], [429, undefined])
  t.strictSame(refused.body, refusal('The disruption budget budget needs 2 healthy pods and has 2 currently'))
  t.equal((await client.get(core.pod, { namespace, name: first })).metadata.deletionTimestamp, undefined)

  await client.patch(policy.podDisruptionBudget, { namespace, name: 'budget' }, { spec: { minAvailable: 1 } })
  await untilStatus(namespace, 2, 1, 2, 1)
  const dryRun = await evict(namespace, first, { dryRun: ['All'] })
  t.equal(dryRun.status, 201)
  t.equal((await client.get(policy.podDisruptionBudget, { namespace, name: 'budget' })).status?.disruptionsAllowed, 1)
  const held = await client.patch(core.pod, { namespace, name: first }, { metadata: { finalizers: ['example.com/wait'] } })
  const evicted = await evict(namespace, first)
  t.strictSame([evicted.status, evicted.body], [201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }])
  const pod = await client.get(core.pod, held.metadata)
  t.ok(pod.metadata.deletionTimestamp)
  t.match(findCondition(pod.status?.conditions, 'DisruptionTarget'), {
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  })
  await client.patch(core.pod, held.metadata, { metadata: { finalizers: null } })
  const after = await untilStatus(namespace, 2, 1, 2, 1)
  t.equal(after.status?.disruptedPods, undefined)
})

t.test('an eviction takes one disruption from the budget until the controller has seen it', async (t) => {
  const namespace = await newNamespace()
  const [first] = (await createReplicas(namespace, 2)) as [string]
  await createBudget(namespace, { maxUnavailable: 1 })
  const { metadata } = await untilStatus(namespace, 2, 1, 2, 1)
  const { resourceVersion = '' } = metadata
  const events = client.watch(policy.podDisruptionBudget, { namespace, resourceVersion })
  t.equal((await evict(namespace, first)).status, 201)
  for await (const event of events) {
    if (event.type !== 'MODIFIED') continue
    const { status } = event.object
    t.strictSame([status?.disruptionsAllowed, status?.currentHealthy], [0, 2])
    t.strictSame(Object.keys(status?.disruptedPods ?? {}), [first])
    t.match(status?.conditions, [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }])
    break
  }
  await untilStatus(namespace, 2, 1, 2, 1)
})

t.test('a Pod that is not ready is evicted if the others suffice, or always by the policy AlwaysAllow', async (t) => {
  const namespace = await newNamespace()
  const names = (await createReplicas(namespace, 3)) as [string, string, string]
  const setUnready = async (name: string): Promise<void> => {
    const { conditions = [] } = (await client.get(core.pod, { namespace, name })).status!
    const failing = ['Ready', 'ContainersReady']
    const changed = conditions.map((condition) => (failing.includes(condition.type) ? { ...condition, status: 'False' } : condition))
    await client.patchStatus(core.pod, { namespace, name }, { status: { conditions: changed } })
  }
  await createBudget(namespace, { minAvailable: 2 })
  await setUnready(names[0])
  await untilStatus(namespace, 2, 2, 3, 0)
  t.equal((await evict(namespace, names[1])).status, 429, 'a ready Pod is protected')
  t.equal((await evict(namespace, names[0])).status, 201)
  await untilStatus(namespace, 3, 2, 3, 1)
  await client.patch(policy.podDisruptionBudget, { namespace, name: 'budget' }, { spec: { minAvailable: 3 } })
  await setUnready(names[1])
  await untilStatus(namespace, 2, 3, 3, 0)
  const refused = await evict(namespace, names[1])
  t.strictSame(refused.body, refusal('The disruption budget budget needs 3 healthy pods and has 2 currently'))
  await client.patch(policy.podDisruptionBudget, { namespace, name: 'budget' }, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })
  t.equal((await evict(namespace, names[1])).status, 201)
})

t.test('the eviction of a Pod with two budgets is an error', async (t) => {
  const namespace = await newNamespace()
  const [first] = (await createReplicas(namespace, 2)) as [string]
  await createBudget(namespace, { minAvailable: 1 }, 'second')
  await createBudget(namespace, { minAvailable: 1 })
  const { status, body } = await evict(namespace, first)
  const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
  t.strictSame([status, body], [500, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 }])
  t.equal((await client.get(core.pod, { namespace, name: first })).metadata.deletionTimestamp, undefined)
})

t.test('a pending Pod is evicted whatever the budget says', async (t) => {
  const namespace = await newNamespace()
  const pending = { ...spec, nodeSelector: { never: 'there' } }
  await client.create(core.pod, { metadata: { namespace, name: 'pending', labels }, spec: pending })
  await createBudget(namespace, { minAvailable: 1 })
  await untilStatus(namespace, 0, 1, 1, 0)
  t.equal((await evict(namespace, 'pending')).status, 201)
  await until('the Pod is gone', async () => (await client.list(core.pod, { namespace })).items.length === 0)
})
