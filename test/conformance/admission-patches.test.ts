/**
 * Tests of the patches that mutating webhooks return: the objects that result from accepted patches, and the errors for rejected patches.
 */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { admissionWorld, configMaps, defineWidgets, patchResponse, webhookOf } from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-patches'
const group = 'patches.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)
await defineWidgets(t, api, group)

const widgetsPath = `/apis/${group}/v1/namespaces/${namespace}/widgets`
const configMapsPath = `/api/v1/namespaces/${namespace}/configmaps`
const widgets = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['widgets'] }]

/** A patch that a webhook returns for a new or an existing object, and the expected response of the API server. */
interface PatchCase {
  readonly operations: readonly JsonObject[]
  readonly status: number
  /** Fields that the response body must contain. */
  readonly expected: JsonObject
}

const replace = (path: string, value: JsonValue): JsonObject => ({ op: 'replace', path, value })
const add = (path: string, value: JsonValue): JsonObject => ({ op: 'add', path, value })
const internal = (message: string): JsonObject => ({
  message: `Internal error occurred: ${message}`,
  reason: 'InternalError',
  details: { causes: [{ message }] },
  code: 500,
})
const otherNamespace = {
  message: 'the namespace of the provided object does not match the namespace sent on the request',
  reason: 'BadRequest',
  code: 400,
}
const unregistered = (kind: string, version: string): JsonObject => ({
  message: new RegExp(`^Internal error occurred: no kind "${kind}" is registered for version "${version}"`) as never,
  code: 500,
})
const missing = (operation: string, path: string): JsonObject =>
  internal(`${operation} operation does not apply: doc is missing path: "${path}": missing value`)

/** Patches for the creation of the ConfigMap `a` with `data.a: b`. */
const newConfigMaps: Record<string, PatchCase> = {
  'another name': { operations: [replace('/metadata/name', 'b')], status: 201, expected: { metadata: { name: 'b' } } },
  'no name': {
    operations: [replace('/metadata/name', '')],
    status: 422,
    expected: { message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required', reason: 'Invalid' },
  },
  'another namespace': { operations: [replace('/metadata/namespace', 'other')], status: 400, expected: otherNamespace },
  'no namespace': { operations: [{ op: 'remove', path: '/metadata/namespace' }], status: 201, expected: { metadata: { namespace } } },
  'a uid of its own': {
    operations: [add('/metadata/uid', 'mine')],
    status: 201,
    expected: { metadata: { uid: /^[-0-9a-f]{36}$/ as never } },
  },
  'another kind': { operations: [replace('/kind', 'Gadget')], status: 500, expected: unregistered('Gadget', 'v1') },
  'another apiVersion': { operations: [replace('/apiVersion', 'v7')], status: 500, expected: unregistered('ConfigMap', 'v7') },
  'no kind': { operations: [{ op: 'remove', path: '/kind' }], status: 201, expected: { kind: 'ConfigMap' } },
  'fields that nobody knows': { operations: [add('/other', 1), add('/metadata/other', 1)], status: 201, expected: { data: { a: 'b' } } },
  null: { operations: [replace('/data', null)], status: 201, expected: { kind: 'ConfigMap' } },
  'a text for the data': {
    operations: [replace('/data', 'x')],
    status: 500,
    expected: internal('json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string'),
  },
  'a number for a label': {
    operations: [add('/metadata/labels', { a: 1 })],
    status: 500,
    expected: internal('json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string'),
  },
  'a label that is none': { operations: [add('/metadata/labels', { 'a b': 'c' })], status: 422, expected: { reason: 'Invalid' } },
  'an unknown operation': { operations: [{ op: 'increase', path: '/data' }], status: 500, expected: internal('Unexpected kind: increase') },
  'no operation': { operations: [{ path: '/data' }], status: 500, expected: internal('Unexpected kind: unknown') },
  'no path': {
    operations: [{ op: 'add', value: 1 }],
    status: 500,
    expected: internal('add operation failed to decode path: missing value'),
  },
  'no value': { operations: [{ op: 'add', path: '/data' }], status: 201, expected: { kind: 'ConfigMap' } },
  'a path without a slash': { operations: [add('data', {})], status: 500, expected: missing('add', 'data') },
  'a path into nothing': { operations: [add('/binaryData/a', 'b')], status: 500, expected: missing('add', '/binaryData/a') },
  'a removal of nothing': {
    operations: [{ op: 'remove', path: '/data/x' }],
    status: 500,
    expected: internal("error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value"),
  },
  'a replacement of nothing adds': { operations: [replace('/data/x', 'y')], status: 201, expected: { data: { a: 'b', x: 'y' } } },
  'a move of nothing': {
    operations: [{ op: 'move', from: '/data/x', path: '/data/y' }],
    status: 500,
    expected: internal("error in move for path: 'x': Unable to remove nonexistent key: x: missing value"),
  },
  'a copy': { operations: [{ op: 'copy', from: '/data/a', path: '/data/c' }], status: 201, expected: { data: { a: 'b', c: 'b' } } },
  'a test that fails': {
    operations: [{ op: 'test', path: '/data/a', value: 'c' }],
    status: 500,
    expected: internal('testing value /data/a failed: test failed'),
  },
  'a test of nothing': {
    operations: [{ op: 'test', path: '/binaryData/a', value: 'c' }],
    status: 500,
    expected: internal('test operation does not apply: is missing path: /binaryData/a: missing value'),
  },
  'an index beyond the end': {
    operations: [add('/metadata/finalizers', ['example.com/a']), add('/metadata/finalizers/5', 'example.com/b')],
    status: 500,
    expected: internal("error in add for path: '/metadata/finalizers/5': Unable to access invalid index: 5: invalid index referenced"),
  },
  'the whole object': { operations: [{ op: 'remove', path: '' }], status: 500, expected: missing('remove', '') },
}

/** Patches for the creation of the widget `a`. */
const newWidgets: Record<string, PatchCase> = {
  'another name': { operations: [replace('/metadata/name', 'b')], status: 201, expected: { metadata: { name: 'b' } } },
  'another namespace': { operations: [replace('/metadata/namespace', 'other')], status: 400, expected: otherNamespace },
  'another kind': {
    operations: [replace('/kind', 'Gadget')],
    status: 422,
    expected: {
      message: `Gadget.${group} "a" is invalid: kind: Invalid value: "Gadget": must be Widget`,
      details: { kind: 'Gadget', name: 'a', group },
    },
  },
  'another version': { operations: [replace('/apiVersion', `${group}/v2`)], status: 201, expected: { apiVersion: `${group}/v1` } },
  'no kind': {
    operations: [{ op: 'remove', path: '/kind' }],
    status: 500,
    expected: { message: /^Internal error occurred: Object 'Kind' is missing in '\{/ as never },
  },
  'a status': { operations: [add('/status', { phase: 'x' })], status: 201, expected: { kind: 'Widget' } },
  'fields that nobody knows': {
    operations: [add('/other', 1), add('/metadata/other', 1)],
    status: 201,
    expected: { spec: { size: 1, color: 'red' } },
  },
}

/** Patches for the update of an existing ConfigMap. */
const liveConfigMaps: Record<string, PatchCase> = {
  'another name': { operations: [replace('/metadata/name', 'b')], status: 422, expected: { message: /field is immutable/ as never } },
  'another namespace': { operations: [replace('/metadata/namespace', 'other')], status: 400, expected: otherNamespace },
  'another uid': {
    operations: [replace('/metadata/uid', 'mine')],
    status: 422,
    expected: { message: 'ConfigMap "live" is invalid: metadata.uid: Invalid value: "mine": field is immutable' },
  },
  'another resourceVersion': { operations: [replace('/metadata/resourceVersion', '7')], status: 409, expected: { reason: 'Conflict' } },
  'another creationTimestamp': {
    operations: [replace('/metadata/creationTimestamp', '2001-01-01T00:00:00Z')],
    status: 200,
    expected: { kind: 'ConfigMap' },
  },
  labels: { operations: [add('/metadata/labels', { a: 'b' })], status: 200, expected: { metadata: { labels: { a: 'b' } } } },
}

t.test('a webhook may name a new object, but not change the namespace or the identity of an object', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'patching', [webhookOf(server, 'patch', [...widgets, ...configMaps])])
  const newWidget = () =>
    api('POST', `${widgetsPath}?dryRun=All`, {
      body: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1 } },
    })
  const newConfigMap = () =>
    api('POST', `${configMapsPath}?dryRun=All`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } },
    })
  const update = () =>
    api('PATCH', `${configMapsPath}/live?dryRun=All`, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { a: 'b' } } },
    })
  t.equal((await api('POST', configMapsPath, { body: { metadata: { name: 'live' }, data: { a: 'b' } } })).status, 201)
  const tables: [string, Record<string, PatchCase>, () => Promise<RawAnswer>][] = [
    ['a new ConfigMap', newConfigMaps, newConfigMap],
    ['a new widget', newWidgets, newWidget],
    ['a live ConfigMap', liveConfigMaps, update],
  ]
  for (const [subject, cases, write] of tables)
    for (const [what, { operations, status, expected }] of Object.entries(cases)) {
      server.answer('patch', patchResponse(...operations))
      const { status: found, body } = await write()
      t.match(body, expected, `${subject}: ${what}`)
      t.equal(found, status, `${subject}: ${what}`)
      for (const unknown of ['other', 'status'])
        if (status < 300) t.notOk(Object.hasOwn(body, unknown) || Object.hasOwn(body.metadata as object, unknown))
    }
})

t.test('a patch in a review of a DELETE is refused', needsOwnControlPlane, async (t) => {
  t.equal((await api('POST', configMapsPath, { body: { metadata: { name: 'gone' } } })).status, 201)
  await configure(t, 'mutating', 'patching', [webhookOf(server, 'patch', configMaps)])
  server.answer('patch', patchResponse(add('/metadata/labels', {})))
  const message =
    'admission webhook "patch.conformance.example.com" attempted to modify the object, which is not supported for this operation'
  t.match((await api('DELETE', `${configMapsPath}/gone`)).body, internal(message))
  server.answer('patch', patchResponse())
  t.equal((await api('DELETE', `${configMapsPath}/gone`)).status, 200)
})
