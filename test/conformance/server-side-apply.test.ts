/** Tests of server-side apply requests that omit fields. Other managers also own these fields. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { issueAuthority } from '../../src/certs/issue.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  applyPatch,
  custom,
  define,
  definition,
  mergePatch,
  namespace,
  object,
  objects,
  string,
} from '../support/conformance/definitions.ts'
import { metadataOf } from '../support/conformance/objects.ts'
import { base64 } from '../support/conformance/reviews.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const integer = { type: 'integer' }
const pair = object({ a: string, b: string })
const port = object({ name: string, port: integer, protocol: { ...string, default: 'TCP' }, note: string, pair }, { required: ['name'] })
const ports = { type: 'array', items: port, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
const schema = object({
  spec: object({
    size: integer,
    color: { ...string, default: 'red' },
    inner: object({ a: string, b: string, c: { ...string, default: 'd' } }),
    ports,
    words: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    list: { type: 'array', items: string },
    parts: { type: 'object', additionalProperties: pair },
    whole: { ...pair, 'x-kubernetes-map-type': 'atomic' },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }),
})

const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
await define(t, api, definition('mixes', 'Mix', schema))

/** A write request with a spec. The manager `updater` sends a merge patch, and every other manager sends a server-side apply request. */
type Write = readonly [manager: string, spec: JsonObject | undefined]

async function write(name: string, [manager, spec]: Write): Promise<JsonObject> {
  const query = `?fieldManager=${manager}${manager === 'updater' ? '' : '&force=true'}`
  const body = custom('Mix', name, spec === undefined ? {} : { spec })
  const contentType = manager === 'updater' ? mergePatch : applyPatch
  return (await api('PATCH', objects('mixes', name) + query, { contentType, body })).body
}

/** Returns the fields of the spec that each manager owns, keyed by manager. */
function owned(mix: JsonObject): JsonObject {
  const entries = (metadataOf(mix).managedFields ?? []) as { manager: string; fieldsV1: JsonObject }[]
  return Object.fromEntries(entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1['f:spec']!]))
}

const a = { name: 'a', port: 1 }
const b = { name: 'b', port: 2 }
const sound = { size: 1, color: 'red' }
const own = { 'f:size': {} }
const protocol = 'TCP'
const item = (name: string, ...fields: string[]): JsonObject => ({
  [`k:{"name":"${name}"}`]: { '.': {}, 'f:name': {}, ...Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) },
})

const cases: readonly (readonly [what: string, writes: readonly Write[], spec: JsonObject | undefined, owners: JsonObject])[] = [
  [
    'an item of a list goes with a field in it that an updater wrote',
    [
      ['m1', { ports: [a, b] }],
      ['updater', { ports: [a, { ...b, note: 'n' }] }],
      ['m1', { ports: [a] }],
    ],
    { color: 'red', ports: [{ ...a, protocol }] },
    { m1: { 'f:ports': item('a', 'port') } },
  ],
  [
    'an item stays with what another applier says of it',
    [
      ['m1', { ports: [a, b] }],
      ['m2', { ports: [{ name: 'b', note: 'n' }] }],
      ['m1', { ports: [a] }],
    ],
    { color: 'red', ports: [{ ...a, protocol }, { name: 'b', note: 'n', protocol }] }, // prettier-ignore
    { m1: { 'f:ports': item('a', 'port') }, m2: { 'f:ports': item('b', 'note') } },
  ],
  [
    'an item that an updater added stays',
    [
      ['m1', { ports: [a] }],
      ['updater', { ports: [a, b] }],
      ['m1', {}],
    ],
    { color: 'red', ports: [{ ...b, protocol }] },
    { m1: {}, updater: { 'f:ports': item('b', 'port', 'protocol') } },
  ],
  [
    'a field of an item keeps what an updater wrote into it',
    [
      ['m1', { ports: [{ ...a, pair: { a: '1' } }] }],
      ['updater', { ports: [{ ...a, pair: { a: '1', b: '2' } }] }],
      ['m1', { ports: [a] }],
    ],
    { color: 'red', ports: [{ ...a, protocol, pair: { b: '2' } }] },
    { m1: { 'f:ports': item('a', 'port') }, updater: { 'f:ports': { 'k:{"name":"a"}': { 'f:pair': { 'f:b': {} } } } } },
  ],
  [
    'a struct goes with the defaults in it',
    [
      ['m1', { size: 1, inner: { a: '1' } }],
      ['m1', { size: 1 }],
    ],
    sound,
    { m1: own },
  ],
  [
    'an empty struct has its defaults',
    [
      ['m1', { size: 1, inner: { a: '1' } }],
      ['m1', { size: 1, inner: {} }],
    ],
    { ...sound, inner: { c: 'd' } },
    { m1: { ...own, 'f:inner': {} } },
  ],
  ...(['m2', 'updater'] as const).map(
    (other) =>
      [
        `a struct stays with what ${other} owns of it, and the defaults`,
        [
          ['m1', { size: 1, inner: { a: '1' } }],
          [other, { inner: { b: '2' } }],
          ['m1', { size: 1 }],
        ],
        { ...sound, inner: { b: '2', c: 'd' } },
        { m1: own, [other]: { 'f:inner': { 'f:b': {} } } },
      ] as const,
  ),
  [
    'an entry of a map goes with a field in it that an updater wrote',
    [
      ['m1', { size: 1, parts: { x: { a: '1' }, y: { a: '2' } } }],
      ['updater', { parts: { x: { b: '2' } } }],
      ['m1', { size: 1, parts: { y: { a: '2' } } }],
    ],
    { ...sound, parts: { y: { a: '2' } } },
    { m1: { ...own, 'f:parts': { 'f:y': { '.': {}, 'f:a': {} } } } },
  ],
  [
    'so it does where the schema knows nothing of it',
    [
      ['m1', { size: 1, any: { x: { a: 1 }, y: 1 } }],
      ['updater', { any: { x: { b: 2 } } }],
      ['m1', { size: 1, any: { y: 1 } }],
    ],
    { ...sound, any: { y: 1 } },
    { m1: { ...own, 'f:any': { 'f:y': {} } } },
  ],
  [
    'a spec that is said no more goes with its defaults',
    [
      ['m1', { size: 1 }],
      ['m1', undefined],
    ],
    undefined,
    {},
  ],
  [
    'and stays when somebody else has a part in it',
    [
      ['m1', { size: 1 }],
      ['m2', { list: ['x'] }],
      ['m1', undefined],
    ],
    { color: 'red', list: ['x'] },
    { m2: { 'f:list': {} } },
  ],
  [
    'a set keeps the values of others',
    [
      ['m1', { words: ['x', 'y'] }],
      ['m2', { words: ['y', 'z'] }],
      ['m1', { size: 1 }],
    ],
    { ...sound, words: ['y', 'z'] },
    { m1: own, m2: { 'f:words': { 'v:"y"': {}, 'v:"z"': {} } } },
  ],
  [
    'what is atomic goes as a whole',
    [
      ['m1', { size: 1, list: ['x'], whole: { a: '1' } }],
      ['m1', { size: 1 }],
    ],
    sound,
    { m1: own },
  ],
  [
    'an empty list takes the last item out',
    [
      ['m1', { size: 1, ports: [a] }],
      ['m1', { size: 1, ports: [] }],
    ],
    sound,
    { m1: own },
  ],
]

t.test('a field that is no longer applied is removed unless another manager owns a part of it', async (t) => {
  for (const [index, [what, writes, spec, owners]] of cases.entries()) {
    let last: JsonObject = {}
    for (const one of writes) last = await write(`mix-${index}`, one)
    t.strictSame([last.spec, owned(last)], [spec, owners], what)
  }
})

const bundle = base64((await issueAuthority(Date.now())).cert)

t.test('a webhook that is no longer applied is removed, even with a caBundle of another manager', async (t) => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/server-side-apply'
  t.teardown(() => api('DELETE', path))
  const hook = (name: string): JsonObject => ({
    name,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: ['nothing.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
  })
  const apply = (...names: string[]) =>
    api('PATCH', `${path}?fieldManager=install&force=true`, {
      contentType: applyPatch,
      body: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'server-side-apply' },
        webhooks: names.map(hook),
      },
    })
  t.equal((await apply('a.example.com', 'b.example.com')).status, 201)
  const operations = [0, 1].map((index) => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle }))
  const injected = await api('PATCH', `${path}?fieldManager=injector`, { contentType: 'application/json-patch+json', body: operations })
  t.equal(injected.status, 200)
  const { status, body } = await apply('a.example.com')
  t.equal(status, 200)
  const webhooks = body.webhooks as { name: string; clientConfig: JsonObject }[]
  t.strictSame(webhooks.map(({ name }) => name), ['a.example.com']) // prettier-ignore
  t.strictSame(webhooks[0]!.clientConfig, { url: 'https://127.0.0.1:1/', caBundle: bundle })
})

t.test('an apply changes a conversion webhook from a Service to a URL', async (t) => {
  const [version] = (definition('moves', 'Move', object({})).spec as { versions: JsonObject[] }).versions
  const names = { plural: 'moves', kind: 'Move' }
  const { metadata, ...rest } = definition('moves', 'Move', object({}))
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${String((metadata as JsonObject).name)}`
  t.teardown(() => api('DELETE', path))
  const apply = (clientConfig: JsonObject) => {
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } }
    const spec = { ...(rest.spec as JsonObject), names, conversion, versions: [version!] }
    return api('PATCH', `${path}?fieldManager=install&force=true`, {
      contentType: applyPatch,
      body: { ...rest, metadata: metadata!, spec },
    })
  }
  t.equal((await apply({ service: { name: 'webhook', namespace, path: '/convert' } })).status, 201)
  const value = { spec: { conversion: { webhook: { clientConfig: { caBundle: bundle } } } } }
  t.equal((await api('PATCH', `${path}?fieldManager=injector`, { contentType: mergePatch, body: value })).status, 200)
  const { body } = await apply({ url: 'https://127.0.0.1:1/convert' })
  const { conversion } = body.spec as { conversion: { webhook: { clientConfig: JsonObject } } }
  t.strictSame(conversion.webhook.clientConfig, { url: 'https://127.0.0.1:1/convert', caBundle: bundle })
})
