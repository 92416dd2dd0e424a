import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fixture, foo, refusal } from '../../support/devcluster-registry.ts'
import type { Fixture } from '../../support/devcluster-registry.ts'

const key = { namespace: 'default', name: 'a' }

function put(f: Fixture, object: JsonObject, plural = 'foos', subresource = ''): Promise<JsonObject> {
  return f.registry.update(f.info(plural), key, { object, duplicates: [] }, f.context, subresource)
}

function withMeta(object: JsonObject, changes: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...changes } }
}

function meta(object: JsonObject): JsonObject {
  return object.metadata as JsonObject
}

t.test('counts the generation of the desired state alone', async (t) => {
  const f = await fixture()
  let object = await f.create('foos', foo('a', { size: 1 }))
  object = await put(f, { ...object, spec: { size: 2 } })
  t.equal(meta(object).generation, 2)
  object = await put(f, withMeta(object, { labels: { a: 'b' } }))
  t.equal(meta(object).generation, 2)
  object = await put(f, { ...object, status: { phase: 'Up' } }, 'foos', 'status')
  t.equal(meta(object).generation, 2)
})

t.test('keeps spec and status apart', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }))
  const status = await put(f, { ...withMeta(object, { labels: { x: 'y' } }), spec: { size: 9 }, status: { phase: 'Up' } }, 'foos', 'status')
  t.match(status, { spec: { size: 1 }, status: { phase: 'Up' } })
  t.equal(meta(status).labels, undefined)
  const main = await put(f, { ...status, spec: { size: 2 }, status: { phase: 'Down' } })
  t.match(main, { spec: { size: 2 }, status: { phase: 'Up' } })
})

t.test('writes nothing when nothing changed', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }))
  const before = f.store.revision
  t.strictSame(await put(f, withMeta(object, { managedFields: undefined })), object)
  t.equal(f.store.revision, before)
})

t.test('locks optimistically', async (t) => {
  const f = await fixture()
  const first = await f.create('configmaps', { metadata: { name: 'a' } })
  await put(f, { ...first, data: { x: '1' } }, 'configmaps')
  t.match(await refusal(() => put(f, { ...first, data: { x: '2' } }, 'configmaps')), {
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  })
  t.match(
    await put(f, { metadata: { name: 'a' }, data: { x: '3' } }, 'configmaps'),
    { data: { x: '3' } },
    'without a resourceVersion the last writer wins',
  )
  await f.create('foos', foo('a'))
  t.match(await refusal(() => put(f, foo('a', { size: 1 }))), {
    code: 422,
    message: 'foos.ex.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  })
})

t.test('refuses what an update may not do', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a'))
  t.match(await refusal(() => put(f, withMeta(object, { name: 'zz' }))), {
    code: 400,
    message: 'the name of the object (zz) does not match the name on the URL (a)',
  })
  t.match(await refusal(() => put(f, withMeta(object, { name: undefined }))), { code: 400, message: /name must be provided/ })
  t.match(await refusal(() => put(f, withMeta(object, { namespace: 'b' }))), { code: 400 })
  t.match(await refusal(() => put(f, withMeta(object, { uid: 'x' }))), {
    code: 409,
    message: /Precondition failed: UID in precondition: x/,
  })
  t.match(await refusal(() => put(f, withMeta(object, { deletionTimestamp: '2020-01-01T00:00:00Z' }))), {
    code: 422,
    message: 'Foo.ex.com "a" is invalid: metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
  })
  t.match(
    await refusal(() =>
      f.registry.update(f.info('foos'), { namespace: 'default', name: 'b' }, { object: foo('b'), duplicates: [] }, f.context),
    ),
    { code: 404 },
  )
  t.match(await refusal(() => put(f, object, 'foos', 'scale')), { code: 404, message: 'the server could not find the requested resource' })
})

t.test('fills in metadata that the writer leaves out', async (t) => {
  const f = await fixture()
  const object = await f.create('configmaps', { metadata: { name: 'a' } })
  const updated = await put(f, { metadata: { name: 'a' }, data: {} }, 'configmaps')
  t.match(updated.metadata, { uid: meta(object).uid, creationTimestamp: meta(object).creationTimestamp, namespace: 'default' })
})

t.test('a write that comes between is seen by the one that waited for admission', async (t) => {
  let interfere: (() => Promise<unknown>) | undefined
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async () => {
        const write = interfere
        interfere = undefined
        await write?.()
      },
    },
  })
  const object = await f.create('foos', foo('a', { size: 1 }))
  const patch = (body: JsonObject) => f.registry.patch(f.info('foos'), key, { type: 'merge', body, duplicates: [] }, f.context)
  interfere = () => patch({ spec: { note: 'between' } })
  t.match((await patch({ spec: { size: 2 } })).object.spec, { size: 2, note: 'between' }, 'a patch is applied again')
  interfere = () => patch({ spec: { note: 'again' } })
  const latest = f.registry.get(f.info('foos'), key)
  t.match(await refusal(() => put(f, { ...latest, spec: { size: 3 } })), { code: 409 }, 'a PUT is refused')
  t.not(meta(object).resourceVersion, meta(f.registry.get(f.info('foos'), key)).resourceVersion)
})

t.test('the scale of a Deployment is read and written on its own', async (t) => {
  const f = await fixture()
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } }
  await f.create('deployments', { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } })
  const scale = f.registry.get(f.info('deployments'), key, 'scale')
  t.match(scale, { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 }, status: { replicas: 0, selector: 'a=b' } })
  t.match(await put(f, { ...scale, spec: { replicas: 3 } }, 'deployments', 'scale'), { kind: 'Scale', spec: { replicas: 3 } })
  const patched = await f.registry.patch(
    f.info('deployments'),
    key,
    { type: 'merge', body: { spec: { replicas: 4 } }, duplicates: [] },
    f.context,
    'scale',
  )
  t.match(patched.object, { kind: 'Scale', spec: { replicas: 4 } })
  t.match(f.registry.get(f.info('deployments'), key), { kind: 'Deployment', spec: { replicas: 4 }, metadata: { generation: 3 } })
})
