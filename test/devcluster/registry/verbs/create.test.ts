import t from 'tap'
import type { JsonObject } from '../../../../src/api/json.ts'
import { fixture, foo, manualClock, refusal } from '../../../support/devcluster/registry.ts'

t.test('a new object gets the metadata of the server', async (t) => {
  const f = await fixture({ clock: manualClock() })
  const created = await f.create('foos', {
    ...foo('a', { size: 1 }, { generation: 7, deletionTimestamp: '2020-01-01T00:00:00Z' }),
    status: { phase: 'Up' },
  })
  t.match(created.metadata, {
    name: 'a',
    namespace: 'default',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    uid: /^[0-9a-f-]{36}$/,
  })
  t.equal((created.metadata as JsonObject).deletionTimestamp, undefined)
  t.equal(created.status, undefined, 'a create without the status subresource ignores the status')
  t.strictSame(f.registry.get(f.info('foos'), { namespace: 'default', name: 'a' }), created)
  t.strictSame((created.metadata as JsonObject).managedFields, [
    {
      manager: 'curl',
      operation: 'Update',
      apiVersion: 'ex.com/v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} } },
    },
  ])
})

t.test('an invalid create is refused with the message of kube-apiserver', async (t) => {
  const f = await fixture()
  await f.create('configmaps', { metadata: { name: 'a' } })
  const cases: readonly (readonly [string, JsonObject, object])[] = [
    [
      'configmaps',
      { metadata: { name: 'a' } },
      { code: 409, reason: 'AlreadyExists', message: 'configmaps "a" already exists', details: { name: 'a', kind: 'configmaps' } },
    ],
    [
      'configmaps',
      { metadata: { name: 'A_B' } },
      {
        code: 422,
        message: /^ConfigMap "A_B" is invalid: metadata.name: Invalid value: "A_B": a lowercase RFC 1123 subdomain/,
        details: { kind: 'ConfigMap' },
      },
    ],
    [
      'configmaps',
      { metadata: {} },
      { code: 422, message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required' },
    ],
    [
      'configmaps',
      { metadata: { name: 'x', resourceVersion: '5' } },
      { code: 500, message: 'resourceVersion should not be set on objects to be created' },
    ],
    [
      'configmaps',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
      { code: 400, message: /^Secret in version "v1" cannot be handled as a ConfigMap: / },
    ],
    [
      'configmaps',
      { metadata: { name: 'x', namespace: 'nope' } },
      { code: 404, message: 'namespaces "nope" not found', details: { name: 'nope', kind: 'namespaces' } },
    ],
    [
      'configmaps',
      { metadata: { name: 'x', labels: { a: 1 } } },
      {
        code: 400,
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
      },
    ],
    ['foos', { metadata: { name: 'x' } }, { code: 400, message: /^Object 'Kind' is missing in/ }],
    ['foos', { kind: 'Foo', metadata: { name: 'x' } }, { code: 400, message: /^the API version in the data \(\) does not match/ }],
    [
      'foos',
      { apiVersion: 'ex.com/v2', kind: 'Foo', metadata: { name: 'x' } },
      { code: 400, message: 'the API version in the data (ex.com/v2) does not match the expected API version (ex.com/v1)' },
    ],
    [
      'foos',
      { apiVersion: 'ex.com/v1', kind: 'Bar', metadata: { name: 'x' } },
      { code: 422, message: 'Bar.ex.com "x" is invalid: kind: Invalid value: "Bar": must be Foo' },
    ],
    [
      'foos',
      foo('bad', { size: 'x' }),
      {
        code: 422,
        message: /^Foo.ex.com "bad" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"$/,
      },
    ],
  ]
  for (const [plural, object, expected] of cases) t.match(await refusal(() => f.create(plural, object)), expected, JSON.stringify(object))
  const other = () =>
    f.registry.create(f.info('configmaps'), 'default', { object: { metadata: { name: 'x', namespace: 'b' } }, duplicates: [] }, f.context)
  t.match(await refusal(other), {
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  })
})

t.test('unknown and duplicate fields are reported according to fieldValidation', async (t) => {
  const f = await fixture()
  const post = (name: string, fieldValidation: 'Ignore' | 'Warn' | 'Strict') =>
    f.registry.create(
      f.info('foos'),
      'default',
      { object: foo(name, { size: 1, foo: 1 }), duplicates: ['spec.size'] },
      f.as({ fieldValidation }),
    )
  await post('a', 'Ignore')
  t.strictSame(f.warnings, [])
  t.strictSame((await post('b', 'Warn')).spec, { size: 1, color: 'red' }, 'the unknown field is dropped')
  t.strictSame(f.warnings, ['duplicate field "spec.size"', 'unknown field "spec.foo"'])
  t.match(await refusal(() => post('c', 'Strict')), {
    code: 400,
    message: 'Foo in version "v1" cannot be handled as a Foo: strict decoding error: duplicate field "spec.size", unknown field "spec.foo"',
  })
})

t.test('generateName creates another name when the first is in use', async (t) => {
  const suffixes = ['bbbbb', 'bbbbb', 'ccccc']
  const f = await fixture({ randomSuffix: () => suffixes.shift() ?? 'zzzzz' })
  const names = []
  for (let index = 0; index < 2; index += 1) {
    const created = await f.create('configmaps', { metadata: { generateName: 'x-' } })
    names.push((created.metadata as JsonObject).name)
  }
  t.strictSame(names, ['x-bbbbb', 'x-ccccc'])
  t.match(await f.create('configmaps', { metadata: { name: 'own', generateName: 'x-' } }), {
    metadata: { name: /^own$/, generateName: 'x-' },
  })
  const long = await f.create('configmaps', { metadata: { generateName: 'l'.repeat(70) } })
  t.equal((long.metadata as { name: string }).name.length, 63)
  const real = await fixture()
  t.match(
    ((await real.create('configmaps', { metadata: { generateName: 'x-' } })).metadata as JsonObject).name,
    /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/,
  )
})

t.test('a create is refused when its namespace began to terminate during admission', async (t) => {
  const f = await fixture({
    namespaces: ['going'],
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ info, operation }) => {
        if (info.plural === 'foos' && operation === 'CREATE')
          await f.registry.delete(f.info('namespaces'), { name: 'going' }, {}, f.context)
      },
    },
  })
  t.match(await refusal(() => f.create('foos', foo('a', {}, { namespace: 'going' }))), {
    code: 403,
    message: /because it is being terminated/,
  })
  t.equal(f.store.get('ex.com/foos', { namespace: 'going', name: 'a' }), undefined)
})

t.test('a dry run runs every step but stores nothing', async (t) => {
  const f = await fixture()
  const before = f.store.revision
  t.match(await f.create('foos', foo('a'), { dryRun: true }), { spec: { color: 'red' }, metadata: { uid: /./ } })
  t.equal(f.store.revision, before)
  t.match(await refusal(() => f.create('foos', foo('a', { size: 'x' }), { dryRun: true })), { code: 422 })
})

t.test(
  'mutating admission receives the submitted object with defaults; its result is defaulted, completed, validated and pruned',
  async (t) => {
    const seen: JsonObject[] = []
    const f = await fixture({
      admission: {
        mutate: ({ object, info }, redefault) => {
          if (object === undefined || info.plural !== 'foos') return Promise.resolve(object)
          seen.push(object)
          return Promise.resolve(redefault({ ...object, spec: { size: 5, bogus: true }, status: { phase: 'Up' } }))
        },
        validate: ({ object, info }) => {
          if (info.plural === 'foos') seen.push(object ?? {})
          return Promise.resolve()
        },
      },
    })
    const created = await f.create('foos', { ...foo('', { size: 1 }), metadata: { generateName: 'g-' } })
    t.match(seen[0], { metadata: { generateName: 'g-', managedFields: [{}] }, spec: { size: 1, color: 'red' } })
    for (const field of ['name', 'uid', 'creationTimestamp', 'generation'])
      t.notOk((seen[0]?.metadata as JsonObject)[field], `${field} is set after admission`)
    t.match(seen[1], { metadata: { name: /^g-/, uid: /./, creationTimestamp: /./, generation: 1 }, spec: { size: 5, color: 'red' } })
    t.strictSame(created.spec, { size: 5, color: 'red' })
    t.equal(created.status, undefined)
  },
)

t.test('webhooks receive the name, namespace and options of a create', async (t) => {
  const seen: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: ({ object, oldObject, operation, subresource, namespace, name, info }) => {
        const { managedFields: _managedFields, ...metadata } = object!.metadata as JsonObject
        seen.push(['mutate', info.plural, operation, subresource, namespace, name, metadata, oldObject])
        return Promise.resolve(object)
      },
      validate: ({ operation, namespace, name, object }) => {
        seen.push(['validate', operation, namespace, name, (object!.metadata as JsonObject).namespace])
        return Promise.resolve()
      },
    },
    randomSuffix: () => 'bbbbb',
  })
  seen.length = 0
  await f.create('configmaps', { metadata: { name: 'a', uid: 'x', creationTimestamp: '2020-01-01T00:00:00Z', selfLink: '/x' } })
  await f.create('foos', { ...foo(''), metadata: { generateName: 'g-' } })
  await f.create('nodes', { metadata: { name: 'n' } })
  t.strictSame(seen, [
    ['mutate', 'configmaps', 'CREATE', '', 'default', 'a', { name: 'a', namespace: 'default' }, undefined],
    ['validate', 'CREATE', 'default', 'a', 'default'],
    ['mutate', 'foos', 'CREATE', '', 'default', '', { generateName: 'g-', namespace: 'default' }, undefined],
    ['validate', 'CREATE', 'default', 'g-bbbbb', 'default'],
    ['mutate', 'nodes', 'CREATE', '', undefined, 'n', { name: 'n' }, undefined],
    ['validate', 'CREATE', undefined, 'n', undefined],
  ])
})

t.test('a terminating or missing namespace is reported before webhooks are called', async (t) => {
  let asked = 0
  const f = await fixture({
    namespaces: ['default', 'going'],
    admission: {
      mutate: ({ object, info }) => {
        if (info.plural === 'configmaps') asked += 1
        return Promise.resolve(object)
      },
      validate: () => Promise.resolve(),
    },
  })
  await f.registry.delete(f.info('namespaces'), { name: 'going' }, {}, f.context)
  const going = {
    code: 403,
    details: {
      causes: [{ reason: 'NamespaceTerminating', message: 'namespace going is being terminated', field: 'metadata.namespace' }],
    },
  }
  const why = 'unable to create new content in namespace going because it is being terminated'
  t.match(await refusal(() => f.create('configmaps', { metadata: { name: 'a', namespace: 'going' } })), {
    ...going,
    message: `configmaps "a" is forbidden: ${why}`,
  })
  t.match(await refusal(() => f.create('configmaps', { metadata: { generateName: 'x-', namespace: 'going' } })), {
    ...going,
    message: `configmaps "x-" is forbidden: ${why}`,
  })
  t.match(await refusal(() => f.create('configmaps', { metadata: { name: 'a', namespace: 'none' } })), { code: 404 })
  t.match(
    await refusal(() =>
      f.registry.create(f.info('configmaps'), undefined, { object: { metadata: { name: 'a' } }, duplicates: [] }, f.context),
    ),
    { code: 400, message: 'an empty namespace may not be set during creation' },
  )
  t.equal(asked, 0)
})

t.test('a namespace with the phase Terminating refuses new objects', async (t) => {
  const f = await fixture()
  const patch = { type: 'merge', body: { status: { phase: 'Terminating' } }, duplicates: [] } as const
  await f.registry.patch(f.info('namespaces'), { name: 'default' }, patch, f.context, 'status')
  t.match(await refusal(() => f.create('configmaps', { metadata: { name: 'a' } })), {
    code: 403,
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  })
})

t.test('a create keeps the status of types without the subresource and of types that allow it', async (t) => {
  const f = await fixture()
  t.match(await f.create('nodes', { metadata: { name: 'n' }, status: { phase: 'Running' } }), { status: { phase: 'Running' } })
  const withStatus = { ...foo('a'), status: { phase: 'Up' } }
  t.notOk((await f.create('foos', withStatus)).status)
  const created = await f.registry.create(
    { ...f.info('foos'), subresources: {} },
    'default',
    { object: { ...withStatus, metadata: { name: 'b' } }, duplicates: [] },
    f.context,
  )
  t.strictSame(created.status, { phase: 'Up' })
})

t.test('the name of a terminating object is still in use', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', {}, { finalizers: ['x.io/a'] }))
  t.match(await refusal(() => f.create('foos', foo('a'))), { code: 409, message: /^foos.ex.com "a" already exists$/ })
  await f.registry.delete(f.info('foos'), { namespace: 'default', name: 'a' }, {}, f.context)
  t.match(await refusal(() => f.create('foos', foo('a'))), {
    code: 409,
    message: 'object is being deleted: foos.ex.com "a" already exists',
  })
})

t.test('warnings about a new object are sent after admission only', async (t) => {
  let deny = true
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: ({ info }) => (deny && info.plural === 'foos' ? Promise.reject(new Error('no')) : Promise.resolve()),
    },
  })
  const object = foo('a', {}, { finalizers: ['old'] })
  await t.rejects(f.create('foos', object), { message: 'no' })
  t.strictSame(f.warnings, [])
  deny = false
  await f.create('foos', object)
  t.equal(f.warnings.length, 1)
})

t.test('a review is answered for the object as mutated by webhooks, and is not stored', async (t) => {
  const seen: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: ({ object, info, namespace, name, operation }) => {
        if (info.kind === 'Review') seen.push(['mutate', operation, namespace, name])
        return Promise.resolve({ ...object!, spec: { changed: true } })
      },
      validate: ({ object, info, namespace }) => {
        if (info.kind === 'Review') seen.push(['validate', namespace, object?.spec])
        return Promise.resolve()
      },
    },
  })
  const { schema: _schema, ...row } = f.info('foos')
  const info = {
    ...row,
    kind: 'Review',
    custom: false,
    review: (object: JsonObject) => Promise.resolve({ ...object, status: { answered: true } }),
  }
  const before = f.store.revision
  const object = { metadata: { name: 'r' }, spec: {} }
  const answered = await f.registry.create(info, 'default', { object, duplicates: [] }, f.context)
  t.match(answered, { apiVersion: 'ex.com/v1', kind: 'Review', spec: { changed: true }, status: { answered: true } })
  await f.registry.create({ ...info, namespaced: false }, undefined, { object, duplicates: [] }, f.context)
  t.strictSame(seen, [
    ['mutate', 'CREATE', 'default', 'r'],
    ['validate', 'default', { changed: true }],
    ['mutate', 'CREATE', undefined, 'r'],
    ['validate', undefined, { changed: true }],
  ])
  t.equal(f.store.revision, before)
})
