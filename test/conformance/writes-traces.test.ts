/** Tests of the metadata after writes: resourceVersion, generation, managedFields, finalizers. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { applyPatch, mergePatch, metadataOf, serveFoos } from '../support/conformance/objects.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-writes-traces'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const foos = await serveFoos(t, api, namespace)
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}
const patch = (path: string, body: unknown, contentType = mergePatch): Promise<RawAnswer> => api('PATCH', path, { body, contentType })

t.test('an update of a custom resource requires a resourceVersion', async (t) => {
  await created(foos.path, foos.bodyOf({ name: 'unlocked' }))
  for (const [path, metadata] of [
    ['', {}],
    ['', { resourceVersion: '0' }],
    ['/status', {}],
  ] as const) {
    t.match(await api('PUT', `${foos.path}/unlocked${path}`, { body: foos.bodyOf({ name: 'unlocked', ...metadata }) }), {
      status: 422,
      body: {
        message: `foos.${foos.group} "unlocked" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
        details: {
          name: 'unlocked',
          group: foos.group,
          kind: 'foos',
          causes: [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid' }],
        },
      },
    })
  }
  await created(configMaps, { metadata: { name: 'unlocked' } })
  t.match(await api('PUT', `${configMaps}/unlocked`, { body: { metadata: { name: 'unlocked' }, data: { a: 'b' } } }), { status: 200 })
})

t.test('a PUT creates a missing Lease or Service, but not a ConfigMap', async (t) => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const put = (path: string, body: JsonObject): Promise<RawAnswer> => api('PUT', path, { body })
  t.match(await put(`${leases}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } }), {
    status: 201,
    body: { kind: 'Lease', metadata: { uid: /./ } },
  })
  t.match(await put(`${leases}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: 'b' } }), {
    status: 422,
    body: { message: /must be specified for an update$/ },
  })
  t.match(await put(`/api/v1/namespaces/${namespace}/services/s`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), {
    status: 201,
  })
  t.match(await put(`${configMaps}/none`, { metadata: { name: 'none' } }), { status: 404 })
})

t.test('the generation increases with changes of the spec, not of metadata and status', async (t) => {
  const path = `${foos.path}/counted`
  const generation = async (answer: Promise<RawAnswer>): Promise<unknown> => metadataOf((await answer).body).generation
  t.equal(
    metadataOf(await created(foos.path, foos.bodyOf({ name: 'counted', generation: 7 }, { spec: { size: 1 }, status: { observed: 1 } })))
      .generation,
    1,
  )
  t.notOk('status' in (await api('GET', path)).body, 'a status is not created with the object')
  t.equal(await generation(patch(path, { metadata: { labels: { a: 'b' } } })), 1)
  t.equal(await generation(patch(path, { spec: { size: 2 } })), 2)
  t.equal(await generation(patch(path, { spec: { size: 2 } })), 2)
  const throughStatus = await patch(`${path}/status`, {
    status: { observed: 5 },
    spec: { size: 9 },
    metadata: { labels: { via: 'status' } },
  })
  t.match(throughStatus.body, { metadata: { generation: 2, labels: { a: 'b' } }, spec: { size: 2 }, status: { observed: 5 } })
  t.notOk('via' in (metadataOf(throughStatus.body).labels as JsonObject))
  const throughObject = await patch(path, { status: { observed: 7 } })
  t.match(throughObject.body, { metadata: { generation: 2 }, status: { observed: 5 } })
})

t.test('annotations of a Deployment increase its generation, but not when they are written with the status', async (t) => {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const labels = { app: 'counted' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } }
  await created(path, { metadata: { name: 'counted' }, spec: { selector: { matchLabels: labels }, template } })
  const annotated = await patch(`${path}/counted`, { metadata: { annotations: { a: 'b' } } })
  t.match(annotated.body, { metadata: { generation: 2, annotations: { a: 'b' } } })
  const metadata = { annotations: { c: 'd' }, labels: { not: 'written' } }
  const throughStatus = await patch(`${path}/counted/status`, { metadata, status: { observedGeneration: 2 } })
  t.match(throughStatus.body, { metadata: { generation: 2, annotations: { a: 'b', c: 'd' } }, status: { observedGeneration: 2 } })
  t.notOk('labels' in metadataOf(throughStatus.body))
})

t.test('managedFields contain manager, operation, subresource and time of each write', async (t) => {
  const path = `${foos.path}/managed`
  const managers = ({ body }: RawAnswer): unknown =>
    (metadataOf(body).managedFields as JsonObject[])
      .map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`.trim())
      .sort()
  const post = await api('POST', `${foos.path}?fieldManager=one`, { body: foos.bodyOf({ name: 'managed' }, { spec: { size: 1 } }) })
  t.match(metadataOf(post.body).managedFields, [
    {
      manager: 'one',
      operation: 'Update',
      apiVersion: `${foos.group}/v1`,
      time: /Z$/,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    },
  ])
  await patch(`${path}?fieldManager=two`, { spec: { color: 'red' } })
  await patch(`${path}/status?fieldManager=three`, { status: { observed: 1 } })
  const last = await api('PATCH', `${path}?fieldManager=four&force=true`, {
    body: foos.bodyOf({ name: 'managed' }, { spec: { size: 4 } }),
    contentType: applyPatch,
  })
  t.strictSame(managers(last), ['four Apply', 'one Update', 'three Update status', 'two Update'])
  await patch(path, { metadata: { managedFields: [{}] } })
  t.notOk('managedFields' in metadataOf((await api('GET', path)).body), 'an update with empty managedFields removes them')
  await patch(`${path}?fieldManager=two`, { spec: { color: 'blue' } })
  t.notOk('managedFields' in metadataOf((await api('GET', path)).body), 'later updates do not add them')
})

t.test('a finalizer without a domain is refused for built-in types and causes a warning for custom resources', async (t) => {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified'
  t.match(await api('POST', configMaps, { body: { metadata: { name: 'f', finalizers: ['mine'] } } }), {
    status: 422,
    body: { message: `ConfigMap "f" is invalid: metadata.finalizers[0]: Invalid value: "mine": ${detail}` },
  })
  const advice = (name: string, path = ''): string =>
    `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
  const post = await api('POST', foos.path, { body: foos.bodyOf({ name: 'f', finalizers: ['mine', 'example.com', 'example.com/x'] }) })
  t.strictSame([...post.warnings].sort(), [advice('example.com', ' including a path (/)'), advice('mine')])
  const more = await patch(`${foos.path}/f`, { metadata: { finalizers: ['mine', 'yours'] } })
  t.strictSame(more.warnings, [advice('yours')], 'only new finalizers cause a warning')
  await patch(`${foos.path}/f`, { metadata: { finalizers: null } })
})
