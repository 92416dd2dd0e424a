/** Tests of the matching of requests to webhooks: rules, matchPolicy, selectors, and types for which no webhook is called. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  admissionWorld,
  configurationOf,
  configurationPath,
  defineWidgets,
  patchResponse,
  webhookOf,
} from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-matching'
const group = 'matching.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)
await defineWidgets(t, api, group)

const types = { widgets: 'Widget', gadgets: 'Gadget' } as const

function pathOf(plural: keyof typeof types, version = 'v1'): string {
  return `/apis/${group}/${version}/${plural === 'widgets' ? `namespaces/${namespace}/` : ''}${plural}`
}

function create(plural: keyof typeof types, metadata: JsonObject, query = '', version = 'v1'): Promise<RawAnswer> {
  return api('POST', `${pathOf(plural, version)}${query}`, {
    body: { apiVersion: `${group}/${version}`, kind: types[plural], metadata, spec: { size: 1 } },
  })
}

function patch(path: string, body: JsonObject, query = ''): Promise<RawAnswer> {
  return api('PATCH', `${path}${query}`, { contentType: 'application/merge-patch+json', body })
}

/**
 * Returns the paths of the called webhooks, without duplicates. If the object in the cache of kube-apiserver is stale, kube-apiserver
 * repeats the update, and calls the webhooks again (k8s.io/apiserver/pkg/storage/etcd3: GuaranteedUpdate).
 */
function called(): string {
  return [...new Set(server.take().map(({ path }) => path))].toSorted().join(' ')
}

/** Returns a rule that matches all types in the test's group; `parts` overrides fields of the rule. */
const rule = (parts: JsonObject): JsonObject => ({ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['*'], ...parts })

t.test('a rule matches by resource, subresource, scope and operation', needsOwnControlPlane, async (t) => {
  const rules: Record<string, JsonObject> = {
    all: { resources: ['*'] },
    'all-sub': { resources: ['*/*'] },
    cluster: { resources: ['*'], scope: 'Cluster' },
    create: { resources: ['widgets'], operations: ['CREATE'] },
    delete: { resources: ['*'], operations: ['DELETE'] },
    namespaced: { resources: ['*'], scope: 'Namespaced' },
    'other-group': { apiGroups: ['other.example.com'] },
    'other-version': { apiVersions: ['v7'] },
    scale: { resources: ['*/scale'] },
    several: { resources: ['gadgets', 'widgets/status'] },
    'some-version': { apiVersions: ['*'], resources: ['gadgets'] },
    update: { resources: ['widgets', 'gadgets'], operations: ['UPDATE'] },
    widgets: { resources: ['widgets'], scope: '*' },
    'widgets-status': { resources: ['widgets/status'] },
    'widgets-sub': { resources: ['widgets/*'] },
  }
  const everywhere = { namespaceSelector: {} }
  await configure(
    t,
    'validating',
    'rules',
    Object.entries(rules).map(([name, parts]) => webhookOf(server, name, [rule(parts)], everywhere)),
  )
  const widget = `${pathOf('widgets')}/a`
  const gadget = `${pathOf('gadgets')}/a`
  const cases: [string, () => Promise<RawAnswer>, string][] = [
    ['create widget', () => create('widgets', { name: 'a' }), 'all all-sub create namespaced widgets widgets-sub'],
    ['update widget', () => patch(widget, { spec: { size: 2 } }), 'all all-sub namespaced update widgets widgets-sub'],
    ['status of widget', () => patch(`${widget}/status`, { status: { phase: 'x' } }), 'all-sub several widgets-status widgets-sub'],
    ['scale of widget', () => patch(`${widget}/scale`, { spec: { replicas: 3 } }), 'all-sub scale widgets-sub'],
    ['delete widget', () => api('DELETE', widget), 'all all-sub delete namespaced widgets widgets-sub'],
    ['create gadget', () => create('gadgets', { name: 'a' }), 'all all-sub cluster several some-version'],
    ['update gadget', () => patch(gadget, { spec: { size: 2 } }), 'all all-sub cluster several some-version update'],
    ['status of gadget', () => patch(`${gadget}/status`, { status: { phase: 'x' } }), 'all-sub'],
    ['delete gadget', () => api('DELETE', gadget), 'all all-sub cluster delete several some-version'],
    ['read', () => api('GET', pathOf('widgets')), ''],
  ]
  for (const [what, request, expected] of cases) {
    const { status, text } = await request()
    t.ok(status < 300, `${what}: ${text}`)
    t.equal(called(), expected, what)
  }
})

t.test(
  'with matchPolicy Equivalent, a request is converted for a webhook with a rule for another version',
  needsOwnControlPlane,
  async (t) => {
    const hook = (name: string, apiVersions: string[], matchPolicy?: string) =>
      webhookOf(
        server,
        name,
        [rule({ apiVersions, resources: ['widgets', 'widgets/scale'] })],
        matchPolicy === undefined ? {} : { matchPolicy },
      )
    await configure(t, 'mutating', 'policy', [
      hook('exact', ['v1'], 'Exact'),
      hook('equivalent', ['v1'], 'Equivalent'),
      hook('default', ['v1']),
      hook('both', ['v1', 'v2']),
    ])
    server.answer('equivalent', patchResponse({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }))
    t.equal((await create('widgets', { name: 'a' }, '?dryRun=All')).status, 201)
    t.equal(called(), 'both default equivalent exact')
    const created = await create('widgets', { name: 'a' }, '', 'v2')
    t.match(created.body, { apiVersion: `${group}/v2`, metadata: { labels: { a: 'b' } } })
    const calls = server.take()
    t.strictSame(
      calls.map(({ path }) => path),
      ['equivalent', 'default', 'both'],
    )
    const versions = ({ request }: (typeof calls)[number]) => {
      const { kind, resource, requestKind, requestResource, object } = request as Record<string, JsonObject>
      return [kind, resource, requestKind, requestResource].map((type) => type!.version).concat(object!.apiVersion)
    }
    t.strictSame(calls.map(versions), [
      ['v1', 'v1', 'v2', 'v2', `${group}/v1`],
      ['v1', 'v1', 'v2', 'v2', `${group}/v1`],
      ['v2', 'v2', 'v2', 'v2', `${group}/v2`],
    ])
    t.equal((await patch(`${pathOf('widgets', 'v2')}/a/scale`, { spec: { replicas: 4 } }, '?dryRun=All')).status, 200)
    for (const { path, request } of server.take())
      t.match(request, {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        requestKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { version: path === 'both' ? 'v2' : 'v1' },
        requestResource: { version: 'v2' },
        subResource: 'scale',
      })
    server.reset()
    t.equal((await api('DELETE', `${pathOf('widgets', 'v2')}/a`)).status, 200)
    const deletions = server.take()
    t.strictSame(
      deletions.map(({ path }) => path),
      ['equivalent', 'default', 'both'],
    )
    t.strictSame(
      deletions.map(({ request }) => (request.oldObject as JsonObject).apiVersion),
      [`${group}/v1`, `${group}/v1`, `${group}/v2`],
    )
  },
)

t.test('an objectSelector matches the new or the old object', needsOwnControlPlane, async (t) => {
  const exists = { matchExpressions: [{ key: 'a', operator: 'Exists' }] }
  const missing = { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }
  const selectors: Record<string, JsonObject> = {
    any: {},
    exists: exists,
    'is-b': { matchLabels: { a: 'b' } },
    missing: missing,
    'not-b': { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] },
  }
  const webhooks = Object.entries(selectors).map(([name, objectSelector]) =>
    webhookOf(server, name, [rule({ resources: ['widgets', 'gadgets', 'widgets/scale'] })], { objectSelector }),
  )
  await configure(t, 'validating', 'objects', webhooks)
  const widget = `${pathOf('widgets')}/a`
  const cases: [string, () => Promise<RawAnswer>, string][] = [
    ['no label', () => create('widgets', { name: 'a' }), 'any missing not-b'],
    ['a label is set', () => patch(widget, { metadata: { labels: { a: 'b' } } }), 'any exists is-b missing not-b'],
    ['it stays', () => patch(widget, { spec: { size: 2 } }), 'any exists is-b'],
    ['it changes', () => patch(widget, { metadata: { labels: { a: 'c' } } }), 'any exists is-b not-b'],
    ['of a scale', () => patch(`${widget}/scale`, { spec: { replicas: 3 } }), 'any missing not-b'],
    ['it goes', () => patch(widget, { metadata: { labels: null } }), 'any exists missing not-b'],
    ['of a deletion', () => api('DELETE', widget), 'any missing not-b'],
    ['in no namespace', () => create('gadgets', { name: 'a', labels: { a: 'b' } }), 'any exists is-b'],
    ['deleted there', () => api('DELETE', `${pathOf('gadgets')}/a`), 'any exists is-b'],
  ]
  for (const [what, request, expected] of cases) {
    const { status, text } = await request()
    t.ok(status < 300, `${what}: ${text}`)
    t.equal(called(), expected, what)
  }
})

t.test(
  'a namespaceSelector matches the namespace of the object or the Namespace itself, and always cluster-scoped objects',
  needsOwnControlPlane,
  async (t) => {
    const own = 'conformance-admission-matching-labels'
    const named = (...values: string[]): JsonObject => ({ key: 'kubernetes.io/metadata.name', operator: 'In', values })
    const selectors: Record<string, JsonObject> = {
      elsewhere: { matchExpressions: [named('elsewhere')] },
      here: { matchExpressions: [named(namespace)] },
      labelled: { matchExpressions: [{ key: 'matching', operator: 'In', values: ['yes'] }] },
      unlabelled: { matchExpressions: [named(namespace, own), { key: 'matching', operator: 'DoesNotExist' }] },
    }
    const rules = [rule({ resources: ['widgets', 'gadgets'] }), rule({ apiGroups: [''], resources: ['namespaces'] })]
    const webhooks = Object.entries(selectors).map(([name, namespaceSelector]) => webhookOf(server, name, rules, { namespaceSelector }))
    await configure(t, 'validating', 'namespaces', webhooks)
    t.teardown(() => api('DELETE', `/api/v1/namespaces/${own}`))
    const ownPath = `/api/v1/namespaces/${own}`
    const cases: [string, () => Promise<RawAnswer>, string][] = [
      ['in a namespace', () => create('widgets', { name: 'a' }, '?dryRun=All'), 'here unlabelled'],
      ['in none', () => create('gadgets', { name: 'a' }, '?dryRun=All'), 'elsewhere here labelled unlabelled'],
      ['a new namespace', () => api('POST', '/api/v1/namespaces', { body: { metadata: { name: own } } }), 'unlabelled'],
      ['a label is set', () => patch(ownPath, { metadata: { labels: { matching: 'yes' } } }), 'labelled'],
      ['it goes', () => patch(ownPath, { metadata: { labels: { matching: null } } }), 'unlabelled'],
      ['it is deleted', () => api('DELETE', `${ownPath}?dryRun=All`), 'unlabelled'],
    ]
    for (const [what, request, expected] of cases) {
      const { status, text } = await request()
      t.ok(status < 300, `${what}: ${text}`)
      t.equal(called(), expected, what)
    }
    // The AdmissionRequest for a Namespace contains the name of the Namespace in the field `namespace`. Nevertheless, a rule with the
    // `scope` `Cluster` matches the request, and a rule with the `scope` `Namespaced` does not.
    t.equal((await patch(ownPath, { metadata: { annotations: { a: 'b' } } })).status, 200)
    t.match(
      server.take().map(({ request }) => [request.name, request.namespace]),
      [[own, own]],
    )
    t.equal(
      (
        await api('POST', `/apis/${group}/v1/namespaces/nowhere/widgets`, {
          body: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } },
        })
      ).status,
      404,
    )
  },
)

t.test('webhooks are called for every type except webhook configurations', needsOwnControlPlane, async (t) => {
  const labels = { matching: 'exempt' }
  const everything = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }]
  const more = { namespaceSelector: {}, objectSelector: { matchLabels: labels } }
  await configure(t, 'mutating', 'exempt', [webhookOf(server, 'mutating', everything, more)])
  await configure(t, 'validating', 'exempt', [webhookOf(server, 'validating', everything, more)])
  for (const type of ['mutating', 'validating'] as const) {
    const path = configurationPath(type, 'exempt-other')
    const body = { ...configurationOf(type, 'exempt-other', []), metadata: { name: 'exempt-other', labels } }
    t.equal((await api('POST', configurationPath(type), { body })).status, 201)
    t.equal((await patch(path, { metadata: { annotations: { a: 'b' } } })).status, 200)
    t.equal((await api('DELETE', path)).status, 200)
    t.equal(called(), '')
  }
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  t.equal((await api('POST', path, { body: { metadata: { labels }, spec: { token: 'nobody' } } })).status, 201)
  t.equal(called(), 'mutating validating')
})

t.test('webhooks are called for access reviews', needsOwnControlPlane, async (t) => {
  const rules = [rule({ apiGroups: ['authorization.k8s.io'] })]
  await configure(t, 'mutating', 'reviews', [webhookOf(server, 'mutating', rules, { namespaceSelector: {} })])
  await configure(t, 'validating', 'reviews', [webhookOf(server, 'validating', rules, { namespaceSelector: {} })])
  const nonResourceAttributes = { path: '/', verb: 'get' }
  const group = '/apis/authorization.k8s.io/v1'
  t.equal((await api('POST', `${group}/selfsubjectaccessreviews`, { body: { spec: { nonResourceAttributes } } })).status, 201)
  t.equal(called(), 'mutating validating')
  server.answer('mutating', patchResponse({ op: 'add', path: '/spec/user', value: 'john' }))
  const { status, body } = await api('POST', `${group}/subjectaccessreviews`, { body: { spec: { user: 'jane', nonResourceAttributes } } })
  t.equal(status, 201)
  t.match(body, { spec: { user: 'john' } })
  t.equal(called(), 'mutating validating')
})
