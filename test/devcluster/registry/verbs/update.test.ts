import t from 'tap'
import type { JsonObject } from '../../../../src/api/json.ts'
import { fixture, foo, refusal } from '../../../support/devcluster/registry.ts'
import type { Fixture } from '../../../support/devcluster/registry.ts'

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

t.test('only a change of the desired state increases the generation', async (t) => {
  const f = await fixture()
  let object = await f.create('foos', foo('a', { size: 1 }))
  object = await put(f, { ...object, spec: { size: 2 } })
  t.equal(meta(object).generation, 2)
  object = await put(f, withMeta(object, { labels: { a: 'b' } }))
  t.equal(meta(object).generation, 2)
  object = await put(f, { ...object, status: { phase: 'Up' } }, 'foos', 'status')
  t.equal(meta(object).generation, 2)
})

t.test('an update changes the spec only, and one of the status subresource the status only', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }))
  const status = await put(f, { ...withMeta(object, { labels: { x: 'y' } }), spec: { size: 9 }, status: { phase: 'Up' } }, 'foos', 'status')
  t.match(status, { spec: { size: 1 }, status: { phase: 'Up' } })
  t.equal(meta(status).labels, undefined)
  const main = await put(f, { ...status, spec: { size: 2 }, status: { phase: 'Down' } })
  t.match(main, { spec: { size: 2 }, status: { phase: 'Up' } })
})

t.test('an update without a change writes nothing', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }))
  const before = f.store.revision
  t.strictSame(await put(f, withMeta(object, { managedFields: undefined })), object)
  t.equal(f.store.revision, before)
})

t.test('a stale resourceVersion is refused with 409', async (t) => {
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

t.test('an update with another name, namespace or uid is refused', async (t) => {
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

t.test('an update keeps omitted metadata', async (t) => {
  const f = await fixture()
  const object = await f.create('configmaps', { metadata: { name: 'a' } })
  const updated = await put(f, { metadata: { name: 'a' }, data: {} }, 'configmaps')
  t.match(updated.metadata, { uid: meta(object).uid, creationTimestamp: meta(object).creationTimestamp, namespace: 'default' })
})

t.test('a concurrent write during admission is seen by the waiting one', async (t) => {
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

t.test('the scale of a Deployment is read and written through its subresource', async (t) => {
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

t.test('webhooks receive the object, the old object and the options of an update', async (t) => {
  const seen: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: ({ object, oldObject, operation, subresource, name, namespace }) => {
        if (operation === 'UPDATE') seen.push(['mutate', subresource, namespace, name, object?.spec, object?.status, oldObject?.spec])
        return Promise.resolve(object)
      },
      validate: ({ object, oldObject, operation, subresource }) => {
        if (operation === 'UPDATE') seen.push(['validate', subresource, object?.spec, object?.status, oldObject?.spec])
        return Promise.resolve()
      },
    },
  })
  const object = await f.create('foos', foo('a', { size: 1 }))
  const updated = await put(f, { ...object, spec: { size: 2 }, status: { phase: 'Up' } })
  await put(f, { ...updated, spec: { size: 3 }, status: { phase: 'Down' } }, 'foos', 'status')
  const [one, two, three] = [1, 2, 3].map((size) => ({ size, color: 'red' }))
  t.strictSame(seen, [
    ['mutate', '', 'default', 'a', two, { phase: 'Up' }, one],
    ['validate', '', two, undefined, one],
    ['mutate', 'status', 'default', 'a', three, { phase: 'Down' }, two],
    ['validate', 'status', two, { phase: 'Down' }, two],
  ])
})

t.test('an update by a mutating webhook is defaulted and pruned, and must not be stale', async (t) => {
  let change: (object: JsonObject) => JsonObject = (object) => object
  const f = await fixture({
    admission: {
      mutate: ({ object, operation }, redefault) =>
        Promise.resolve(operation === 'UPDATE' && object !== undefined ? redefault(change(object)) : object),
      validate: () => Promise.resolve(),
    },
  })
  const object = await f.create('foos', foo('a', { size: 1 }))
  change = (given) => ({ ...given, spec: { size: 7, bogus: 1 } })
  const updated = await put(f, { ...object, spec: { size: 2 } })
  t.strictSame(updated.spec, { size: 7, color: 'red' })
  change = (given) => withMeta(given, { resourceVersion: '1' })
  t.match(await refusal(() => put(f, { ...updated, spec: { size: 2 } })), { code: 409 })
})

t.test('a dry run returns the result and writes nothing', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }, { finalizers: ['x.io/a'] }))
  const before = f.store.revision
  const dry = (changed: JsonObject) => f.registry.update(f.info('foos'), key, { object: changed, duplicates: [] }, f.as({ dryRun: true }))
  t.match(await dry({ ...object, spec: { size: 2 } }), { spec: { size: 2 }, metadata: { generation: 2 } })
  t.equal(f.store.revision, before)
  t.strictSame(f.registry.get(f.info('foos'), key), object)
})

t.test('a finalizer without a domain causes one warning', async (t) => {
  let interfere = true
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ operation }) => {
        if (operation !== 'UPDATE' || !interfere) return
        interfere = false
        await f.registry.patch(f.info('foos'), key, { type: 'merge', body: { spec: { note: 'x' } }, duplicates: [] }, f.context)
      },
    },
  })
  await f.create('foos', foo('a', {}, { finalizers: ['old'] }))
  t.equal(f.warnings.length, 1)
  const body = { metadata: { finalizers: ['old', 'new'] } }
  await f.registry.patch(f.info('foos'), key, { type: 'merge', body, duplicates: [] }, f.context)
  t.strictSame(f.warnings.slice(1), [
    'metadata.finalizers: "new": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
  ])
})

t.test('an update is retried five times after concurrent writes', async (t) => {
  let overtake = 0
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ operation, object }) => {
        if (operation !== 'UPDATE' || overtake === 0 || (object?.spec as JsonObject).note === 'between') return
        const turn = overtake
        overtake = 0
        await f.registry.patch(f.info('foos'), key, { type: 'merge', body: { spec: { size: turn } }, duplicates: [] }, f.context)
        overtake = turn - 1
      },
    },
  })
  await f.create('foos', foo('a', { size: 0 }))
  const patch = () => f.registry.patch(f.info('foos'), key, { type: 'merge', body: { spec: { note: 'x' } }, duplicates: [] }, f.context)
  overtake = 5
  t.match(await refusal(patch), { code: 409, message: /^Operation cannot be fulfilled on foos.ex.com "a": the object has been modified/ })
  overtake = 4
  t.match((await patch()).object.spec, { note: 'x', size: 1 })
})

t.test('a PUT creates a missing object of types that allow it', async (t) => {
  const f = await fixture()
  const create = async (plural: string, object: JsonObject, namespaced = true) => {
    const at = namespaced ? key : { name: 'a' }
    return f.registry.put(f.info(plural), at, { object, duplicates: [] }, f.as({ fieldManager: 'me' }))
  }
  const metadata = { name: 'a' }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' }
  const created: [plural: string, object: JsonObject, namespaced?: boolean][] = [
    ['endpoints', {}],
    ['limitranges', { spec: { limits: [] } }],
    ['services', { spec: { ports: [{ port: 80 }] } }],
    ['leases', {}],
    ['clusterrolebindings', { roleRef }, false],
    ['clusterroles', {}, false],
    ['rolebindings', { roleRef }],
    ['roles', {}],
  ]
  for (const [plural, object, namespaced] of created) {
    const { created: isNew, object: made } = await create(plural, { metadata, ...object }, namespaced !== false)
    t.equal(isNew, true, plural)
    t.match(made.metadata, { name: 'a', uid: /./ }, plural)
    if (plural === 'services') t.match(made.metadata, { managedFields: [{ manager: 'me', operation: 'Update' }] })
  }
  t.match(await create('services', { metadata, spec: { ports: [{ port: 81 }] } }), {
    created: false,
    object: { spec: { ports: [{ port: 81 }] } },
  })
  for (const plural of ['configmaps', 'secrets', 'pods'])
    t.match(
      await refusal(() => create(plural, { ...(plural === 'pods' ? { spec: { containers: [] } } : {}), metadata })),
      { code: 404 },
      plural,
    )
})

t.test('a PUT of some types requires a resourceVersion', async (t) => {
  const f = await fixture()
  await f.create('validatingwebhookconfigurations', { metadata: { name: 'a' } })
  await f.create('leases', { metadata: { name: 'a' } })
  const update = (plural: string, at: { name: string; namespace?: string }) =>
    f.registry.update(f.info(plural), at, { object: { metadata: { name: 'a' } }, duplicates: [] }, f.context)
  t.match(await refusal(() => update('validatingwebhookconfigurations', { name: 'a' })), {
    code: 422,
    message:
      'validatingwebhookconfigurations.admissionregistration.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  })
  t.match(await refusal(() => update('leases', key)), {
    code: 422,
    message: /^leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion/,
  })
})

t.test('another uid is refused with the message of the storage', async (t) => {
  const f = await fixture()
  const storage = (path: string, uid: unknown): string =>
    `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ${String(uid)}`
  const object = await f.create('foos', foo('a'))
  t.match(await refusal(() => put(f, withMeta(object, { uid: 'x' }))), {
    code: 409,
    message: `Operation cannot be fulfilled on foos.ex.com "a": ${storage('ex.com/foos/default/a', meta(object).uid)}`,
  })
  const node = await f.create('nodes', { metadata: { name: 'a' } })
  t.match(
    await refusal(() =>
      f.registry.update(f.info('nodes'), { name: 'a' }, { object: withMeta(node, { uid: 'x' }), duplicates: [] }, f.context),
    ),
    { code: 409, message: `Operation cannot be fulfilled on nodes "a": ${storage('nodes/a', meta(node).uid)}` },
  )
})

t.test('a write of the status may change metadata, but not the labels of a Deployment', async (t) => {
  const f = await fixture()
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } }
  const deployment = await f.create('deployments', { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } })
  const changes = { labels: { x: 'y' }, annotations: { x: 'y' } }
  const status = await put(f, { ...withMeta(deployment, changes), status: { replicas: 1 } }, 'deployments', 'status')
  t.match(status, { metadata: { annotations: { x: 'y' } }, status: { replicas: 1 } })
  t.equal(meta(status).labels, undefined)
  const pod = await f.create('pods', { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'x' }] } })
  t.match(await put(f, { ...withMeta(pod, changes), status: { phase: 'Running' } }, 'pods', 'status'), {
    metadata: changes,
    status: { phase: 'Running' },
  })
})

t.test('a write to a subresource makes its manager the owner of the changed fields', async (t) => {
  const f = await fixture()
  const key = { name: 'default' }
  const object = { ...f.registry.get(f.info('namespaces'), key), spec: { finalizers: ['x.io/a'] } }
  const context = f.as({ fieldManager: 'finalizer' })
  const after = await f.registry.update(f.info('namespaces'), key, { object, duplicates: [] }, context, 'finalize')
  const { managedFields } = after.metadata as { managedFields: JsonObject[] }
  const { time: _time, ...entry } = managedFields.find(({ manager }) => manager === 'finalizer')!
  t.strictSame(entry, {
    manager: 'finalizer',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:finalizers': {} } },
    subresource: 'finalize',
  })
})

t.test('webhooks receive the submitted Scale and may change it', async (t) => {
  const seen: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: ({ object, oldObject, subresource, operation }) => {
        if (subresource !== 'scale') return Promise.resolve(object)
        seen.push(['mutate', operation, object!.kind, object!.spec, 'managedFields' in meta(object!), oldObject?.kind, oldObject?.spec])
        return Promise.resolve({ ...object!, spec: { replicas: 7 } })
      },
      validate: ({ object, oldObject, subresource }) => {
        if (subresource === 'scale') seen.push(['validate', object!.kind, object!.spec, oldObject?.spec])
        return Promise.resolve()
      },
    },
  })
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } }
  await f.create('deployments', { metadata: { name: 'a' }, spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template } })
  const scale = f.registry.get(f.info('deployments'), key, 'scale')
  const write = (changes: object) =>
    f.registry.update(f.info('deployments'), key, { object: { ...scale, spec: { replicas: 3 } }, duplicates: [] }, f.as(changes), 'scale')
  const before = f.store.revision
  t.match(await write({ dryRun: true }), { kind: 'Scale', spec: { replicas: 7 } })
  t.equal(f.store.revision, before)
  t.match(await write({ fieldManager: 'me' }), { kind: 'Scale', spec: { replicas: 7 } })
  const once = [
    ['mutate', 'UPDATE', 'Scale', { replicas: 3 }, false, 'Scale', { replicas: 1 }],
    ['validate', 'Scale', { replicas: 7 }, { replicas: 1 }],
  ]
  t.strictSame(seen, [...once, ...once])
  const deployment = f.registry.get(f.info('deployments'), key)
  t.match(deployment, { spec: { replicas: 7 }, metadata: { generation: 2 } })
  t.match(
    (meta(deployment).managedFields as JsonObject[]).filter(({ subresource }) => subresource === 'scale'),
    [{ manager: 'me', operation: 'Update', apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }],
  )
  t.match(await refusal(() => write({})), { code: 409 }, 'a Scale has the optimistic lock of its object')
  t.match(
    await refusal(() =>
      f.registry.update(f.info('deployments'), key, { object: { ...scale, metadata: { name: 'b' } }, duplicates: [] }, f.context, 'scale'),
    ),
    { code: 400, message: 'the name of the object (b) does not match the name on the URL (a)' },
  )
})

t.test('an object is removed with its last finalizer', async (t) => {
  const f = await fixture()
  const object = await f.create('foos', foo('a', { size: 1 }, { finalizers: ['x.io/a'] }))
  await f.registry.delete(f.info('foos'), key, {}, f.context)
  const marked = f.registry.get(f.info('foos'), key)
  const without = withMeta(marked, { finalizers: undefined })
  const dry = await f.registry.update(f.info('foos'), key, { object: without, duplicates: [] }, f.as({ dryRun: true }))
  t.equal(meta(dry).finalizers, undefined)
  t.ok(f.registry.get(f.info('foos'), key), 'a dry run does not remove it')
  const last = await put(f, { ...without, spec: { size: 2 } })
  t.match(last, { spec: { size: 2 }, metadata: { uid: meta(object).uid } })
  t.match(await refusal(() => f.registry.get(f.info('foos'), key)), { code: 404 })
  const plain = await f.create('foos', foo('a'))
  t.match(await put(f, withMeta(plain, { finalizers: [] })), { kind: 'Foo' })
  t.ok(f.registry.get(f.info('foos'), key), 'an object without deletionTimestamp stays')
})
