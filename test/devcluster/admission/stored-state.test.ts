/** Tests of the objects that admission plugins read from the store. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { endpointOf } from '../../../src/devcluster/admission/stored-services.ts'
import { storedPods, storedWebhooks } from '../../../src/devcluster/admission/admission-state.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import { custom, namespaces, pods } from '../../support/devcluster/admission.ts'

function put(
  store: ObjectStore,
  storageKey: string,
  metadata: { name: string; namespace?: string; labels?: JsonObject },
  more: JsonObject = {},
): void {
  const { name, namespace } = metadata
  const key = namespace === undefined ? { name } : { name, namespace }
  void store.put(storageKey, key, { metadata: { ...metadata }, ...more }, store.get(storageKey, key))
}

const service = { namespace: 'ns', name: 'hooks', port: 443 }
const slices = 'discovery.k8s.io/endpointslices'
const ofHooks = { 'kubernetes.io/service-name': 'hooks' }

t.test('a Service resolves to the first ready address of its EndpointSlices', (t) => {
  const store = new ObjectStore()
  t.equal(endpointOf(store, service), undefined, 'the Service is missing')
  const ports = [
    { port: 80, name: 'http' },
    { port: 443, name: 'https' },
  ]
  put(store, '/services', { namespace: 'ns', name: 'hooks' }, { spec: { ports } })
  t.equal(endpointOf(store, service), undefined, 'the Service has no endpoints')
  const slice = (name: string, endpoints: JsonObject[], labels: JsonObject = ofHooks, target = ports[1]!.name, namespace = 'ns'): void =>
    put(
      store,
      slices,
      { namespace, name, labels },
      {
        endpoints,
        ports: [
          { name: 'http', port: 8080 },
          { name: target, port: 9443 },
        ],
      },
    )
  slice('a', [{ addresses: ['10.0.0.9'] }], { 'kubernetes.io/service-name': 'other' })
  slice('b', [{ addresses: ['10.0.0.8'] }], ofHooks, 'metrics')
  slice('c', [{ addresses: ['10.0.0.7'], conditions: { ready: false } }])
  slice('x', [{ addresses: ['10.0.0.6'] }], ofHooks, 'https', 'elsewhere')
  t.equal(endpointOf(store, service), undefined, 'no endpoint is ready')
  slice('d', [
    { addresses: ['10.0.0.5'], conditions: { ready: false } },
    { addresses: ['10.0.0.4', '10.0.0.3'], conditions: { ready: true } },
  ])
  t.equal(endpointOf(store, service), 'https://10.0.0.4:9443')
  t.equal(endpointOf(store, { ...service, port: 80 }), 'https://10.0.0.8:8080')
  t.equal(endpointOf(store, { ...service, port: 81 }), undefined)
  slice('c', [{ addresses: ['::1'] }])
  t.equal(endpointOf(store, service), 'https://[::1]:9443')
  t.end()
})

t.test('a Service with one port without a name resolves to the port without a name', (t) => {
  const store = new ObjectStore()
  put(store, '/services', { namespace: 'ns', name: 'hooks' }, { spec: { ports: [{ port: 443 }] } })
  put(store, slices, { namespace: 'ns', name: 'a', labels: ofHooks }, { endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 9443 }] })
  t.equal(endpointOf(store, service), 'https://10.0.0.1:9443')
  t.equal(endpointOf(store, { ...service, port: 9443 }), undefined, 'the port is that of the Service')
  t.equal(endpointOf(store, { ...service, name: 'other' }), undefined)
  t.equal(endpointOf(store, { ...service, namespace: 'other' }), undefined)
  t.end()
})

t.test('webhook configurations are cached until one of them changes', (t) => {
  const store = new ObjectStore()
  const state = storedWebhooks(store, new Catalog([]))
  const keyOf = (kind: string): string => `admissionregistration.k8s.io/${kind}webhookconfigurations`
  const names = (kind: 'mutating' | 'validating') => state.configurations(kind).map(({ metadata }) => (metadata as JsonObject).name)
  t.strictSame([names('mutating'), names('validating')], [[], []])
  put(store, keyOf('mutating'), { name: 'm' })
  put(store, keyOf('validating'), { name: 'b' })
  put(store, keyOf('validating'), { name: 'a' })
  t.strictSame([names('mutating'), names('validating')], [['m'], ['a', 'b']])
  const [mutating, validating] = [state.configurations('mutating'), state.configurations('validating')]
  put(store, '/pods', { namespace: 'ns', name: 'p' })
  put(store, keyOf('mutating'), { name: 'm2' })
  t.not(state.configurations('mutating'), mutating)
  t.equal(state.configurations('validating'), validating)
  store.endSubscriptions()
  put(store, keyOf('validating'), { name: 'c' })
  t.strictSame(names('validating'), ['a', 'b', 'c'], 'a change is seen after all watches were ended')
  t.end()
})

t.test('namespace labels, Pods of a namespace and other versions of a type are read from the store', (t) => {
  const store = new ObjectStore()
  put(store, '/namespaces', { name: 'ns', labels: { a: 'b' } })
  put(store, '/namespaces', { name: 'plain' })
  for (const [namespace, name] of [
    ['ns', 'b'],
    ['ns', 'a'],
    ['other', 'c'],
  ])
    put(store, '/pods', { namespace: namespace!, name: name! })
  const catalog = new Catalog([custom.v1, custom.v2, pods, namespaces])
  const webhooks = storedWebhooks(store, catalog)
  const security = storedPods(store)
  for (const { namespaceLabels } of [webhooks, security])
    t.strictSame([namespaceLabels('ns'), namespaceLabels('plain'), namespaceLabels('none')], [{ a: 'b' }, {}, undefined])
  t.strictSame(
    security.podsIn('ns').map(({ metadata }) => (metadata as JsonObject).name),
    ['a', 'b'],
  )
  t.strictSame(webhooks.otherVersions(custom.v1), [custom.v2])
  t.strictSame(webhooks.otherVersions(pods), [])
  t.end()
})
