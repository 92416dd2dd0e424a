import t from 'tap'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import type { Patch } from '../../../../src/devcluster/registry/verbs/patch.ts'
import type { Fixture } from '../../../support/devcluster/registry.ts'
import { fixture, foo, pod, refusal } from '../../../support/devcluster/registry.ts'

const key = { namespace: 'default', name: 'a' }

async function patch(f: Fixture, type: Patch['type'], body: JsonValue, plural = 'foos', extra: Partial<Patch> = {}, changes = {}) {
  const { object } = await f.registry.patch(f.info(plural), key, { type, body, duplicates: [], ...extra }, f.as(changes))
  return object
}

t.test('JSON, merge and strategic merge patches are applied', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', { size: 1 }))
  await f.create('pods', pod('a'))
  t.match(await patch(f, 'json', [{ op: 'replace', path: '/spec/size', value: 2 }]), { spec: { size: 2 }, metadata: { generation: 2 } })
  t.match(await patch(f, 'merge', { spec: { size: null, note: 'n' } }), { spec: { note: 'n' } })
  t.match(await patch(f, 'strategic', { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } }, 'pods'), {
    spec: { containers: [{ name: 'main', image: 'nginx:2', imagePullPolicy: 'Always' }] },
  })
})

t.test('an invalid patch is refused with the message of kube-apiserver', async (t) => {
  const f = await fixture()
  const created = await f.create('foos', foo('a', { size: 1 }))
  await f.create('pods', pod('a'))
  t.match(await refusal(() => patch(f, 'strategic', {})), {
    code: 415,
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  })
  t.match(await refusal(() => patch(f, 'json', [{ op: 'test', path: '/spec/size', value: 2 }])), {
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { uid: '123' } })), {
    code: 422,
    message: 'Foo.ex.com "a" is invalid: metadata.uid: Invalid value: "123": field is immutable',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { name: 'b' } })), {
    code: 400,
    message: 'the name of the object (b) does not match the name on the URL (a)',
  })
  t.match(await refusal(() => patch(f, 'merge', { spec: { size: 'x' } })), {
    code: 422,
    message: /spec.size in body must be of type integer/,
  })
  t.match(await refusal(() => patch(f, 'merge', { spec: { containers: 'x' } }, 'pods')), {
    code: 422,
    message:
      /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type \[\]v1.Container$/,
  })
  t.match(await refusal(() => patch(f, 'merge', {}, 'foos', { force: true })), {
    code: 422,
    message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { resourceVersion: '1' } })), { code: 409 })
  const strict = await refusal(() => patch(f, 'merge', { spec: { foo: 1 } }, 'foos', {}, { fieldValidation: 'Strict' }))
  t.match(strict, { code: 422, message: /strict decoding error: unknown field "spec.foo"$/ })
  t.strictSame(f.registry.get(f.info('foos'), key), created, 'the object is unchanged')
})

t.test('a patch with the current resourceVersion is accepted', async (t) => {
  const f = await fixture()
  const { metadata } = await f.create('foos', foo('a', { size: 1 }))
  const { resourceVersion } = metadata as { resourceVersion: string }
  t.match(await patch(f, 'merge', { metadata: { resourceVersion }, spec: { size: 2 } }), { spec: { size: 2 } })
})

t.test('a patch may not change the name or the namespace', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', { size: 1 }))
  await f.create('pods', pod('a'))
  const problem = async (type: Patch['type'], body: JsonValue, plural = 'foos'): Promise<string> => {
    const { code, message } = await refusal(() => f.registry.patch(f.info(plural), key, { type, body, duplicates: [] }, f.context))
    return `${code} ${message}`
  }
  t.match(await problem('json', [{ op: 'bogus', path: '/x' }]), /^\d{3} /)
  t.equal(
    await problem('merge', { metadata: { namespace: 'other' } }),
    '400 the namespace of the provided object does not match the namespace sent on the request',
  )
  t.equal(
    await problem('strategic', { metadata: { namespace: 'other' } }, 'pods'),
    '400 the namespace of the provided object does not match the namespace sent on the request',
  )
  t.equal(
    await problem('strategic', { metadata: { name: 'b' } }, 'pods'),
    '400 the name of the object (b) does not match the name on the URL (a)',
  )
  t.match(await problem('strategic', { spec: { containers: [{ image: 'x' }] } }, 'pods'), /^\d{3} .*name/)
  t.match(
    await refusal(() => f.registry.patch(f.info('foos'), { ...key, name: 'none' }, { type: 'merge', body: {}, duplicates: [] }, f.context)),
    { code: 404 },
  )
})

t.test('a patch of the status may not change the name or the namespace', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a'))
  await f.create('pods', pod('a'))
  const problem = async (plural: string, type: Patch['type'], body: JsonValue): Promise<string> => {
    const patching = () => f.registry.patch(f.info(plural), key, { type, body, duplicates: [] }, f.context, 'status')
    const { code, message } = await refusal(patching)
    return `${code} ${message}`
  }
  const otherName = '400 the name of the object (b) does not match the name on the URL (a)'
  const otherNamespace = '400 the namespace of the provided object does not match the namespace sent on the request'
  for (const plural of ['foos', 'pods']) {
    t.equal(await problem(plural, 'json', [{ op: 'replace', path: '/metadata/name', value: 'b' }]), otherName, plural)
    t.equal(await problem(plural, 'json', [{ op: 'replace', path: '/metadata/namespace', value: 'other' }]), otherNamespace, plural)
    t.equal(await problem(plural, 'merge', { metadata: { name: 'b' } }), otherName, plural)
    t.equal(await problem(plural, 'merge', { metadata: { namespace: 'other' } }), otherNamespace, plural)
  }
  t.equal(await problem('pods', 'strategic', { metadata: { name: 'b' } }), otherName)
  t.equal(await problem('pods', 'strategic', { metadata: { namespace: 'other' } }), otherNamespace)
})

t.test('an unknown field in a JSON patch operation is reported with its path', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', { size: 1 }))
  const body = [
    { op: 'test', path: '/spec/size', value: 1, from: '/x' },
    { op: 'replace', path: '/spec/size', value: 2, valeu: 3, other: 1 },
  ]
  t.match(await patch(f, 'json', body, 'foos', { duplicates: ['[1].op'] }), { spec: { size: 2 } })
  t.strictSame(f.warnings, [
    'json patch unknown field "[1].valeu"',
    'json patch unknown field "[1].other"',
    'json patch duplicate field "[1].op"',
  ])
})

t.test('a warning is sent once, even when a patch is retried', async (t) => {
  let interfere = 2
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ operation }) => {
        if (operation !== 'UPDATE' || interfere === 0) return
        interfere -= 1
        await patch(f, 'merge', { spec: { note: `n${interfere}` } })
      },
    },
  })
  await f.create('foos', foo('a', { size: 1 }))
  t.match(await patch(f, 'merge', { spec: { bogus: 1, size: 2 } }), { spec: { size: 2 } })
  t.strictSame(f.warnings, ['unknown field "spec.bogus"'])
})

const applied = (metadata: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'ex.com/v1',
  kind: 'Foo',
  metadata: { name: 'a', ...metadata },
  ...more,
})

t.test('an apply patch must have the type of the URL and its name', async (t) => {
  const f = await fixture()
  const apply = (body: JsonValue, plural = 'foos', changes: object = { fieldManager: 'me' }, name = 'a') =>
    f.registry.patch(f.info(plural), { namespace: 'default', name }, { type: 'apply', body, duplicates: [] }, f.as(changes))
  const problem = async (...given: Parameters<typeof apply>): Promise<string> => {
    const { code, message } = await refusal(() => apply(...given))
    return `${code} ${message}`
  }
  t.equal(
    await problem(applied(), 'foos', {}),
    '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  )
  t.equal(await problem([]), '400 error decoding YAML: an apply patch must be an object')
  t.equal(
    await problem({ ...applied(), apiVersion: 'v1' }),
    '400 Incorrect version specified in apply patch. Specified patch version: v1, expected: ex.com/v1',
  )
  t.equal(
    await problem({ ...applied(), kind: 'Bar' }),
    '400 Incorrect kind specified in apply patch. Specified patch kind: Bar, expected: Foo',
  )
  t.equal(await problem({ apiVersion: 'v1', metadata: {} }, 'configmaps'), '400 invalid object type: /v1, Kind=')
  t.equal(await problem({ apiVersion: 'apps/v1', kind: 'ConfigMap' }, 'configmaps'), '400 invalid object type: apps/v1, Kind=ConfigMap')
  t.equal(await problem(applied({ managedFields: [] })), '400 metadata.managedFields must be nil')
  t.equal(await problem(applied({ name: 'b' })), '400 the name of the object (b) does not match the name on the URL (a)')
  t.equal(
    await problem(applied({ namespace: 'other' })),
    '400 the namespace of the provided object does not match the namespace sent on the request',
  )
  t.equal(
    await problem(applied({ name: undefined })),
    '400 the name of the object (a based on URL) was undeterminable: name must be provided',
  )
  t.equal(
    await problem(applied({ uid: 'x' })),
    '409 Operation cannot be fulfilled on foos.ex.com "a": uid mismatch: the provided object specified uid x, and no existing object was found',
  )
  t.match(
    await refusal(() =>
      f.registry.patch(f.info('foos'), key, { type: 'apply', body: applied(), duplicates: [] }, f.as({ fieldManager: 'me' }), 'status'),
    ),
    {
      code: 404,
      message: 'foos.ex.com "a" not found',
    },
  )
  t.match(await apply(applied({ namespace: 'default', managedFields: null })), {
    created: true,
    object: { metadata: { namespace: 'default' } },
  })
  t.match(await apply(applied({ name: undefined }, { spec: { size: 2 } })), { created: false, object: { spec: { size: 2 } } })
  t.equal(await problem(applied({ name: 'b' })), '400 the name of the object (b) does not match the name on the URL (a)')
})

t.test('the namespace in an apply patch of a cluster-scoped type is ignored', async (t) => {
  const f = await fixture()
  const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a', namespace: 'other' }, rules: [] }
  const context = f.as({ fieldManager: 'me' })
  const { created, object } = await f.registry.patch(
    f.info('clusterroles'),
    { name: 'a' },
    { type: 'apply', body, duplicates: [] },
    context,
  )
  t.equal(created, true)
  t.match(object, { kind: 'ClusterRole', metadata: { name: 'a', namespace: undefined } })
})

t.test('duplicate keys in an apply patch are refused for existing and missing objects', async (t) => {
  const f = await fixture()
  const duplicates = ['line 2: key "a" already set in map']
  const apply = (changes: object) => patch(f, 'apply', applied(), 'foos', { duplicates }, { fieldManager: 'me', ...changes })
  const strict = {
    code: 400,
    message: `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${duplicates[0]}`,
  }
  t.match(await refusal(() => apply({ fieldValidation: 'Strict' })), strict)
  await apply({})
  t.strictSame(f.warnings.splice(0), duplicates)
  t.match(await refusal(() => apply({ fieldValidation: 'Strict' })), strict)
  await apply({})
  t.strictSame(f.warnings.splice(0), duplicates)
  await f.create('deployments', {
    metadata: { name: 'a' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
    },
  })
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 1 } }
  const applyScale = (changes: object, more: Partial<Patch> = {}) =>
    f.registry.patch(
      f.info('deployments'),
      key,
      { type: 'apply', body: scale, duplicates, ...more },
      f.as({ fieldManager: 'me', ...changes }),
      'scale',
    )
  t.match(await refusal(() => applyScale({ fieldValidation: 'Strict' }, { force: true })), strict)
  t.match(await applyScale({}, { force: true }), { created: false, object: { kind: 'Scale', spec: { replicas: 1 } } })
  t.match(await refusal(() => applyScale({}, { body: { ...scale, metadata: { name: 'a', uid: 'x' } } })), {
    code: 409,
    message:
      /^Operation cannot be fulfilled on deployments.apps\/scale "a": |Precondition failed: UID in precondition: x, UID in object meta: /,
  })
})
