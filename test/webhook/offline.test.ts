import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { webhook } from '../../src/webhook/definition.ts'
import { reviewOffline } from '../../src/webhook/offline.ts'
import { handlers, widget, widgetObject } from '../support/webhook-fixture.ts'

const webhooks = [webhook(widget, { ...handlers, admit: () => Promise.reject(new Error('there is no cluster')) })]

t.test('a valid object', async (t) => {
  t.strictSame(await reviewOffline(webhooks, widgetObject({})), {
    known: true,
    kind: 'Widget',
    name: 'w',
    valid: true,
    errors: [],
    warnings: [],
  })
  t.match(
    await reviewOffline(webhooks, {
      apiVersion: 'apps.example.com/v1',
      kind: 'Widget',
      metadata: { generateName: 'w-' },
      spec: { image: 'i' },
    }),
    { valid: true, name: 'w-' },
  )
})

t.test('everything that is wrong, sorted', async (t) => {
  const review = await reviewOffline(webhooks, widgetObject({ image: 'i', size: 99, typo: 1 }, { name: 'Bad', labels: { 'a b': '' } }))
  t.equal(review.valid, false)
  t.strictSame(
    review.errors.map(({ path }) => path),
    ['metadata.labels', 'metadata.name', 'spec.size', 'spec.typo'],
  )
  t.match(review.errors.at(-1), { message: 'Forbidden: unknown field' })
})

t.test('metadata that cannot be read, and what it has no field for', async (t) => {
  const unreadable = await reviewOffline(webhooks, widgetObject({ image: 'i' }, { name: 'w', labels: { a: 1 } as never }))
  t.match(unreadable.errors, [{ path: 'metadata', message: /json: cannot unmarshal number into Go struct field ObjectMeta.*labels/ }])
  const unknown = await reviewOffline(webhooks, widgetObject({ image: 'i' }, { name: 'w', label: 'x' } as never))
  t.match(unknown.errors, [{ path: 'metadata.label', message: 'Forbidden: unknown field' }])
})

t.test('embedded built-in types are checked in full, and their unknown fields are mistakes', async (t) => {
  const holder = defineKind({
    group: 'example.com',
    kind: 'Holder',
    versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }],
  })
  const pod = { containers: [{ name: 'a', ports: [{ containerPort: '80' }], envs: [] }] }
  const review = await reviewOffline([webhook(holder)], {
    apiVersion: 'example.com/v1',
    kind: 'Holder',
    metadata: { name: 'a' },
    spec: { pod },
  })
  t.match(review.errors, [
    { path: 'spec.pod.containers[0].envs', message: 'Forbidden: unknown field' },
    { path: 'spec.pod.containers[0].ports[0].containerPort', reason: 'FieldValueTypeInvalid' },
  ])
})

t.test("the kind's own rules", async (t) => {
  t.match(await reviewOffline(webhooks, widgetObject({ image: 'i', note: 'bad' })), { valid: false, errors: [{ path: 'spec.note' }] })
  const warning = [webhook(widget, { validate: (_object, _old, { warn }) => (warn('careful'), []) })]
  t.match(await reviewOffline(warning, widgetObject({ image: 'i' })), { valid: true, warnings: ['careful'] })
  const broken = [webhook(widget, { validate: () => Promise.reject(new Error('boom')) })]
  t.match(await reviewOffline(broken, widgetObject({ image: 'i' })), {
    valid: false,
    errors: [{ message: /validation failed: boom/ }],
  })
})

t.test('other kinds and versions', async (t) => {
  t.match(await reviewOffline(webhooks, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }), {
    known: false,
    kind: 'Pod',
    name: 'p',
    valid: true,
  })
  t.match(await reviewOffline(webhooks, { ...widgetObject({}), apiVersion: 'apps.example.com/v1alpha1' }), {
    known: true,
    valid: false,
    errors: [
      {
        path: 'apiVersion',
        message: 'Unsupported value: "apps.example.com/v1alpha1": supported values: "apps.example.com/v1", "apps.example.com/v1beta1"',
      },
    ],
  })
})
