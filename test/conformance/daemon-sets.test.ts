/** Tests of DaemonSets: their Pods on nodes, updates, revisions and status. */
import t from 'tap'
import type { Pod } from '../../src/api/builtin.ts'
import { node as nodeType, pod as podType } from '../../src/api/builtin.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { controllerOf } from '../../src/api/owner-reference.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { untilGone } from '../support/devcluster/client.ts'

const labels = { app: 'agent' }
const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, labels: { role: 'worker' } }))
const { client } = await conformanceControlPlane(t, { nodes: [...nodes, { name: 'other' }] })
const newNamespace = newNamespaces(client, 'daemon-sets')

/** Creates a namespace, and returns the key of its DaemonSet. */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'agent' }
}

function templateOf(image: string, nodeSelector: Readonly<Record<string, string>> = { role: 'worker' }) {
  return { metadata: { labels }, spec: { nodeSelector, containers: [{ name: 'main', image: `example.com/app:${image}` }] } }
}

function create(key: NamespacedKey, spec: Partial<apps.DaemonSetSpec> = {}): Promise<apps.DaemonSet> {
  return client.create(apps.daemonSet, {
    metadata: key,
    spec: { selector: { matchLabels: labels }, template: templateOf('1'), ...spec },
  })
}

function patch(key: NamespacedKey, spec: object): Promise<apps.DaemonSet> {
  return client.patch(apps.daemonSet, key, { spec })
}

function untilStatus(key: NamespacedKey, wanted: Partial<apps.DaemonSet['status']>): Promise<apps.DaemonSet> {
  return until(`the status has ${JSON.stringify(wanted)}`, async () => {
    const found = await client.get(apps.daemonSet, key)
    const status: Readonly<Record<string, unknown>> = { ...found.status }
    const isObserved = found.status?.observedGeneration === found.metadata.generation
    return isObserved && Object.entries(wanted!).every(([name, value]) => (status[name] ?? 0) === value) && found
  })
}

/** Resolves when `count` nodes have an available Pod with the newest template. */
function untilRolledOut(key: NamespacedKey, count = 3): Promise<apps.DaemonSet> {
  const fields = ['desiredNumberScheduled', 'currentNumberScheduled', 'updatedNumberScheduled', 'numberAvailable']
  return untilStatus(key, { ...Object.fromEntries(fields.map((field) => [field, count])), numberUnavailable: 0 })
}

async function podsOf({ namespace }: NamespacedKey): Promise<Pod[]> {
  return (await client.list(podType, { namespace })).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function nodesOf(pods: readonly Pod[]): string {
  return pods
    .map(({ spec }) => spec?.nodeName ?? '')
    .sort()
    .join()
}

function untilNodes(key: NamespacedKey, wanted: string): Promise<Pod[]> {
  return until(`the Pods are on ${wanted}`, async () => {
    const pods = await podsOf(key)
    return nodesOf(pods) === wanted && pods
  })
}

async function imagesOf(key: NamespacedKey): Promise<string> {
  return (await podsOf(key))
    .map(({ spec }) => spec!.containers[0]!.image!.replace('example.com/app:', ''))
    .sort()
    .join()
}

async function revisionsOf({ namespace }: NamespacedKey): Promise<apps.ControllerRevision[]> {
  const { items } = await client.list(apps.controllerRevision, { namespace })
  return items.toSorted((a, b) => a.revision - b.revision)
}

function untilMessage({ namespace }: NamespacedKey, wanted: string): Promise<unknown> {
  return until(`there is an Event ${wanted}`, async () => {
    const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=DaemonSet' })
    return items.some(({ type, reason, message }) => `${type} ${reason}: ${message}`.startsWith(wanted))
  })
}

t.test('each node that fits has a Pod', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key)
  const { metadata, status } = await untilRolledOut(key)
  t.match(status, { observedGeneration: 1, numberMisscheduled: 0, numberReady: 3 })
  t.equal(status?.numberUnavailable, undefined)
  const pods = await podsOf(key)
  t.equal(nodesOf(pods), 'n1,n2,n3')
  const [revision, ...others] = await revisionsOf(key)
  t.strictSame(others, [])
  const hash = revision!.metadata.labels!['controller-revision-hash']!
  t.equal(revision!.metadata.name, `agent-${hash}`)
  t.strictSame(revision!.metadata.labels, { app: 'agent', 'controller-revision-hash': hash })
  t.match(revision, { revision: 1, data: { spec: { template: { $patch: 'replace' } } } })
  for (const pod of pods) {
    t.match(pod.metadata.name, /^agent-[a-z0-9]{5}$/)
    t.strictSame(pod.metadata.labels, { app: 'agent', 'controller-revision-hash': hash, 'pod-template-generation': '1' })
    t.equal(controllerOf(pod)?.uid, metadata.uid)
    t.strictSame(pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [pod.spec?.nodeName] }] }],
    })
    t.strictSame(
      pod.spec?.tolerations?.map(({ key: taint, operator, effect }) => `${taint} ${operator} ${effect}`),
      [
        'node.kubernetes.io/not-ready Exists NoExecute',
        'node.kubernetes.io/unreachable Exists NoExecute',
        'node.kubernetes.io/disk-pressure Exists NoSchedule',
        'node.kubernetes.io/memory-pressure Exists NoSchedule',
        'node.kubernetes.io/pid-pressure Exists NoSchedule',
        'node.kubernetes.io/unschedulable Exists NoSchedule',
      ],
    )
    await untilMessage(key, `Normal SuccessfulCreate: Created pod: ${pod.metadata.name}`)
  }
})

t.test('Pods follow the labels of nodes', needsOwnControlPlane, async () => {
  const key = await newKey()
  await create(key, { template: templateOf('1', { disk: 'fast' }) })
  await untilStatus(key, { desiredNumberScheduled: 0 })
  await client.patch(nodeType, { name: 'n1' }, { metadata: { labels: { disk: 'fast' } } })
  await untilNodes(key, 'n1')
  await untilRolledOut(key, 1)
  await client.patch(nodeType, { name: 'n2' }, { metadata: { labels: { disk: 'fast' } } })
  await untilNodes(key, 'n1,n2')
  await client.patch(nodeType, { name: 'n1' }, { metadata: { labels: { disk: 'slow' } } })
  await untilNodes(key, 'n2')
  await untilRolledOut(key, 1)
})

t.test('a taint without NoExecute keeps the Pod, one with it does not', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key)
  await untilRolledOut(key)
  const taint = (effect: string) => client.patch(nodeType, { name: 'n3' }, { spec: { taints: [{ key: 'example.com/a', effect }] } })
  t.teardown(() => client.patch(nodeType, { name: 'n3' }, { spec: { taints: [] } }))
  await taint('NoSchedule')
  // As in Kubernetes, a `NoSchedule` taint does not trigger a reconcile, because the Pod can stay on the node. The patch of the DaemonSet
  // triggers the reconcile.
  await client.patch(apps.daemonSet, key, { metadata: { annotations: { touched: 'yes' } } })
  await untilStatus(key, { desiredNumberScheduled: 2, numberMisscheduled: 1 })
  t.equal(nodesOf(await podsOf(key)), 'n1,n2,n3')
  await taint('NoExecute')
  await untilNodes(key, 'n1,n2')
  await untilStatus(key, { desiredNumberScheduled: 2, numberMisscheduled: 0 })
  await client.patch(nodeType, { name: 'n3' }, { spec: { taints: [] } })
  await untilNodes(key, 'n1,n2,n3')
})

t.test('a new template replaces as many Pods at once as may be unavailable', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key)
  await untilRolledOut(key)
  // The new Pods cannot become ready, so the update stops.
  const stuck = { ...templateOf('2'), spec: { ...templateOf('2').spec, schedulerName: 'none' } }
  await patch(key, { template: stuck })
  await untilStatus(key, { updatedNumberScheduled: 1, numberUnavailable: 1, numberAvailable: 2 })
  t.equal(await imagesOf(key), '1,1,2')
  await patch(key, { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })
  await untilStatus(key, { updatedNumberScheduled: 2, numberUnavailable: 2, numberAvailable: 1 })
  await patch(key, { template: { spec: { schedulerName: 'default-scheduler' } } })
  await untilRolledOut(key)
  t.equal(await imagesOf(key), '2,2,2')
})

t.test('with a surge, an old Pod is deleted when the new one on its node is available', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
  await untilRolledOut(key)
  const stuck = { ...templateOf('2'), spec: { ...templateOf('2').spec, schedulerName: 'none' } }
  await patch(key, { template: stuck })
  await until('there is an additional Pod', async () => (await imagesOf(key)) === '1,1,1,2')
  await untilStatus(key, { numberAvailable: 3, numberUnavailable: 0, updatedNumberScheduled: 0 })
  await patch(key, { template: { spec: { schedulerName: 'default-scheduler' } } })
  await untilRolledOut(key)
  t.equal(await imagesOf(key), '2,2,2')
})

t.test('with the strategy OnDelete, a Pod gets the new template when it is deleted', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key, { updateStrategy: { type: 'OnDelete' } })
  await untilRolledOut(key)
  await patch(key, { template: templateOf('2') })
  await untilStatus(key, { updatedNumberScheduled: 0, numberAvailable: 3 })
  t.equal((await revisionsOf(key)).length, 2)
  const [pod] = await podsOf(key)
  await client.delete(podType, pod!.metadata)
  await untilStatus(key, { updatedNumberScheduled: 1, numberAvailable: 3 })
  t.equal(await imagesOf(key), '1,1,2')
})

t.test('a Pod that has ended is replaced', needsOwnControlPlane, async () => {
  const key = await newKey()
  await create(key, { template: templateOf('1', { 'kubernetes.io/hostname': 'n1' }) })
  for (const [phase, message] of [
    ['Failed', 'Warning FailedDaemonPod: Found failed daemon pod'],
    ['Succeeded', 'Normal SucceededDaemonPod: Found succeeded daemon pod'],
  ] as const) {
    await untilRolledOut(key, 1)
    const [pod] = await podsOf(key)
    await client.patchStatus(podType, pod!.metadata, { status: { phase } })
    await untilMessage(key, message)
    await until('the Pod is replaced', async () => {
      const pods = await podsOf(key)
      return pods.length === 1 && pods[0]!.metadata.uid !== pod!.metadata.uid
    })
  }
})

t.test('the earlier template makes the earlier revision the newest one, and old ones are deleted', needsOwnControlPlane, async (t) => {
  const key = await newKey()
  await create(key, { template: templateOf('1', { 'kubernetes.io/hostname': 'n1' }), revisionHistoryLimit: 1 })
  await untilRolledOut(key, 1)
  const [first] = await revisionsOf(key)
  for (const image of ['2', '1']) {
    await patch(key, { template: { spec: { containers: [{ name: 'main', image: `example.com/app:${image}` }] } } })
    await untilRolledOut(key, 1)
  }
  const numbers = async (): Promise<string> => (await revisionsOf(key)).map(({ revision }) => revision).join()
  t.equal(await numbers(), '2,3')
  t.equal((await revisionsOf(key))[1]!.metadata.uid, first!.metadata.uid)
  await patch(key, { template: { spec: { containers: [{ name: 'main', image: 'example.com/app:3' }] } } })
  await untilRolledOut(key, 1)
  await until('two revisions are left', async () => (await numbers()) === '3,4')
})

t.test('a Pod is available when it has been ready for some time', needsOwnControlPlane, async () => {
  const key = await newKey()
  await create(key, { template: templateOf('1', { 'kubernetes.io/hostname': 'n1' }), minReadySeconds: 2 })
  await untilStatus(key, { numberReady: 1, numberAvailable: 0, numberUnavailable: 1 })
  await untilRolledOut(key, 1)
})

t.test(
  'a DaemonSet that is deleted with its dependents orphaned leaves them, and the next one adopts them',
  needsOwnControlPlane,
  async (t) => {
    const key = await newKey()
    await create(key)
    await untilRolledOut(key)
    const uids = async (): Promise<string[]> => [...(await podsOf(key)), ...(await revisionsOf(key))].map(({ metadata }) => metadata.uid)
    const before = await uids()
    await client.delete(apps.daemonSet, key, { propagationPolicy: 'Orphan' })
    await untilGone(client, apps.daemonSet, key)
    await until('nothing has an owner', async () =>
      [...(await podsOf(key)), ...(await revisionsOf(key))].every((object) => controllerOf(object) === undefined),
    )
    const { metadata } = await create(key)
    await untilRolledOut(key)
    t.strictSame(await uids(), before)
    t.ok([...(await podsOf(key)), ...(await revisionsOf(key))].every((object) => controllerOf(object)?.uid === metadata.uid))
    await client.delete(apps.daemonSet, key, { propagationPolicy: 'Foreground' })
    await until('all are gone', async () => {
      const sets = (await client.list(apps.daemonSet, { namespace: key.namespace })).items
      return sets.length + (await podsOf(key)).length + (await revisionsOf(key)).length === 0
    })
  },
)
