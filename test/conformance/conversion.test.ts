/** Tests of custom resources with a conversion webhook: reads, writes and managed fields in every version. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { admissionWorld, patchResponse, webhookOf } from '../support/conformance/admission.ts'
import { conversionServer, convertThing, defineThings } from '../support/conformance/conversion.ts'
import { listMetadataOf, metadataOf } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { brief, watchesOf } from '../support/conformance/watch-events.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-conversion'
const group = 'conversion.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const watch = watchesOf(t, controlPlane.connection)
const server = await conversionServer(t, convertThing)
await defineThings(t, api, group, server.conversion)

type Version = 'v1' | 'v2'
const mergePatch = 'application/merge-patch+json'

function pathOf(version: Version, name = ''): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/things${name === '' ? '' : `/${name}`}`
}

function thing(version: Version, name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name, ...metadata }, spec }
}

function create(version: Version, name: string, spec: JsonObject, metadata: JsonObject = {}): Promise<RawAnswer> {
  return api('POST', pathOf(version), { body: thing(version, name, spec, metadata) })
}

function patch(path: string, body: unknown, contentType = mergePatch): Promise<RawAnswer> {
  return api('PATCH', path, { contentType, body })
}

function apply(version: Version, name: string, manager: string, spec: JsonObject, query = ''): Promise<RawAnswer> {
  const path = `${pathOf(version, name)}?fieldManager=${manager}${query}`
  return patch(path, thing(version, name, spec), 'application/apply-patch+yaml')
}

async function specOf(version: Version, name: string): Promise<unknown> {
  return (await api('GET', pathOf(version, name))).body.spec
}

/** Returns `MANAGER OPERATION VERSION: FIELDS` for each entry of managedFields, sorted. */
function managersOf({ body }: RawAnswer): string[] {
  const entries = metadataOf(body).managedFields as { manager: string; operation: string; apiVersion: string; fieldsV1: JsonObject }[]
  const names = (fields: JsonObject): string => Object.keys((fields['f:spec'] ?? fields['f:status'] ?? {}) as JsonObject).join(' ')
  return entries
    .map(({ manager, operation, apiVersion, fieldsV1 }) => `${manager} ${operation} ${apiVersion.split('/')[1]}: ${names(fieldsV1)}`)
    .toSorted()
}

const red = { 'example.com/color': 'red' }

t.test('a manager that applies labels in one version and then in another one keeps them', async (t) => {
  const applyLabelled = (version: Version, spec: JsonObject, labels: JsonObject): Promise<RawAnswer> =>
    patch(`${pathOf(version, 'labelled')}?fieldManager=m1`, thing(version, 'labelled', spec, { labels }), 'application/apply-patch+yaml')
  t.equal((await applyLabelled('v1', { size: 3, note: 'n' }, { a: '1', b: '2' })).status, 201)
  const { status, body } = await applyLabelled('v2', { replicas: 3 }, { a: '1' })
  t.equal(status, 200)
  t.strictSame(metadataOf(body).labels, { a: '1' })
  t.match(body.spec, { replicas: 3 })
  t.notOk('note' in (body.spec as JsonObject), 'a field that is no longer applied is removed')
  t.strictSame(managersOf({ status, body } as RawAnswer), ['m1 Apply v2: f:replicas'])
})

t.test('an object is read in each version', async (t) => {
  t.match(await create('v2', 'shown', { replicas: 3, color: 'blue' }), { status: 201, body: { spec: { replicas: 3, color: 'blue' } } })
  t.match((await api('GET', pathOf('v1', 'shown'))).body, {
    apiVersion: `${group}/v1`,
    metadata: { annotations: { 'example.com/color': 'blue' }, generation: 1 },
    spec: { size: 3 },
  })
  const shown = (await api('GET', pathOf('v2', 'shown'))).body
  t.match(shown, { apiVersion: `${group}/v2`, metadata: { name: 'shown' }, spec: { replicas: 3, color: 'blue' } })
  t.notOk(metadataOf(shown).annotations)
  await create('v1', 'plain', { size: 2 })
  t.strictSame(await specOf('v2', 'plain'), { replicas: 2 }, 'a converted object is not defaulted')
  t.match((await api('POST', `${pathOf('v2')}?dryRun=All`, { body: thing('v2', 'dry', { replicas: 1 }) })).body, {
    spec: { replicas: 1, color: 'red' },
  })
})

t.test('the webhook receives a ConversionReview', async (t) => {
  await create('v1', 'asked', { size: 2 })
  server.take()
  await api('GET', pathOf('v2', 'asked'))
  const call = server.take().find(({ objects }) => metadataOf(objects[0]!).name === 'asked')!
  t.match(call, { path: 'convert', query: 'timeout=30s', desiredAPIVersion: `${group}/v2` })
  const { request: _request, ...envelope } = call.review
  const response = { uid: '', convertedObjects: null, result: { metadata: {} } }
  t.strictSame(
    envelope,
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response },
    'the response is encoded even when it is empty',
  )
  t.strictSame(Object.keys(call.review.request as JsonObject).toSorted(), ['desiredAPIVersion', 'objects', 'uid'])
  t.match(call.uid, /^[0-9a-f]{8}-/)
  t.equal(call.objects.length, 1)
  t.match(call.objects[0], { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'asked', generation: 1 }, spec: { size: 2 } })
})

t.test('an object is validated in the version of the request only', async (t) => {
  server.take()
  t.match((await create('v2', 'refused', { replicas: 101 })).body, { code: 422, reason: 'Invalid' })
  t.match((await api('POST', `${pathOf('v2')}?fieldValidation=Strict`, { body: thing('v2', 'refused', { size: 1 }) })).body, { code: 400 })
  t.notOk(
    server.take().find(({ objects }) => metadataOf(objects[0]!).name === 'refused'),
    'a refused object is not converted',
  )
  t.equal((await create('v2', 'zero', { replicas: 0 })).status, 201)
  t.strictSame(await specOf('v1', 'zero'), { size: 0 })
  const patched = await patch(pathOf('v1', 'zero'), { spec: { note: 'x' } })
  t.match(
    patched,
    { status: 200, body: { metadata: { annotations: red }, spec: { note: 'x', size: 0 } } },
    'the unchanged value is accepted',
  )
})

t.test('an object is updated through either version', async (t) => {
  await create('v2', 'changed', { replicas: 3, color: 'blue' })
  const inV2 = pathOf('v2', 'changed')
  const steps: [string, () => Promise<RawAnswer>, JsonObject, JsonObject][] = [
    ['a merge patch in v2', () => patch(inV2, { spec: { note: 'x' } }), { replicas: 3, color: 'blue', note: 'x' }, { size: 3, note: 'x' }],
    [
      'a merge patch in v1',
      () => patch(pathOf('v1', 'changed'), { spec: { size: 5 } }),
      { replicas: 5, color: 'blue', note: 'x' },
      { size: 5, note: 'x' },
    ],
    [
      'a JSON patch in v2',
      () => patch(inV2, [{ op: 'replace', path: '/spec/replicas', value: 6 }], 'application/json-patch+json'),
      { replicas: 6, color: 'blue', note: 'x' },
      { size: 6, note: 'x' },
    ],
    [
      'a scale in v2',
      () => patch(`${inV2}/scale`, { spec: { replicas: 7 } }),
      { replicas: 7, color: 'blue', note: 'x' },
      { size: 7, note: 'x' },
    ],
    [
      'a PUT in v2',
      async () => {
        const { resourceVersion } = metadataOf((await api('GET', inV2)).body)
        return api('PUT', inV2, { body: thing('v2', 'changed', { replicas: 8 }, { resourceVersion }) })
      },
      { replicas: 8, color: 'red' },
      { size: 8 },
    ],
  ]
  for (const [what, step, v2, v1] of steps) {
    t.equal((await step()).status, 200, what)
    t.strictSame(await specOf('v2', 'changed'), v2, what)
    t.strictSame(await specOf('v1', 'changed'), v1, what)
  }
  t.match(await patch(`${inV2}/status`, { status: { phase: 'ok', replicas: 1 } }), { status: 200, body: { status: { phase: 'ok' } } })
  t.match((await api('GET', `${pathOf('v1', 'changed')}/status`)).body, { status: { phase: 'ok', replicas: 1 }, spec: { size: 8 } })
  for (const version of ['v1', 'v2'] as const)
    t.match((await api('GET', `${pathOf(version, 'changed')}/scale`)).body, {
      kind: 'Scale',
      spec: { replicas: 8 },
      status: { replicas: 1 },
    })
  const before = metadataOf((await api('GET', inV2)).body)
  const same = await patch(inV2, { spec: { replicas: 8 } })
  t.equal(metadataOf(same.body).resourceVersion, before.resourceVersion, 'an update without a change writes nothing')
  t.match(await api('DELETE', inV2), { status: 200, body: { kind: 'Status', details: { name: 'changed' } } })
  t.equal((await api('GET', pathOf('v1', 'changed'))).status, 404)
})

t.test('each manager owns fields in its own version', async (t) => {
  await create('v2', 'owned', { replicas: 3, color: 'blue' })
  t.strictSame(managersOf(await patch(pathOf('v1', 'owned'), { spec: { note: 'x' } })), [
    'conformance Update v1: f:note',
    'conformance Update v2: . f:color f:replicas',
  ])
  t.strictSame(
    managersOf(await patch(pathOf('v1', 'owned'), { spec: { size: 5 } })),
    ['conformance Update v1: f:note f:size', 'conformance Update v2: . f:color'],
    'a field that is changed in v1 is no longer owned in v2',
  )
})

t.test('server-side apply detects conflicts and removes fields across versions', async (t) => {
  const conflict = (manager: string, field: string): JsonObject => ({
    code: 409,
    message: `Apply failed with 1 conflict: conflict with "${manager}": ${field}`,
    details: { causes: [{ reason: 'FieldManagerConflict', message: `conflict with "${manager}"`, field }] },
  })
  t.equal((await apply('v2', 'applied', 'm1', { replicas: 3, color: 'blue' })).status, 201)
  t.strictSame(managersOf(await apply('v1', 'applied', 'm2', { size: 3, note: 'n' })), [
    'm1 Apply v2: f:color f:replicas',
    'm2 Apply v1: f:note f:size',
  ])
  t.match((await apply('v1', 'applied', 'm2', { size: 4, note: 'n' })).body, conflict('m1', '.spec.replicas'))
  t.strictSame(managersOf(await apply('v1', 'applied', 'm2', { size: 4, note: 'n' }, '&force=true')), [
    'm1 Apply v2: f:color',
    'm2 Apply v1: f:note f:size',
  ])
  t.match((await apply('v2', 'applied', 'm1', { replicas: 3, color: 'blue' })).body, conflict('m2', '.spec.size'))
  t.match(await apply('v2', 'applied', 'm1', { color: 'blue' }), { status: 200, body: { spec: { color: 'blue', note: 'n', replicas: 4 } } })
  const moved = await apply('v1', 'applied', 'm1', { size: 9 }, '&force=true')
  t.strictSame(managersOf(moved), ['m1 Apply v1: f:size', 'm2 Apply v1: f:note'], 'an applier has one entry for all versions')
  t.notOk(metadataOf(moved.body).annotations, 'a field that was applied in v2 and is no longer applied is removed')
})

t.test('lists and watches are converted', async (t) => {
  const labels = { set: 'list' }
  const selector = 'labelSelector=set%3Dlist'
  const since = String(listMetadataOf(await api('GET', pathOf('v1'))).resourceVersion)
  const watching = await watch(`${pathOf('v2')}?${selector}&resourceVersion=${since}`)
  await create('v1', 'first', { size: 1 }, { labels })
  await create('v2', 'second', { replicas: 2 }, { labels })
  await patch(pathOf('v1', 'first'), { spec: { size: 3 } })
  await patch(pathOf('v1', 'second'), { metadata: { labels: { set: 'other' } } })
  await api('DELETE', pathOf('v1', 'first'))
  const events = await watching.take(5)
  t.strictSame(events.map(brief), ['ADDED first', 'ADDED second', 'MODIFIED first', 'DELETED second', 'DELETED first'])
  t.strictSame(
    events.map(({ object }) => object.spec),
    [{ replicas: 1 }, { replicas: 2, color: 'red' }, { replicas: 3 }, { replicas: 2, color: 'red' }, { replicas: 3 }],
  )
  await create('v1', 'third', { size: 1 }, { labels })
  await create('v2', 'fourth', { replicas: 2, color: 'blue' }, { labels })
  const wanted = [{ replicas: 2, color: 'blue' }, { replicas: 1 }]
  const list = (await api('GET', `${pathOf('v2')}?${selector}`)).body
  t.strictSame(
    (list.items as JsonObject[]).map(({ spec }) => spec),
    wanted,
  )
  const page = (await api('GET', `${pathOf('v2')}?${selector}&limit=1`)).body
  const next = String((page.metadata as JsonObject).continue)
  const rest = (await api('GET', `${pathOf('v2')}?${selector}&limit=1&continue=${next}`)).body
  t.strictSame(
    [...(page.items as JsonObject[]), ...(rest.items as JsonObject[])].map(({ spec }) => spec),
    wanted,
  )
  const initial = await watch(`${pathOf('v2')}?${selector}`)
  t.strictSame(
    (await initial.take(2)).map(({ object }) => object.spec),
    wanted,
  )
  const deleted = await api('DELETE', `${pathOf('v2')}?${selector}`)
  t.strictSame(
    (deleted.body.items as JsonObject[]).map(({ spec }) => spec),
    wanted,
  )
})

t.test('admission webhooks receive and patch a write in the version of their rules', needsOwnControlPlane, async (t) => {
  const { server: hooks, configure } = await admissionWorld(t, api, namespace)
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['things'] }]
  const sees = (expression: string): JsonObject => ({ matchConditions: [{ name: 'a', expression }] })
  await configure(t, 'mutating', 'conversion', [webhookOf(hooks, 'mutating', rules, sees('has(object.spec.size)'))])
  hooks.answer('mutating', patchResponse({ op: 'replace', path: '/spec/size', value: 50 }))
  const created = await create('v2', 'admitted', { replicas: 3, color: 'blue' })
  t.match(created, { status: 201, body: { apiVersion: `${group}/v2`, spec: { replicas: 50, color: 'blue' } } })
  const [call] = hooks.take()
  t.match(call!.request, {
    kind: { version: 'v1' },
    requestKind: { version: 'v2' },
    object: { apiVersion: `${group}/v1`, metadata: { annotations: { 'example.com/color': 'blue' } }, spec: { size: 3 } },
  })
  t.equal(call!.request.oldObject, null)
  await patch(pathOf('v2', 'admitted'), { spec: { replicas: 4 } })
  t.match(hooks.take()[0]!.request, { object: { spec: { size: 4 } }, oldObject: { apiVersion: `${group}/v1`, spec: { size: 50 } } })
  server.answer(() => ({ result: { status: 'Failure', message: 'own words' } }))
  t.match((await create('v2', 'unadmitted', { replicas: 3 })).body, {
    code: 500,
    message: `Internal error occurred: conversion webhook for ${group}/v2, Kind=Thing failed: own words`,
  })
  server.reset()
})

t.test('a definition can be changed to webhook conversion, with a Service reference', async (t) => {
  const other = 'begun.example.com'
  await defineThings(t, api, other, { strategy: 'None' })
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${other}`
  const path = (version: Version): string => `/apis/${other}/${version}/namespaces/${namespace}/things`
  await api('POST', path('v1'), { body: { ...thing('v1', 'a', { size: 3 }), apiVersion: `${other}/v1` } })
  t.strictSame((await api('GET', `${path('v2')}/a`)).body.spec, {})
  const begun = await patch(definition, { spec: { conversion: server.conversion } })
  t.equal(begun.status, 200)
  t.strictSame(begun.warnings, [])
  await until('objects are converted', async () => {
    const { spec } = (await api('GET', `${path('v2')}/a`)).body
    return (spec as JsonObject | undefined)?.replicas === 3
  })
  const service = { name: 'convert', namespace, path: '/convert' }
  const moved = await patch(definition, { spec: { conversion: { webhook: { clientConfig: { url: null, service } } } } })
  t.match(moved.body, { spec: { conversion: { webhook: { clientConfig: { service: { ...service, port: 443 } } } } } })
  const url = `https://convert.${namespace}.svc:443/convert?timeout=30s`
  const message = `conversion webhook for ${other}/v1, Kind=Thing failed: Post "${url}": service "convert" not found`
  await until('the Service is looked for', async () => (await api('GET', `${path('v2')}/a`)).body.message === message)
})
