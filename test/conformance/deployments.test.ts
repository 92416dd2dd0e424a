/** Tests of Deployments: their ReplicaSets, rollouts and conditions. */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { admissionregistration } from '../../src/api/kubernetes/admissionregistration.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { controllerOf } from '../../src/api/owner-reference.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const revisionAnnotation = 'deployment.kubernetes.io/revision'

const controlPlane = await conformanceControlPlane(t)
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'deployments')

/** Creates a namespace, and returns the key with which a test creates a Deployment in the namespace. */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'web' }
}

function templateOf(image: string) {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image: `example.com/app:${image}` }] } }
}

function create(key: NamespacedKey, spec: Partial<apps.DeploymentSpec> = {}): Promise<apps.Deployment> {
  return client.create(apps.deployment, { metadata: key, spec: { replicas: 3, selector, template: templateOf('1'), ...spec } })
}

/** Resolves with the Deployment when its rollout has ended. `kubectl rollout status` checks the same fields. */
function untilRolledOut(key: NamespacedKey): Promise<apps.Deployment> {
  return until('the Deployment is rolled out', async () => {
    const found = await client.get(apps.deployment, key)
    const { metadata, spec, status = {} } = found
    const wanted = spec?.replicas ?? 0
    const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration } = status
    return observedGeneration === metadata.generation && [updatedReplicas, replicas, availableReplicas].every((n) => n === wanted) && found
  })
}

async function untilGone(key: NamespacedKey): Promise<void> {
  await until('the Deployment is gone', async () => (await client.list(apps.deployment, { namespace: key.namespace })).items.length === 0)
}

async function replicaSets({ namespace }: NamespacedKey): Promise<apps.ReplicaSet[]> {
  const { items } = await client.list(apps.replicaSet, { namespace })
  const revision = ({ metadata }: apps.ReplicaSet): number => Number(metadata.annotations?.[revisionAnnotation])
  return items.toSorted((a, b) => revision(a) - revision(b))
}

async function messages({ namespace }: NamespacedKey): Promise<string[]> {
  const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=Deployment' })
  return items.map(({ reason, message }) => `${reason}: ${message}`)
}

t.test('a Deployment creates a ReplicaSet, and reports its Pods', async (t) => {
  const key = await newKey()
  await create(key)
  const { metadata, status } = await untilRolledOut(key)
  const [replicaSet] = await replicaSets(key)
  t.match(replicaSet!.metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/)
  t.equal(controllerOf(replicaSet!)?.uid, metadata.uid)
  const hash = replicaSet!.metadata.labels!['pod-template-hash']!
  t.equal(replicaSet!.metadata.name, `web-${hash}`)
  t.strictSame(replicaSet!.spec?.selector.matchLabels, { app: 'web', 'pod-template-hash': hash })
  t.match(replicaSet!.metadata.annotations, {
    [revisionAnnotation]: '1',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
  })
  t.equal(metadata.annotations?.[revisionAnnotation], '1')
  t.equal(metadata.generation, 1)
  t.match(status, { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 })
  t.match(findCondition(status?.conditions, 'Available'), { status: 'True', reason: 'MinimumReplicasAvailable' })
  t.match(findCondition(status?.conditions, 'Progressing'), {
    status: 'True',
    reason: 'NewReplicaSetAvailable',
    message: `ReplicaSet "web-${hash}" has successfully progressed.`,
  })
  await until('the Event exists', async () =>
    (await messages(key)).includes(`ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 3`),
  )
})

t.test('a new Pod template is rolled out within the limits of surge and unavailable Pods', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 4, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
  await untilRolledOut(key)
  const [sizes, available] = [new Map<string, number>(), new Map<string, number>()]
  const seen = { most: 0, leastAvailable: Infinity }
  const stop = new AbortController()
  const watched = (async () => {
    for await (const { type, object } of client.watch(apps.replicaSet, { namespace: key.namespace, signal: stop.signal })) {
      if (type !== 'ADDED' && type !== 'MODIFIED') continue
      sizes.set(object.metadata.name, object.spec?.replicas ?? 0)
      available.set(object.metadata.name, object.status?.availableReplicas ?? 0)
      const sum = (map: Map<string, number>): number => [...map.values()].reduce((a, b) => a + b, 0)
      seen.most = Math.max(seen.most, sum(sizes))
      if (available.size === 2) seen.leastAvailable = Math.min(seen.leastAvailable, sum(available))
    }
  })().catch(() => undefined)
  await client.patch(apps.deployment, key, { spec: { template: templateOf('2') } })
  const { metadata } = await untilRolledOut(key)
  stop.abort()
  await watched
  t.equal(seen.most, 5)
  t.equal(seen.leastAvailable, 4)
  t.equal(metadata.annotations?.[revisionAnnotation], '2')
  const [first, second] = await replicaSets(key)
  t.strictSame([first!.spec?.replicas, second!.spec?.replicas], [0, 4])
  const pods = (await client.list(pod, { namespace: key.namespace })).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  )
  t.ok(pods.every(({ spec }) => spec?.containers[0]?.image === 'example.com/app:2'))
})

t.test('the earlier template makes the earlier ReplicaSet the newest revision', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1 })
  await untilRolledOut(key)
  await client.patch(apps.deployment, key, { spec: { template: templateOf('2') } })
  await untilRolledOut(key)
  const [first] = await replicaSets(key)
  await client.patch(apps.deployment, key, { spec: { template: templateOf('1') } })
  const { metadata } = await untilRolledOut(key)
  t.equal(metadata.annotations?.[revisionAnnotation], '3')
  const all = await replicaSets(key)
  t.equal(all.length, 2)
  t.equal(all[1]!.metadata.uid, first!.metadata.uid)
  t.match(all[1]!.metadata.annotations, { [revisionAnnotation]: '3', 'deployment.kubernetes.io/revision-history': '1' })
})

t.test('with the strategy Recreate, no new Pod runs beside an old one', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2, strategy: { type: 'Recreate' } })
  await untilRolledOut(key)
  const images = new Map<string, string>()
  let together = false
  const stop = new AbortController()
  const watched = (async () => {
    for await (const { type, object } of client.watch(pod, { namespace: key.namespace, signal: stop.signal })) {
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') continue
      // A Pod that has ended runs no containers, even if the Pod object still exists.
      const hasEnded = type === 'DELETED' || object.status?.phase === 'Succeeded' || object.status?.phase === 'Failed'
      if (hasEnded) images.delete(object.metadata.name)
      else images.set(object.metadata.name, object.spec!.containers[0]!.image!)
      together ||= new Set(images.values()).size > 1
    }
  })().catch(() => undefined)
  await client.patch(apps.deployment, key, { spec: { template: templateOf('2') } })
  await untilRolledOut(key)
  stop.abort()
  await watched
  t.notOk(together)
  t.equal((await replicaSets(key)).length, 2)
})

/**
 * Calls `act`, and records the reasons of the condition `Progressing` of a Deployment until the reason is `last`. Resolves with these
 * reasons in order, without consecutive duplicates.
 */
function progressReasons(key: NamespacedKey, last: string, act: () => Promise<unknown>): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      const reasons: string[] = []
      const onOpen = (): void => void act().catch(reject)
      for await (const { object } of client.watch(apps.deployment, { namespace: key.namespace, onOpen })) {
        const reason = 'status' in object ? findCondition(object.status?.conditions, 'Progressing')?.reason : undefined
        if (reason !== undefined && reason !== reasons.at(-1)) reasons.push(reason)
        if (reason === last) return resolve(reasons)
      }
    }
    read().catch(reject)
  })
}

t.test('the condition Progressing reports that a Deployment was resumed, and which ReplicaSet it has adopted', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1, paused: true })
  await until('it is paused', async () => {
    const { status } = await client.get(apps.deployment, key)
    return findCondition(status?.conditions, 'Progressing')?.reason === 'DeploymentPaused'
  })
  const resumed = await progressReasons(key, 'NewReplicaSetAvailable', () =>
    client.patch(apps.deployment, key, { spec: { paused: false } }),
  )
  t.strictSame(resumed.slice(0, 2), ['DeploymentPaused', 'DeploymentResumed'])
  await untilRolledOut(key)
  await client.delete(apps.deployment, key, { propagationPolicy: 'Orphan' })
  await untilGone(key)
  const adopting = await progressReasons(key, 'NewReplicaSetAvailable', () => create(key, { replicas: 1 }))
  t.equal(adopting[0], 'FoundNewReplicaSet')
})

t.test('a paused Deployment is scaled, but does not roll out', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2 })
  await untilRolledOut(key)
  await client.patch(apps.deployment, key, { spec: { paused: true, replicas: 3, template: templateOf('2') } })
  const paused = await until('three Pods are available', async () => {
    const found = await client.get(apps.deployment, key)
    return found.status?.availableReplicas === 3 && found
  })
  t.match(findCondition(paused.status?.conditions, 'Progressing'), { status: 'Unknown', reason: 'DeploymentPaused' })
  t.equal((await replicaSets(key)).length, 1)
  t.equal(paused.status?.updatedReplicas, undefined)
  await client.patch(apps.deployment, key, { spec: { paused: false } })
  await untilRolledOut(key)
  t.equal((await replicaSets(key)).length, 2)
})

t.test('old ReplicaSets beyond the history limit are deleted', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1, revisionHistoryLimit: 1 })
  await untilRolledOut(key)
  for (const image of ['2', '3', '4']) {
    await client.patch(apps.deployment, key, { spec: { template: templateOf(image) } })
    await untilRolledOut(key)
  }
  const left = await until('two ReplicaSets are left', async () => {
    const all = await replicaSets(key)
    return all.length === 2 && all
  })
  t.strictSame(
    left.map(({ metadata }) => metadata.annotations?.[revisionAnnotation]),
    ['3', '4'],
  )
})

t.test('a change of the replicas during a rollout is shared among the ReplicaSets', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 4, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } } })
  await untilRolledOut(key)
  const stuck = { ...templateOf('2'), spec: { ...templateOf('2').spec, nodeSelector: { never: 'there' } } }
  const sizes = async (): Promise<(number | undefined)[]> => (await replicaSets(key)).map(({ spec }) => spec?.replicas)
  await client.patch(apps.deployment, key, { spec: { template: stuck } })
  await until('two old Pods are replaced', async () => String(await sizes()) === '2,2')
  await client.patch(apps.deployment, key, { spec: { replicas: 8 } })
  await until('both ReplicaSets have grown', async () => String(await sizes()) === '4,4')
  for (const { metadata } of await replicaSets(key))
    t.equal(metadata.annotations?.['deployment.kubernetes.io/desired-replicas'], '8', metadata.name)
})

t.test('a rollout without progress within its deadline is reported', async (t) => {
  const key = await newKey()
  const template = { ...templateOf('1'), spec: { ...templateOf('1').spec, nodeSelector: { never: 'there' } } }
  await create(key, { replicas: 1, progressDeadlineSeconds: 1, template })
  const late = await until('the deadline has passed', async () => {
    const found = await client.get(apps.deployment, key)
    return findCondition(found.status?.conditions, 'Progressing')?.status === 'False' && found
  })
  const [replicaSet] = await replicaSets(key)
  t.match(findCondition(late.status?.conditions, 'Progressing'), {
    reason: 'ProgressDeadlineExceeded',
    message: `ReplicaSet "${replicaSet!.metadata.name}" has timed out progressing.`,
  })
  t.match(findCondition(late.status?.conditions, 'Available'), { status: 'False', reason: 'MinimumReplicasUnavailable' })
  t.equal(late.status?.unavailableReplicas, 1)
})

/** Registers a webhook that cannot be called. The API server therefore rejects every new object of the resource in the namespace. */
async function refuseCreation({ namespace }: NamespacedKey, apiGroup: string, resource: string): Promise<void> {
  await client.create(admissionregistration.validatingWebhookConfiguration, {
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'refuse.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: [apiGroup], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: [{ name: 'workload', expression: `request.namespace == '${namespace}'` }],
      },
    ],
  })
}

t.test('a ReplicaSet that cannot be created is reported, and created later', async (t) => {
  const key = await newKey()
  await refuseCreation(key, 'apps', 'replicasets')
  await create(key, { replicas: 1 })
  const failed = await until('the failure is reported', async () => {
    const found = await client.get(apps.deployment, key)
    return findCondition(found.status?.conditions, 'Progressing')?.reason === 'ReplicaSetCreateError' && found
  })
  t.match(
    findCondition(failed.status?.conditions, 'Progressing')?.message,
    /^Failed to create new replica set "web-\w+": .*refuse\.example\.com/,
  )
  await client.delete(admissionregistration.validatingWebhookConfiguration, { name: key.namespace })
  await untilRolledOut(key)
  await until('there is an Event', async () => (await messages(key)).some((message) => message.startsWith('ReplicaSetCreateError: ')))
})

t.test('Pods that cannot be created are reported as ReplicaFailure', async (t) => {
  const key = await newKey()
  await refuseCreation(key, '', 'pods')
  await create(key, { replicas: 1 })
  await until('the failure is reported', async () => {
    const found = await client.get(apps.deployment, key)
    return findCondition(found.status?.conditions, 'ReplicaFailure')?.reason === 'FailedCreate'
  })
  await client.delete(admissionregistration.validatingWebhookConfiguration, { name: key.namespace })
  const { status } = await untilRolledOut(key)
  t.equal(findCondition(status?.conditions, 'ReplicaFailure'), undefined)
})

t.test('a ReplicaSet of another template with the same name is avoided', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1, paused: true })
  await client.patch(apps.deployment, key, { spec: { paused: false } })
  await untilRolledOut(key)
  const [first] = await replicaSets(key)
  await client.delete(apps.deployment, key, { propagationPolicy: 'Foreground' })
  await untilGone(key)
  await until('the ReplicaSet is gone', async () => (await replicaSets(key)).length === 0)
  const other = { ...templateOf('other'), metadata: { labels: { app: 'other' } } }
  const { name, namespace } = first!.metadata
  await client.create(apps.replicaSet, {
    metadata: { name, namespace: namespace! },
    spec: { replicas: 0, selector: { matchLabels: { app: 'other' } }, template: other },
  })
  await create(key, { replicas: 1 })
  const { status } = await untilRolledOut(key)
  t.equal(status?.collisionCount, 1)
  t.equal((await replicaSets(key)).length, 2)
})

t.test('a Deployment that is deleted with its dependents orphaned leaves them, and the next one adopts them', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1 })
  await untilRolledOut(key)
  const [first] = await replicaSets(key)
  await client.delete(apps.deployment, key, { propagationPolicy: 'Orphan' })
  await untilGone(key)
  await until('the ReplicaSet has no owner', async () => {
    const [left] = await replicaSets(key)
    return left!.metadata.ownerReferences === undefined
  })
  await create(key, { replicas: 1 })
  await untilRolledOut(key)
  const all = await replicaSets(key)
  t.strictSame(
    all.map(({ metadata }) => metadata.uid),
    [first!.metadata.uid],
  )
})
