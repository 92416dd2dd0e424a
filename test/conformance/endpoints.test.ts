/** Tests of the EndpointSlices and Endpoints of Services with a selector. */
import t from 'tap'
import { jsonEqual } from '../../src/api/json.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { discovery } from '../../src/api/kubernetes/discovery.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { untilPodIsReady } from '../support/conformance/pods.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'endpoints')

const labels = { app: 'web' }
const http = { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }
const main = { name: 'main', image: 'example.com/app:1' }
const serving = { ...main, ports: [{ name: 'web', containerPort: 8080 }] }

interface PodOptions {
  readonly container?: core.Container
  readonly spec?: Partial<core.PodSpec>
  readonly finalizers?: readonly string[]
}

/** Creates a Pod with the labels of the Service's selector, and waits until it runs. */
async function createPod(namespace: string, name: string, options: PodOptions = {}): Promise<core.Pod> {
  const { container = serving, spec, finalizers = [] } = options
  const metadata = { namespace, name, labels, finalizers: [...finalizers] }
  await client.create(core.pod, { metadata, spec: { containers: [container], ...spec } })
  return untilPodIsReady(client, { namespace, name })
}

function createService(namespace: string, spec: Partial<core.ServiceSpec> = {}, more: object = {}): Promise<core.Service> {
  const metadata = { namespace, name: 'web', labels: { tier: 'front' }, ...more }
  return client.create(core.service, { metadata, spec: { selector: labels, ports: [http], ...spec } } as ObjectInput<core.Service>)
}

async function slicesOf(namespace: string): Promise<readonly discovery.EndpointSlice[]> {
  return (await client.list(discovery.endpointSlice, { namespace })).items
}

/** Resolves with the only EndpointSlice of the namespace when the condition is met. */
function untilSlice(what: string, namespace: string, isMet: (slice: discovery.EndpointSlice) => boolean) {
  return until(what, async () => {
    const [slice, ...others] = await slicesOf(namespace)
    return slice !== undefined && others.length === 0 && isMet(slice) && slice
  })
}

function untilEndpoints(what: string, namespace: string, isMet: (endpoints: core.Endpoints) => boolean): Promise<core.Endpoints> {
  return until(what, async () => {
    const endpoints = (await client.list(core.endpoints, { namespace })).items.find(({ metadata }) => metadata.name === 'web')
    return endpoints !== undefined && isMet(endpoints) && endpoints
  })
}

const addressesIn = ({ endpoints }: discovery.EndpointSlice): string[] => (endpoints ?? []).flatMap(({ addresses }) => addresses).sort()

t.test('a Service has an EndpointSlice and Endpoints with its ready Pods', async (t) => {
  const namespace = await newNamespace()
  const service = await createService(namespace, { ports: [http, { name: 'metrics', port: 9090, protocol: 'TCP', appProtocol: 'http' }] })
  const empty = await untilSlice('there is an EndpointSlice without endpoints', namespace, () => true)
  t.strictSame([empty.endpoints, empty.ports, empty.addressType], [null, null, 'IPv4'])
  t.match(empty.metadata.name, /^web-[a-z0-9]{5}$/)
  const created = service.metadata.creationTimestamp
  t.strictSame(empty.metadata.annotations, { 'endpoints.kubernetes.io/last-change-trigger-time': created })

  const [a, b] = [await createPod(namespace, 'a'), await createPod(namespace, 'b')]
  const slice = await untilSlice('both Pods are endpoints', namespace, (found) => addressesIn(found).length === 2)
  t.equal(slice.metadata.name, empty.metadata.name)
  t.equal(slice.metadata.generateName, 'web-')
  const { uid } = service.metadata
  t.strictSame(slice.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true, blockOwnerDeletion: true },
  ])
  t.strictSame(slice.metadata.labels, {
    tier: 'front',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  })
  // kube-controller-manager sorts the ports by their hashes, so the order is not compared.
  t.strictSame(
    slice.ports?.toSorted((one, other) => one.port! - other.port!),
    [
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'metrics', port: 9090, protocol: 'TCP', appProtocol: 'http' },
    ],
  )
  const endpoints = slice.endpoints?.toSorted((one, other) => (one.targetRef!.name! < other.targetRef!.name! ? -1 : 1))
  t.strictSame(
    // The zone is a label of the node. Only simulated nodes have this label, so the zone is not compared.
    endpoints?.map(({ zone: _, ...others }) => others),
    [a, b].map(({ metadata, spec, status }) => ({
      addresses: [status!.podIP!],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: spec!.nodeName!,
      targetRef: { kind: 'Pod', namespace, name: metadata.name, uid: metadata.uid },
    })),
  )

  const legacy = await untilEndpoints('both Pods are in the Endpoints', namespace, ({ subsets }) => subsets?.[0]?.addresses?.length === 2)
  t.equal(legacy.subsets?.length, 1)
  t.strictSame(legacy.metadata.labels, { tier: 'front', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })
  t.equal(legacy.metadata.ownerReferences, undefined)
  const byAddress = [a, b].sort((one, other) => (one.status!.podIP! < other.status!.podIP! ? -1 : 1))
  t.strictSame(
    legacy.subsets?.[0]?.addresses,
    byAddress.map(({ metadata, spec, status }) => ({
      ip: status!.podIP!,
      nodeName: spec!.nodeName!,
      targetRef: { kind: 'Pod', namespace, name: metadata.name, uid: metadata.uid },
    })),
  )
  t.equal(legacy.subsets?.[0]?.ports?.length, 2)
})

t.test('an endpoint is not ready while its Pod is not, and terminating while it is being deleted', async (t) => {
  const namespace = await newNamespace()
  await createService(namespace)
  const pod = await createPod(namespace, 'a', { finalizers: ['example.com/wait'] })
  const untilConditions = (ready: boolean, isServing: boolean, terminating: boolean): Promise<discovery.EndpointSlice> =>
    untilSlice(`the conditions are ${ready}, ${isServing}, ${terminating}`, namespace, (slice) =>
      jsonEqual(slice.endpoints?.[0]?.conditions, { ready, serving: isServing, terminating }),
    )
  await untilConditions(true, true, false)
  const setReady = async (status: string): Promise<void> => {
    const { conditions = [] } = (await client.get(core.pod, pod.metadata)).status!
    const changed = conditions.map((condition) =>
      ['Ready', 'ContainersReady'].includes(condition.type) ? { ...condition, status } : condition,
    )
    await client.patchStatus(core.pod, pod.metadata, { status: { conditions: changed } })
  }
  await setReady('False')
  await untilConditions(false, false, false)
  const notReady = await untilEndpoints(
    'the address is not ready',
    namespace,
    ({ subsets }) => subsets?.[0]?.notReadyAddresses?.length === 1,
  )
  t.equal(notReady.subsets?.[0]?.addresses, undefined)
  await client.patch(core.service, { namespace, name: 'web' }, { spec: { publishNotReadyAddresses: true } })
  await untilConditions(true, false, false)
  await untilEndpoints('the address is published', namespace, ({ subsets }) => subsets?.[0]?.addresses?.length === 1)
  await client.patch(core.service, { namespace, name: 'web' }, { spec: { publishNotReadyAddresses: false } })
  await setReady('True')
  await untilConditions(true, true, false)
  await client.delete(core.pod, pod.metadata)
  await untilConditions(false, true, true)
  await untilEndpoints('no address remains', namespace, ({ subsets }) => (subsets ?? []).length === 0)
  await client.patch(core.pod, pod.metadata, { metadata: { finalizers: null } })
  const last = await untilSlice('no endpoint remains', namespace, (slice) => addressesIn(slice).length === 0)
  t.strictSame([last.endpoints, last.ports], [null, null])
})

t.test('a headless Service without ports publishes the host names of its Pods', async (t) => {
  const namespace = await newNamespace()
  await createService(namespace, { clusterIP: 'None', ports: [] })
  const pod = await createPod(namespace, 'a', { container: main, spec: { hostname: 'first', subdomain: 'web' } })
  const slice = await untilSlice('the Pod is an endpoint', namespace, (found) => addressesIn(found).length === 1)
  t.equal(slice.metadata.labels?.['service.kubernetes.io/headless'], '')
  t.equal(slice.endpoints?.[0]?.hostname, 'first')
  t.strictSame(slice.ports, null)
  const { metadata, subsets } = await untilEndpoints(
    'the Pod is in the Endpoints',
    namespace,
    (found) => (found.subsets ?? []).length === 1,
  )
  t.equal(metadata.labels?.['service.kubernetes.io/headless'], '')
  t.match(subsets, [{ addresses: [{ ip: pod.status?.podIP, hostname: 'first' }] }])
  t.equal(subsets?.[0]?.ports, undefined)
})

t.test('Pods with different numbers of a named port are in different EndpointSlices', async (t) => {
  const namespace = await newNamespace()
  await createService(namespace)
  await createPod(namespace, 'a')
  await createPod(namespace, 'b', { container: { ...main, ports: [{ name: 'web', containerPort: 9000 }] } })
  await createPod(namespace, 'c', { container: main })
  const slices = await until('there is an EndpointSlice for each list of ports', async () => {
    const found = await slicesOf(namespace)
    return found.length === 3 && found
  })
  t.strictSame(slices.map(({ ports, endpoints }) => [endpoints?.[0]?.targetRef?.name, ports?.[0]?.port]).sort(), [
    ['a', 8080],
    ['b', 9000],
    ['c', undefined],
  ])
  const { subsets } = await untilEndpoints('there are two subsets', namespace, (found) => found.subsets?.length === 2)
  t.strictSame(subsets?.map(({ ports, addresses }) => [addresses?.[0]?.targetRef?.name, ports?.[0]?.port]).sort(), [
    ['a', 8080],
    ['b', 9000],
  ])
})

t.test('a changed selector, changed labels and a deleted EndpointSlice are followed', async (t) => {
  const namespace = await newNamespace()
  await createService(namespace)
  const pod = await createPod(namespace, 'a')
  const slice = await untilSlice('the Pod is an endpoint', namespace, (found) => addressesIn(found).length === 1)
  await client.patch(core.service, { namespace, name: 'web' }, { metadata: { labels: { tier: null, stage: 'test' } } })
  const labelled = await untilSlice('the labels are copied', namespace, ({ metadata }) => metadata.labels?.['stage'] === 'test')
  t.equal(labelled.metadata.labels?.['tier'], undefined)
  t.equal(labelled.metadata.name, slice.metadata.name)
  t.equal(labelled.metadata.annotations, undefined)
  t.equal(labelled.metadata.generation, (slice.metadata.generation ?? 0) + 1)
  const legacy = await untilEndpoints(
    'the labels of the Endpoints follow',
    namespace,
    ({ metadata }) => metadata.labels?.['stage'] === 'test',
  )
  t.strictSame(legacy.metadata.labels, { stage: 'test', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })
  await client.delete(discovery.endpointSlice, slice.metadata)
  await untilSlice(
    'it is created again',
    namespace,
    (found) => found.metadata.name !== slice.metadata.name && addressesIn(found).length === 1,
  )
  await client.patch(core.pod, pod.metadata, { metadata: { labels: { app: 'other' } } })
  await untilSlice('the Pod is no endpoint', namespace, (found) => addressesIn(found).length === 0)
  await client.patch(core.service, { namespace, name: 'web' }, { spec: { selector: { app: 'other' } } })
  await untilSlice('the Pod is an endpoint again', namespace, (found) => addressesIn(found).length === 1)
  await client.delete(core.service, { namespace, name: 'web' })
  await until('nothing remains', async () => {
    const endpoints = (await client.list(core.endpoints, { namespace })).items
    return endpoints.length === 0 && (await slicesOf(namespace)).length === 0
  })
})

t.test('Services without a selector and with an external name get no endpoints', async (t) => {
  const namespace = await newNamespace()
  const unselected = { metadata: { namespace, name: 'unselected' }, spec: { ports: [{ port: 80 }] } }
  await client.create(core.service, unselected as ObjectInput<core.Service>)
  const external = { type: 'ExternalName', externalName: 'example.com', selector: labels }
  await client.create(core.service, { metadata: { namespace, name: 'external' }, spec: external })
  await createService(namespace)
  await untilEndpoints('the other Service has Endpoints', namespace, () => true)
  await untilSlice('the other Service has the only EndpointSlice', namespace, () => true)
  t.equal((await client.list(core.endpoints, { namespace })).items.length, 1)
})
