/** Tests of EndpointSlices that mirror the Endpoints of Services without a selector. */
import t from 'tap'
import { core } from '../../src/api/kubernetes/core.ts'
import { discovery } from '../../src/api/kubernetes/discovery.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'endpoints-mirroring')
const ports = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'dns', port: 53, protocol: 'UDP' },
]
const addresses = [{ ip: '192.0.2.1' }, { ip: '192.0.2.2', hostname: 'second' }]

async function createService(namespace: string): Promise<void> {
  await client.create(core.service, { metadata: { namespace, name: 'db' }, spec: { ports: [{ name: 'http', port: 80 }] } })
}

/** Creates the Endpoints `db`. */
function createEndpoints(namespace: string, metadata: object = {}): Promise<core.Endpoints> {
  return client.create(core.endpoints, { metadata: { namespace, name: 'db', ...metadata }, subsets: [{ addresses, ports }] })
}

/** Resolves with the EndpointSlices of the namespace when the condition is met. */
function untilSlices(what: string, namespace: string, isMet: (slices: readonly discovery.EndpointSlice[]) => boolean) {
  return until(what, async () => {
    const { items } = await client.list(discovery.endpointSlice, { namespace })
    return isMet(items) && items
  })
}

const addressesIn = (slices: readonly discovery.EndpointSlice[]): string[] =>
  slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses)).sort()

t.test('Endpoints of a Service without a selector are mirrored, with labels and annotations', async (t) => {
  const namespace = await newNamespace()
  await createService(namespace)
  const { metadata } = await createEndpoints(namespace, { labels: { tier: 'back' }, annotations: { note: 'kept' } })
  const [slice] = await untilSlices('the Endpoints are mirrored', namespace, (slices) => slices.length === 1)
  t.match(slice!.metadata.name, /^db-[a-z0-9]{5}$/)
  t.strictSame(slice!.metadata.labels, {
    tier: 'back',
    'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    'kubernetes.io/service-name': 'db',
  })
  t.strictSame(slice!.metadata.annotations, { note: 'kept' })
  t.strictSame(slice!.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
  ])
  t.equal(slice!.addressType, 'IPv4')
  const byName = <T>(list: readonly T[] | undefined, key: (item: T) => string | undefined): T[] =>
    (list ?? []).toSorted((a, b) => ((key(a) ?? '') < (key(b) ?? '') ? -1 : 1))
  t.strictSame(
    byName(slice!.endpoints ?? [], (endpoint) => endpoint.addresses[0]),
    [
      { addresses: ['192.0.2.1'], conditions: { ready: true } },
      { addresses: ['192.0.2.2'], conditions: { ready: true }, hostname: 'second' },
    ],
  )
  t.strictSame(
    byName(slice!.ports ?? [], ({ name }) => name),
    [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'http', port: 80, protocol: 'TCP' },
    ],
  )
})

t.test('changes of the Endpoints are mirrored, and their deletion', async (t) => {
  const namespace = await newNamespace()
  const key = { namespace, name: 'db' }
  await createService(namespace)
  await createEndpoints(namespace)
  const [first] = await untilSlices('the Endpoints are mirrored', namespace, (slices) => slices.length === 1)
  await client.patch(core.endpoints, key, {
    subsets: [{ addresses: [{ ip: '192.0.2.3' }], notReadyAddresses: [{ ip: '192.0.2.4' }], ports }],
  })
  const [changed] = await untilSlices('the addresses change', namespace, (slices) => addressesIn(slices).join() === '192.0.2.3,192.0.2.4')
  t.equal(changed!.metadata.name, first!.metadata.name)
  t.strictSame(changed!.endpoints?.map(({ addresses: [ip], conditions }) => `${ip} ${conditions?.ready}`).sort(), [
    '192.0.2.3 true',
    '192.0.2.4 false',
  ])
  await client.patch(core.endpoints, key, { subsets: [{ addresses: [...addresses, { ip: '2001:db8::1' }], ports }] })
  const slices = await untilSlices('there is an EndpointSlice for each address type', namespace, (found) => addressesIn(found).length === 3)
  t.strictSame(slices.map(({ addressType, endpoints }) => `${addressType} ${endpoints?.length}`).sort(), ['IPv4 2', 'IPv6 1'])
  await client.patch(core.endpoints, key, { subsets: [{ addresses, ports }] })
  await untilSlices('the EndpointSlice without addresses is deleted', namespace, (found) => found.length === 1)
  const other = [{ port: 443, protocol: 'TCP' }]
  await client.patch(core.endpoints, key, { metadata: { labels: { stage: 'test' } }, subsets: [{ addresses, ports: other }] })
  const [labelled] = await untilSlices('the ports change', namespace, ([found]) => found?.ports?.[0]?.port === 443)
  t.equal(labelled!.metadata.name, first!.metadata.name)
  t.equal(labelled!.metadata.labels?.['stage'], 'test')
  await client.delete(discovery.endpointSlice, labelled!.metadata)
  await untilSlices('it is created again', namespace, ([found]) => found !== undefined && found.metadata.name !== labelled!.metadata.name)
  await client.delete(core.endpoints, key)
  await untilSlices('there is none', namespace, (found) => found.length === 0)
})

t.test('Endpoints are not mirrored without a Service, with a selector, with a label, and for leader election', async (t) => {
  const namespace = await newNamespace()
  const key = { namespace, name: 'db' }
  await createEndpoints(namespace)
  await client.create(core.endpoints, {
    metadata: { namespace, name: 'skipped', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses, ports }],
  })
  await client.create(core.endpoints, {
    metadata: { namespace, name: 'leader', annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
    subsets: [{ addresses, ports }],
  })
  for (const name of ['skipped', 'leader'])
    await client.create(core.service, { metadata: { namespace, name }, spec: { ports: [{ port: 80 }] } })
  await createService(namespace)
  const slices = await untilSlices('the Endpoints with a Service are mirrored', namespace, (found) => found.length > 0)
  t.strictSame(
    slices.map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']),
    ['db'],
  )
  await client.patch(core.endpoints, key, { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
  await untilSlices('the label is followed', namespace, (found) => found.length === 0)
  await client.patch(core.endpoints, key, { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } } })
  await untilSlices('its absence is followed', namespace, (found) => found.length === 1)
  await client.patch(core.service, key, { spec: { selector: { app: 'db' } } })
  await untilSlices('only the EndpointSlice of the selector is left', namespace, ([slice, ...others]) => {
    const manager = slice?.metadata.labels?.['endpointslice.kubernetes.io/managed-by']
    return others.length === 0 && manager === 'endpointslice-controller.k8s.io'
  })
})
