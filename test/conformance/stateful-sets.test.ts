/** Tests of StatefulSets: the order, names and revisions of their Pods, and their status. */
import t from 'tap'
import type { Test } from 'tap'
import type { Pod } from '../../src/api/builtin.ts'
import { pod as podType } from '../../src/api/builtin.ts'
import { formatTime } from '../../src/api/conditions.ts'
import { admissionregistration } from '../../src/api/kubernetes/admissionregistration.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { controllerOf } from '../../src/api/owner-reference.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { untilGone } from '../support/devcluster/client.ts'
import { fc } from '../support/property.ts'

const labels = { app: 'web' }
const revisionLabel = 'controller-revision-hash'

const { backend, client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'stateful-sets')

/** Creates a namespace, and returns a key for a StatefulSet in this namespace. Does not create the StatefulSet. */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'web' }
}

function templateOf(image: string) {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image: `example.com/app:${image}` }] } }
}

/**
 * Returns a Pod template with a node selector that no node matches. The Pods are therefore not scheduled, and no kubelet runs them. The
 * tests write the status of these Pods, for example to make a Pod ready.
 */
function unscheduled(image: string) {
  const { metadata, spec } = templateOf(image)
  return { metadata, spec: { ...spec, nodeSelector: { never: 'there' } } }
}

function create(key: NamespacedKey, spec: Partial<apps.StatefulSetSpec> = {}): Promise<apps.StatefulSet> {
  const base = { replicas: 3, serviceName: 'net', selector: { matchLabels: labels }, template: templateOf('1') }
  return client.create(apps.statefulSet, { metadata: key, spec: { ...base, ...spec } })
}

function patch(key: NamespacedKey, spec: object): Promise<apps.StatefulSet> {
  return client.patch(apps.statefulSet, key, { spec })
}

function untilStatus(key: NamespacedKey, wanted: Partial<apps.StatefulSet['status']>): Promise<apps.StatefulSet> {
  return until(`the status has ${JSON.stringify(wanted)}`, async () => {
    const found = await client.get(apps.statefulSet, key)
    const status: Readonly<Record<string, unknown>> = { ...found.status }
    const isObserved = found.status?.observedGeneration === found.metadata.generation
    return isObserved && Object.entries(wanted!).every(([name, value]) => status[name] === value) && found
  })
}

/** Resolves when all Pods have the newest revision and are available. */
function untilRolledOut(key: NamespacedKey): Promise<apps.StatefulSet> {
  return until('the StatefulSet is rolled out', async () => {
    const found = await client.get(apps.statefulSet, key)
    const { status } = found
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas, status?.currentReplicas]
    if (status?.observedGeneration !== found.metadata.generation || status?.currentRevision !== status?.updateRevision) return undefined
    return counts.every((count) => (count ?? 0) === found.spec?.replicas) && found
  })
}

async function podsOf({ namespace }: NamespacedKey): Promise<Pod[]> {
  return (await client.list(podType, { namespace })).items
}

async function namesOf(key: NamespacedKey): Promise<string[]> {
  return (await podsOf(key)).map(({ metadata }) => metadata.name)
}

function untilNames(key: NamespacedKey, ...names: string[]): Promise<unknown> {
  return until(`the Pods are ${names.join()}`, async () => (await namesOf(key)).join() === names.join())
}

function imageOf({ spec }: Pod): string {
  return spec!.containers[0]!.image!.replace('example.com/app:', '')
}

async function imagesOf(key: NamespacedKey): Promise<string> {
  return (await podsOf(key)).map(imageOf).join()
}

async function setStatus({ namespace }: NamespacedKey, name: string, phase: string): Promise<void> {
  const time = formatTime(systemClock.now())
  const conditions = phase === 'Running' ? [{ type: 'Ready', status: 'True', lastTransitionTime: time }] : []
  await client.patchStatus(podType, { namespace, name }, { status: { phase, conditions } })
}

async function revisionsOf({ namespace }: NamespacedKey): Promise<apps.ControllerRevision[]> {
  const { items } = await client.list(apps.controllerRevision, { namespace })
  return items.toSorted((a, b) => a.revision - b.revision)
}

async function messages({ namespace }: NamespacedKey): Promise<string[]> {
  const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=StatefulSet' })
  return items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}

function untilMessage(key: NamespacedKey, wanted: string): Promise<unknown> {
  return until(`there is an Event ${wanted}`, async () => (await messages(key)).some((message) => message.startsWith(wanted)))
}

/**
 * Starts a watch of the Pods. The returned function returns the names of the Pods in all events of the given type that the watch has
 * received so far.
 *
 * If the test runs with kube-controller-manager, the function omits a name that is equal to the previous name. kube-controller-manager
 * sometimes replaces a Pod twice, because kube-controller-manager deletes Pods by name, and its cache may be stale.
 */
async function watchNames(t: Test, { namespace }: NamespacedKey, type: 'ADDED' | 'DELETED'): Promise<() => readonly string[]> {
  const stop = new AbortController()
  const names: string[] = []
  const { promise: opened, resolve: onOpen } = Promise.withResolvers<void>()
  const { resourceVersion = '' } = (await client.list(podType, { namespace })).metadata
  const watched = (async () => {
    for await (const event of client.watch(podType, { namespace, resourceVersion, signal: stop.signal, onOpen }))
      if (event.type === type && (backend === 'embedded' || names.at(-1) !== event.object.metadata.name))
        names.push(event.object.metadata.name)
  })().catch(() => undefined)
  t.teardown(async () => {
    stop.abort()
    await watched
  })
  await opened
  return () => names
}

t.test('the Pods of a StatefulSet have stable names, labels and hostnames', async (t) => {
  const key = await newKey()
  const added = await watchNames(t, key, 'ADDED')
  await create(key)
  const { metadata, status } = await untilRolledOut(key)
  t.match(status, { observedGeneration: 1, replicas: 3, readyReplicas: 3, availableReplicas: 3, collisionCount: 0 })
  t.strictSame(added(), ['web-0', 'web-1', 'web-2'])
  const [revision, ...others] = await revisionsOf(key)
  t.strictSame(others, [])
  const revisionName = revision!.metadata.name
  t.strictSame([status?.currentRevision, status?.updateRevision], [revisionName, revisionName])
  for (const [index, pod] of (await podsOf(key)).entries()) {
    const name = `web-${index}`
    t.equal(pod.metadata.name, name)
    t.equal(pod.metadata.generateName, 'web-')
    t.strictSame(pod.metadata.labels, {
      app: 'web',
      'apps.kubernetes.io/pod-index': String(index),
      [revisionLabel]: revisionName,
      'statefulset.kubernetes.io/pod-name': name,
    })
    t.equal(controllerOf(pod)?.uid, metadata.uid)
    t.match(pod.spec, { hostname: name, subdomain: 'net' })
    await untilMessage(key, `Normal SuccessfulCreate: Create Pod ${name} in StatefulSet web successful`)
  }
})

t.test('a revision has the Pod template, and its name has the hash of it', async (t) => {
  const key = await newKey()
  await client.create(apps.statefulSet, {
    metadata: { ...key, annotations: { a: 'b' } },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: templateOf('1') },
  })
  const { spec, metadata } = await until('the revision exists', async () => {
    const found = await client.get(apps.statefulSet, key)
    return found.status?.currentRevision !== undefined && found
  })
  const [revision] = await revisionsOf(key)
  t.equal(revision!.metadata.name, 'web-768b6ccc4d')
  t.strictSame(revision!.metadata.labels, { app: 'web', 'controller.kubernetes.io/hash': '768b6ccc4d' })
  t.strictSame(revision!.metadata.annotations, { a: 'b' })
  t.equal(controllerOf(revision!)?.uid, metadata.uid)
  t.equal(revision!.revision, 1)
  const { fieldsV1 } = revision!.metadata.managedFields!.find(({ operation }) => operation === 'Update')!
  t.strictSame((fieldsV1 as Readonly<Record<string, unknown>>)['f:data'], {}, 'managers own the data as a whole')
  t.strictSame(revision!.data, { spec: { template: { ...spec!.template, $patch: 'replace' } } })
})

t.test('a Pod is created when the one before it is ready', async (t) => {
  const key = await newKey()
  await create(key, { template: unscheduled('1') })
  for (const [index, names] of [['web-0'], ['web-0', 'web-1'], ['web-0', 'web-1', 'web-2']].entries()) {
    const { status } = await untilStatus(key, { replicas: index + 1 })
    t.equal(status?.readyReplicas ?? 0, index)
    t.strictSame(await namesOf(key), names)
    await setStatus(key, `web-${index}`, 'Running')
  }
  await untilRolledOut(key)
})

t.test('with the policy Parallel, all Pods are created and deleted at once', async (t) => {
  const key = await newKey()
  await create(key, { podManagementPolicy: 'Parallel', template: unscheduled('1') })
  await untilNames(key, 'web-0', 'web-1', 'web-2')
  await patch(key, { replicas: 1 })
  await untilNames(key, 'web-0')
  const { status } = await untilStatus(key, { replicas: 1 })
  t.equal(status?.readyReplicas, undefined)
})

t.test('ordinals may start at another number, and Pods outside of the range are deleted', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2, ordinals: { start: 5 } })
  await untilRolledOut(key)
  t.strictSame(await namesOf(key), ['web-5', 'web-6'])
  await patch(key, { ordinals: { start: 6 } })
  await untilNames(key, 'web-6', 'web-7')
  await untilRolledOut(key)
})

t.test('Pods are deleted in reverse order', async (t) => {
  const key = await newKey()
  await create(key)
  await untilRolledOut(key)
  const deleted = await watchNames(t, key, 'DELETED')
  await patch(key, { replicas: 0 })
  await untilStatus(key, { replicas: 0 })
  await until('the Pods are gone', () => deleted().length === 3)
  t.strictSame(deleted(), ['web-2', 'web-1', 'web-0'])
  await untilMessage(key, 'Normal SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful')
})

t.test('a Pod that is not ready blocks the deletion of higher ones, but may be deleted itself', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 3, template: unscheduled('1') })
  for (const name of ['web-0', 'web-1', 'web-2']) {
    await until(`${name} exists`, async () => (await namesOf(key)).includes(name))
    await setStatus(key, name, 'Running')
  }
  await untilStatus(key, { readyReplicas: 3 })
  await setStatus(key, 'web-0', 'Pending')
  await untilStatus(key, { readyReplicas: 2 })
  await patch(key, { replicas: 2 })
  await untilStatus(key, { readyReplicas: 2 })
  t.strictSame(await namesOf(key), ['web-0', 'web-1', 'web-2'])
  await setStatus(key, 'web-0', 'Running')
  await untilNames(key, 'web-0', 'web-1')
  await setStatus(key, 'web-1', 'Pending')
  await patch(key, { replicas: 1 })
  await untilNames(key, 'web-0')
})

t.test('a new template is rolled out from the highest ordinal on', async (t) => {
  const key = await newKey()
  await create(key)
  const first = (await untilRolledOut(key)).status?.currentRevision
  const added = await watchNames(t, key, 'ADDED')
  await patch(key, { template: templateOf('2') })
  const { status } = await untilRolledOut(key)
  // kube-controller-manager deletes Pods without a uid precondition (k8s.io/kubernetes/pkg/controller/statefulset: DeletePod). If the cache
  // is stale, kube-controller-manager may replace a new Pod once more. The embedded controller must replace each Pod only once.
  const replaced = backend === 'embedded' ? added() : [...new Set(added())]
  t.strictSame(replaced, ['web-2', 'web-1', 'web-0'])
  t.not(status?.currentRevision, first)
  t.equal(await imagesOf(key), '2,2,2')
})

t.test('ordinals below the partition keep their revision, also when their Pods are deleted', async (t) => {
  const key = await newKey()
  await create(key, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
  const first = (await untilRolledOut(key)).status?.currentRevision
  await patch(key, { template: templateOf('2') })
  const { status } = await untilStatus(key, { updatedReplicas: 1, currentReplicas: 2, readyReplicas: 3 })
  t.equal(status?.currentRevision, first)
  t.not(status?.updateRevision, first)
  t.equal(await imagesOf(key), '1,1,2')
  const uid = (await client.get(podType, { ...key, name: 'web-0' })).metadata.uid
  await client.delete(podType, { ...key, name: 'web-0' })
  await until('web-0 is replaced', async () => (await client.get(podType, { ...key, name: 'web-0' })).metadata.uid !== uid)
  await untilStatus(key, { updatedReplicas: 1, currentReplicas: 2, readyReplicas: 3 })
  t.equal(await imagesOf(key), '1,1,2')
  await patch(key, { updateStrategy: { rollingUpdate: { partition: 0 } } })
  await untilRolledOut(key)
  t.equal(await imagesOf(key), '2,2,2')
})

t.test('without a partition, Pods of the current revision are counted', async () => {
  const key = await newKey()
  await create(key, { replicas: 2, updateStrategy: { type: 'RollingUpdate' }, template: unscheduled('1') })
  for (const name of ['web-0', 'web-1']) {
    await until(`${name} exists`, async () => (await namesOf(key)).includes(name))
    await setStatus(key, name, 'Running')
  }
  await untilRolledOut(key)
  await patch(key, { template: unscheduled('2') })
  await until('web-1 is updated', async () => (await imagesOf(key)) === '1,2')
  await untilStatus(key, { updatedReplicas: 1, currentReplicas: 1 })
  await setStatus(key, 'web-1', 'Running')
  await until('web-0 is updated', async () => (await imagesOf(key)) === '2,2')
  await setStatus(key, 'web-0', 'Running')
  await untilRolledOut(key)
})

t.test('with the strategy OnDelete, a Pod gets the new template when it is deleted', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
  await untilStatus(key, { readyReplicas: 2 })
  const before = (await client.get(apps.statefulSet, key)).status?.updateRevision
  await patch(key, { template: templateOf('2') })
  const changed = await untilStatus(key, { readyReplicas: 2 })
  t.not(changed.status?.updateRevision, before)
  t.equal(changed.status?.currentRevision, before)
  await client.delete(podType, { ...key, name: 'web-0' })
  await until('web-0 has the new template', async () => (await imagesOf(key)) === '2,1')
  await untilStatus(key, { readyReplicas: 2, updatedReplicas: 1, currentReplicas: 1 })
})

t.test('a Pod that has ended is replaced', async () => {
  const key = await newKey()
  await create(key, { replicas: 1, template: unscheduled('1') })
  for (const phase of ['Failed', 'Succeeded']) {
    const [pod] = await until('web-0 exists', async () => {
      const pods = await podsOf(key)
      return pods.length === 1 && pods
    })
    await setStatus(key, 'web-0', phase)
    await until('web-0 is replaced', async () => {
      const [replacement] = await podsOf(key)
      return replacement!.metadata.uid !== pod!.metadata.uid && replacement!.status?.phase === 'Pending'
    })
  }
})

t.test('a Pod is available when it has been ready for some time, and the next one waits for that', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2, minReadySeconds: 2 })
  await untilStatus(key, { readyReplicas: 1, availableReplicas: 0 })
  t.strictSame(await namesOf(key), ['web-0'])
  await untilStatus(key, { readyReplicas: 2, availableReplicas: 1 })
  await untilRolledOut(key)
})

t.test('the earlier template makes the earlier revision the newest one', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 1 })
  await untilRolledOut(key)
  const [first] = await revisionsOf(key)
  await patch(key, { template: templateOf('2') })
  await untilRolledOut(key)
  await patch(key, { template: templateOf('1') })
  const { status } = await untilRolledOut(key)
  t.equal(status?.currentRevision, first!.metadata.name)
  t.strictSame(
    (await revisionsOf(key)).map(({ revision, metadata }) => [revision, metadata.name === first!.metadata.name]),
    [
      [2, false],
      [3, true],
    ],
  )
})

t.test('old revisions beyond the history limit are deleted', async () => {
  const key = await newKey()
  await create(key, { replicas: 1, revisionHistoryLimit: 1 })
  await untilRolledOut(key)
  for (const image of ['2', '3', '4']) {
    await patch(key, { template: templateOf(image) })
    await untilRolledOut(key)
  }
  await until('two revisions are left', async () => String((await revisionsOf(key)).map(({ revision }) => revision)) === '3,4')
})

t.test('a revision of another template with the same name is avoided', async (t) => {
  const key = await newKey()
  const metadata = { ...key, name: 'web-768b6ccc4d' }
  await client.create(apps.controllerRevision, { metadata, data: { other: true }, revision: 7 })
  await create(key, { replicas: 1 })
  const { status } = await untilRolledOut(key)
  t.equal(status?.collisionCount, 1)
  t.strictSame(
    (await revisionsOf(key)).map(({ revision }) => revision),
    [1, 7],
  )
})

t.test('a Pod with the name of an ordinal is adopted, and one whose labels no longer match is released', async (t) => {
  const key = await newKey()
  const { spec } = templateOf('1')
  await client.create(podType, { metadata: { ...key, name: 'web-0', labels }, spec })
  await client.create(podType, { metadata: { ...key, name: 'other-0', labels }, spec })
  // The adopted Pod has no revision label. With the strategy `RollingUpdate`, the controller would therefore replace the Pod.
  await create(key, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
  const { metadata } = await untilStatus(key, { readyReplicas: 2 })
  const pods = await podsOf(key)
  t.strictSame(
    pods.map((pod) => [pod.metadata.name, controllerOf(pod)?.uid]),
    [
      ['other-0', undefined],
      ['web-0', metadata.uid],
      ['web-1', metadata.uid],
    ],
  )
  await client.patch(podType, pods[2]!.metadata, { metadata: { labels: { app: 'other' } } })
  await until('web-1 is released', async () => controllerOf(await client.get(podType, pods[2]!.metadata)) === undefined)
  await client.delete(podType, pods[2]!.metadata)
  await untilStatus(key, { replicas: 2, readyReplicas: 2 })
})

t.test('the labels of a Pod with its name are restored', async () => {
  const key = await newKey()
  await create(key, { replicas: 1 })
  await untilRolledOut(key)
  const name = 'statefulset.kubernetes.io/pod-name'
  await client.patch(podType, { ...key, name: 'web-0' }, { metadata: { labels: { [name]: null } } } as object)
  await until('the label is there', async () => (await podsOf(key))[0]!.metadata.labels?.[name] === 'web-0')
  await untilMessage(key, 'Normal SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful')
})

t.test('a Pod that cannot be created is reported, and created later', async () => {
  const key = await newKey()
  await client.create(admissionregistration.validatingWebhookConfiguration, {
    metadata: { name: key.namespace },
    webhooks: [
      {
        name: 'refuse.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: [{ name: 'workload', expression: `request.namespace == '${key.namespace}'` }],
      },
    ],
  })
  await create(key, { replicas: 1 })
  await untilMessage(key, 'Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: Internal error occurred: failed calling')
  await untilStatus(key, { replicas: 0 })
  await client.delete(admissionregistration.validatingWebhookConfiguration, { name: key.namespace })
  await untilRolledOut(key)
})

t.test('a StatefulSet that is deleted with its dependents orphaned leaves them, and the next one adopts them', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 2 })
  await untilRolledOut(key)
  const uids = async (): Promise<string[]> => [...(await podsOf(key)), ...(await revisionsOf(key))].map(({ metadata }) => metadata.uid)
  const before = await uids()
  await client.delete(apps.statefulSet, key, { propagationPolicy: 'Orphan' })
  await untilGone(client, apps.statefulSet, key)
  await until('nothing has an owner', async () =>
    [...(await podsOf(key)), ...(await revisionsOf(key))].every((object) => controllerOf(object) === undefined),
  )
  const { metadata } = await create(key, { replicas: 2 })
  await untilRolledOut(key)
  t.strictSame(await uids(), before)
  t.ok([...(await podsOf(key)), ...(await revisionsOf(key))].every((object) => controllerOf(object)?.uid === metadata.uid))
})

for (const propagationPolicy of ['Background', 'Foreground'] as const)
  t.test(`a StatefulSet is deleted with its Pods and revisions: ${propagationPolicy}`, async () => {
    const key = await newKey()
    await create(key, { replicas: 2 })
    await untilRolledOut(key)
    await client.delete(apps.statefulSet, key, { propagationPolicy })
    await until('all are gone', async () => {
      const sets = (await client.list(apps.statefulSet, { namespace: key.namespace })).items
      return sets.length + (await podsOf(key)).length + (await revisionsOf(key)).length === 0
    })
  })

t.test('under random deletions, Pods are replaced in the order of their ordinals', async (t) => {
  const key = await newKey()
  await create(key, { replicas: 4 })
  await untilRolledOut(key)
  for (const ordinals of fc.sample(fc.subarray([0, 1, 2, 3], { minLength: 1 }), 4)) {
    const added = await watchNames(t, key, 'ADDED')
    const names = ordinals.map((ordinal) => `web-${ordinal}`)
    // The Pods are deleted in ascending order of their ordinals, and the controller observes the deletions in this order. When the
    // controller replaces a Pod, it has therefore already observed the deletions of Pods with lower ordinals.
    for (const name of names) await client.delete(podType, { ...key, name })
    await until('all Pods are replaced', () => added().length === names.length)
    await untilRolledOut(key)
    t.strictSame(added(), names)
    t.strictSame(await namesOf(key), ['web-0', 'web-1', 'web-2', 'web-3'])
  }
})
