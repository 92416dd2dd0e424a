/** Tests of the non-storage versions of a kind: `versionOf`, webhook handlers and conversion. */
import t from 'tap'
import { defineConversion, defineKind, defineWebhook, invalid, Type, versionOf } from '../../../src/index.ts'
import { formatFieldError } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { reviewOffline } from '../../../src/webhook/validate-offline.ts'

const lamp = defineKind({
  group: 'example.com',
  kind: 'Lamp',
  versions: [
    { name: 'v2', storage: true, spec: Type.Object({ level: Type.Integer({ minimum: 0, maximum: 10 }) }) },
    { name: 'v1', spec: Type.Object({ on: Type.Boolean({ default: true }), room: Type.Optional(Type.String()) }) },
  ],
})
const lampV1 = versionOf(lamp, 'v1')
const webhooks = [
  defineWebhook(lamp, { validate: ({ spec }) => (spec.level === 9 ? [invalid('spec.level', spec.level, 'is too bright')] : []) }),
  defineWebhook(lampV1, { validate: ({ spec }) => (spec.room === 'attic' ? [invalid('spec.room', spec.room, 'has no lamp')] : []) }),
]
const conversions = [
  defineConversion(lamp, {
    converters: {
      v1: {
        toHub: ({ spec }) => {
          if (spec.room === 'nowhere') throw new Error('spec.room: there is no such room')
          return { spec: { level: spec.on ? 9 : 0, ...(spec.room === 'cellar' && { lvl: 1 }) } }
        },
        fromHub: ({ spec }) => ({ spec: { on: spec.level > 0 } }),
      },
    },
  }),
]
const review = async (version: string, spec: object) =>
  (
    await reviewOffline(
      webhooks,
      { apiVersion: `example.com/${version}`, kind: 'Lamp', metadata: { name: 'a' }, spec: { ...spec } },
      undefined,
      conversions,
    )
  ).errors

t.test('a handle of a version is a type like any other', async (t) => {
  t.strictSame({ ...lampV1 }, { ...lampV1, group: 'example.com', version: 'v1', kind: 'Lamp', plural: 'lamps', namespaced: true })
  t.throws(() => versionOf(lamp, 'v3' as 'v1'), { code: 'PRO_KIND_INVALID', message: 'Lamp.example.com has no version v3; it has v2, v1.' })
})

t.test('handlers of a version that is not served are refused', async (t) => {
  const spec = Type.Object({})
  const kind = defineKind({
    group: 'example.com',
    kind: 'Lamp',
    versions: [
      { name: 'v2', storage: true, spec },
      { name: 'v1', served: false, spec },
    ],
  })
  const message = 'The webhook for Lamp.example.com would never be called: its version v1 is not served.'
  t.throws(() => defineWebhook(versionOf(kind, 'v1'), { validate: () => [] }), { code: 'PRO_CONFIG_INVALID', message })
  t.doesNotThrow(() => defineWebhook(versionOf(kind, 'v1')), 'the schema alone is that of the kind')
})

t.test('each version has its own handlers in one entry', async (t) => {
  t.strictSame(
    combineWebhooks(webhooks).map((combined) => [combined.version, combined.webhooks.CREATE.length]),
    [
      ['v2', 1],
      ['v1', 1],
    ],
  )
})

t.test(
  'offline, an object of another version is validated by its own handlers, converted, and validated by those of the storage version',
  async (t) => {
    t.strictSame(await review('v1', { on: false }), [])
    t.match(await review('v1', { room: 'attic' }), [{ path: 'spec.room' }])
    t.match(await review('v1', {}), [{ path: 'spec.level', message: /is too bright/ }])
    t.match(await review('v1', { room: 'nowhere' }), [{ message: /the conversion to v2 failed: .*there is no such room/ }])
    t.match(await review('v1', { on: false, room: 'cellar' }), [
      { path: 'spec.lvl', message: /the converter from v1 to v2 returned fields that v2 does not have/ },
    ])
    t.match(await review('v2', { level: 9 }), [{ path: 'spec.level' }])
  },
)

t.test('handlers of the storage version are called once, for objects that are valid in their own version', async (t) => {
  const seen: unknown[][] = []
  const recording = [
    defineWebhook(lamp, { validate: ({ spec }, _old, { resource }) => (seen.push(['v2', spec.level, resource.version]), []) }),
    defineWebhook(lampV1, { validate: ({ spec }) => (seen.push(['v1', spec.on]), []) }),
  ]
  const object = (version: string, spec: JsonObject): JsonObject => ({
    apiVersion: `example.com/${version}`,
    kind: 'Lamp',
    metadata: { name: 'a' },
    spec,
  })
  await reviewOffline(recording, object('v1', {}), undefined, conversions)
  await reviewOffline(recording, object('v2', { level: 3 }), undefined, conversions)
  t.strictSame(seen, [
    ['v1', true],
    ['v2', 9, 'v2'],
    ['v2', 3, 'v2'],
  ])
  seen.length = 0
  t.match((await reviewOffline(recording, object('v1', { on: 'x' }), undefined, conversions)).errors, [{ path: 'spec.on' }])
  t.strictSame(
    seen.filter(([version]) => version === 'v2'),
    [],
    'an invalid object is not converted',
  )
  const { errors } = await reviewOffline(recording, object('v1', { room: 'nowhere' }), undefined, conversions)
  t.equal(errors.length, 1)
  t.match(errors, [{ path: '<nil>', message: /^Invalid value: "": the conversion to v2 failed: / }])
})

t.test('without a conversion an object is validated as the storage version', async (t) => {
  const { errors } = await reviewOffline(
    webhooks,
    { apiVersion: 'example.com/v1', kind: 'Lamp', metadata: { name: 'a' }, spec: {} },
    undefined,
    [],
  )
  t.strictSame(errors.map(formatFieldError), ['spec.level: Required value', 'spec.on: Forbidden: unknown field'])
})
