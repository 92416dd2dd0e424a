import t from 'tap'
import { configMap } from '../../../src/api/builtin.ts'
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { jsonEqual } from '../../../src/api/json.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ProcessCache } from '../../../src/webhook/handlers/admission-cache.ts'
import { eventually } from '../../support/eventually.ts'
import { applyPatch } from '../../support/webhook/apply-patch.ts'
import { fixture, handlers, patchOf, widgetObject } from '../../support/webhook/fixture.ts'
import type { ReviewedRequest } from '../../support/webhook/fixture.ts'

t.test('defaults of the schema and of the kind become the smallest patch', async (t) => {
  const { ask } = await fixture(t)
  const object = widgetObject({ parts: [{ name: 'a' }, { name: 'b', color: 'blue' }] }, { labels: { a: 'b' } })
  const answer = await ask('mutate', { object })
  t.equal(answer.allowed, true)
  const patch = patchOf(answer)
  t.strictSame(
    [...patch].sort((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { op: 'add', path: '/spec/image', value: 'widget:3' },
      { op: 'add', path: '/spec/parts/0/color', value: 'red' },
      { op: 'add', path: '/spec/size', value: 3 },
    ],
  )
  const expected = widgetObject(
    {
      size: 3,
      image: 'widget:3',
      parts: [
        { name: 'a', color: 'red' },
        { name: 'b', color: 'blue' },
      ],
    },
    { labels: { a: 'b' } },
  )
  t.ok(jsonEqual(applyPatch(object, patch), expected))
})

t.test('an object without missing defaults is not patched', async (t) => {
  const { ask } = await fixture(t)
  const answer = await ask('mutate', { object: { ...widgetObject({ size: 1, image: 'i', unknown: { a: null } }), more: 9007199254740993 } })
  t.strictSame(answer, { uid: 'uid-1', allowed: true })
})

t.test('a version without handlers gets the defaults of its schema', async (t) => {
  const { ask } = await fixture(t)
  const answer = await ask('mutate', {
    kind: { group: 'apps.example.com', version: 'v1beta1', kind: 'Widget' },
    object: widgetObject({ note: 'bad' }),
  })
  t.strictSame(patchOf(answer), [{ op: 'add', path: '/spec/size', value: 2 }])
})

t.test('embedded built-in types are validated in full, and their unknown fields are warned about', async (t) => {
  const kind = defineKind({
    group: 'apps.example.com',
    kind: 'Widget',
    versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }],
  })
  const { ask } = await fixture(t, {}, { webhooks: [defineWebhook(kind)] })
  const main = { name: 'main', image: 'i', ports: [{ containerPort: 80 }], args: null }
  const valid = widgetObject({ pod: { containers: [{ ...main, envs: [] }], restartpolicy: 'Never' } })
  t.strictSame(
    await ask('mutate', { object: valid }),
    {
      uid: 'uid-1',
      allowed: true,
      warnings: ['unknown field "spec.pod.containers[0].envs"', 'unknown field "spec.pod.restartpolicy"'],
    },
    'embedded types are neither defaulted nor pruned',
  )
  const manyFields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, index]))
  const many = await ask('mutate', { object: widgetObject({ pod: { ...manyFields, containers: [main] } }) })
  t.equal(many.warnings?.length, 32, 'at most 32 warnings')
  const long = await ask('mutate', { object: widgetObject({ pod: { containers: [main], ['x'.repeat(10_000)]: 1 } }) })
  t.equal(long.warnings?.[0]?.length, 4096)
  const invalid = widgetObject({ pod: { containers: [{ ...main, image: 5 }] } })
  for (const verb of ['mutate', 'validate'] as const) {
    t.match(await ask(verb, { object: invalid }), {
      allowed: false,
      status: { details: { causes: [{ field: 'spec.pod.containers[0].image' }] } },
    })
  }
  t.match(
    await ask('mutate', { operation: 'UPDATE', object: invalid, oldObject: invalid }),
    { allowed: true },
    'unchanged errors are tolerated',
  )
})

t.test('an invalid object is refused at once', async (t) => {
  const { ask, entries } = await fixture(t)
  t.test('with the errors of the handler', async (t) => {
    const answer = await ask('mutate', { object: widgetObject({ note: 'bad' }) })
    t.strictSame(answer, {
      uid: 'uid-1',
      allowed: false,
      status: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Widget.apps.example.com "w" is invalid: spec.note: Invalid value: "bad": must be good',
        reason: 'Invalid',
        details: {
          name: 'w',
          group: 'apps.example.com',
          kind: 'Widget',
          causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value: "bad": must be good', field: 'spec.note' }],
        },
        code: 422,
      },
    })
    const entry = entries.find(({ msg }) => msg === 'denied')
    t.match(entry, {
      level: 'info',
      uid: 'uid-1',
      kind: 'Widget',
      namespace: 'ns',
      name: 'w',
      operation: 'CREATE',
      user: 'jane',
      code: 422,
    })
    t.notMatch(JSON.stringify(entries), /must be good|bad/, 'no values of the object are logged')
  })
  t.test('with all errors of the schema and of the handler, sorted', async (t) => {
    const { allowed, status } = await ask('mutate', { object: widgetObject({ size: 'three', note: 'bad', parts: [{}, { name: 7 }] }) })
    t.equal(allowed, false)
    t.strictSame(
      status?.details?.causes?.map(({ field }) => field),
      ['spec.image', 'spec.note', 'spec.parts[0].name', 'spec.parts[1].name', 'spec.size'],
    )
  })
  t.test('with the errors of the schema alone, if validate() throws on them', async (t) => {
    const { ask } = await fixture(t, { ...handlers, validate: (object) => (object.spec.image.length > 0 ? [] : []) })
    const { status } = await ask('mutate', { object: widgetObject({ size: 'three', image: undefined }) })
    t.match(
      status?.details?.causes?.map(({ field }) => field),
      ['spec.image', 'spec.size'],
    )
  })
  t.test('with the name of the object, if the request has none', async (t) => {
    const { status } = await ask('mutate', { name: '', object: widgetObject({ note: 'bad' }, { name: 'own' }) })
    t.equal(status?.details?.name, 'own')
  })
  t.test('if it has no spec', async (t) => {
    const object: JsonObject = { apiVersion: 'apps.example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
    const { allowed, status } = await ask('mutate', { object })
    t.equal(allowed, false)
    t.match(status?.message, /spec/)
  })
})

t.test('with refuseInvalidEarly: false, an invalid object is admitted', async (t) => {
  const { ask } = await fixture(t, { ...handlers, refuseInvalidEarly: false })
  t.match(await ask('mutate', { object: widgetObject({ note: 'bad' }) }), { allowed: true })
  const answer = await ask('mutate', { object: widgetObject({ size: 'three' }) })
  t.strictSame(answer, { uid: 'uid-1', allowed: true }, 'default() is not called on an object of wrong types')
  const withoutDefault = await fixture(t, { validate: () => [], refuseInvalidEarly: false })
  t.strictSame(await withoutDefault.ask('mutate', { object: widgetObject({ size: 'three', image: 'i' }) }), { uid: 'uid-1', allowed: true })
})

t.test('before the early validateInCluster, the caches of its types have synced', async (t) => {
  const events: string[] = []
  const synced = Promise.withResolvers<void>()
  const informer = (type: { kind: string }) => ({
    synced: true,
    whenSynced: async () => {
      events.push(`waits for ${type.kind}`)
      await synced.promise
      events.push('synced')
    },
  })
  const { ask } = await fixture(
    t,
    { ...handlers, reads: [configMap], validateInCluster: () => (events.push('validateInCluster'), []) },
    { cache: { informer, namespaces: [] } as unknown as ProcessCache },
  )
  const answer = ask('mutate', { object: widgetObject({ note: 'bad' }) })
  await eventually(() => events.length > 0)
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(events, ['waits for ConfigMap'])
  synced.resolve()
  t.match(await answer, { allowed: false })
  t.strictSame(events, ['waits for ConfigMap', 'synced', 'validateInCluster'])
})

t.test('validateInCluster is called in the mutating webhook for refused objects only', async (t) => {
  const notes: string[] = []
  const { ask } = await fixture(t, {
    ...handlers,
    validateInCluster: (object) => {
      notes.push(String(object.spec.note))
      return [{ path: 'spec.image', reason: 'FieldValueForbidden', message: 'Forbidden: no such image' }]
    },
  })
  const { status } = await ask('mutate', { object: widgetObject({ note: 'bad' }) })
  t.strictSame(
    status?.details?.causes?.map(({ field }) => field),
    ['spec.image', 'spec.note'],
  )
  t.match(await ask('mutate', { object: widgetObject({ note: 'good' }) }), { allowed: true })
  t.strictSame(notes, ['bad'], 'a valid object is checked by the validating webhook, in its final form')
})

t.test('unchanged errors of an update are tolerated', async (t) => {
  const { ask } = await fixture(t)
  const old = widgetObject({ size: 20, image: 'i' })
  t.match(await ask('mutate', { operation: 'UPDATE', oldObject: old, object: widgetObject({ size: 20, image: 'other' }) }), {
    allowed: true,
  })
  const { status } = await ask('mutate', { operation: 'UPDATE', oldObject: old, object: widgetObject({ size: 21, image: 'other' }) })
  t.strictSame(
    status?.details?.causes?.map(({ field }) => field),
    ['spec.size'],
  )
  const shrinking = await ask('mutate', {
    operation: 'UPDATE',
    oldObject: widgetObject({ size: 5, image: 'i' }),
    object: widgetObject({ size: 4, image: 'i' }),
  })
  t.match(shrinking, { allowed: false, status: { message: /spec\.size: Forbidden: may not shrink/ } })
})

t.test('subresources, deletions, connections and metadata changes of deleted objects are allowed unchanged', async (t) => {
  const { ask } = await fixture(t, { ...handlers, operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'], validateDelete: () => [] })
  const bad = widgetObject({ note: 'bad', image: 'i' })
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b', 'c/d'], resourceVersion: '1', generation: 2 }
  const cases: [string, ReviewedRequest][] = [
    ['a subresource', { operation: 'UPDATE', subResource: 'status', object: bad, oldObject: bad }],
    ['a delete', { operation: 'DELETE', object: null, oldObject: bad }],
    ['a connect', { operation: 'CONNECT', object: { kind: 'PodExecOptions' } }],
    [
      'the removal of a finalizer',
      {
        operation: 'UPDATE',
        oldObject: widgetObject({ note: 'bad' }, deleting),
        object: widgetObject({ note: 'bad' }, { ...deleting, finalizers: ['c/d'], resourceVersion: '1', generation: 3 }),
      },
    ],
    [
      'another change of the metadata of an object that is being deleted',
      {
        operation: 'UPDATE',
        oldObject: widgetObject({ note: 'bad' }, deleting),
        object: widgetObject({ note: 'bad' }, { ...deleting, annotations: { a: 'b' } }),
      },
    ],
    [
      'the removal of the last finalizer',
      {
        operation: 'UPDATE',
        oldObject: widgetObject({ note: 'bad' }, deleting),
        object: widgetObject({ note: 'bad' }, { ...deleting, finalizers: [] }),
      },
    ],
  ]
  for (const [name, request] of cases) t.strictSame(await ask('mutate', request), { uid: 'uid-1', allowed: true }, name)
  const alsoChanged = await ask('mutate', {
    operation: 'UPDATE',
    oldObject: widgetObject({ note: 'good', image: 'i' }, deleting),
    object: widgetObject({ note: 'bad', image: 'i' }, { ...deleting, finalizers: [] }),
  })
  t.match(alsoChanged, { allowed: false }, 'but a change of the spec is validated')
})

t.test('a handler', async (t) => {
  t.test('that returns nothing fails with 500', async (t) => {
    const { ask } = await fixture(t, { default: (() => undefined) as never })
    t.match(await ask('mutate', { object: widgetObject({ image: 'i' }) }), {
      allowed: false,
      status: { code: 500, reason: 'InternalError', message: /default\(\) must return the object/ },
    })
  })
  t.test('that changes the object in place fails with 500', async (t) => {
    const { ask } = await fixture(t, {
      default: (object) => {
        ;(object.spec as { image: string }).image = 'x'
        return object
      },
    })
    t.match(await ask('mutate', { object: widgetObject({ image: 'i' }) }), { allowed: false, status: { code: 500, message: /read only/ } })
  })
  t.test('that throws on an invalid object yields the errors of the schema', async (t) => {
    const { ask } = await fixture(t, {
      default: (object) => {
        object.spec.image.trim()
        return object
      },
    })
    t.match(await ask('mutate', { object: widgetObject({}) }), {
      allowed: false,
      status: { code: 422, message: /spec\.image: Required value/ },
    })
  })
})

t.test('keys that are names of JavaScript are data', async (t) => {
  const { ask } = await fixture(t)
  const object = JSON.parse(
    '{"apiVersion":"apps.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"image":"i","labels":{"__proto__":"x","constructor":"y"}}}',
  ) as JsonObject
  const answer = await ask('mutate', { object })
  t.strictSame(patchOf(answer), [{ op: 'add', path: '/spec/size', value: 3 }])
  t.equal(({} as { x?: string }).x, undefined)
})
