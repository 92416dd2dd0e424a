import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import { asDefinition, isConditionTrue, withCondition } from '../../../src/devcluster/crd/definition.ts'
import { systemContext } from '../../../src/devcluster/crd/system-context.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { clusterWith } from '../../support/devcluster/cluster-view.ts'
import { widgetDefinition, widgetVersion } from '../../support/devcluster/definitions.ts'

const clock = new FakeClock(Date.parse('2026-01-02T03:04:05Z'))
const row = customResourceDefinitions(clock)
const { strategy } = row
const context = systemContext(new AbortController().signal)
const v2 = { ...widgetVersion, name: 'v2', storage: false }

t.test('a definition gets defaults for names, conversion and stored versions', async (t) => {
  const { spec, status } = strategy.default!(widgetDefinition()) as JsonObject & { spec: JsonObject }
  t.match(spec, { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } })
  t.strictSame(status, { storedVersions: ['v1'] })
  const names = { plural: 'widgets', kind: 'Widget', singular: 'w', listKind: 'Widgets' }
  t.strictSame((strategy.default!(widgetDefinition({ names })).spec as JsonObject).names, names)
  t.strictSame((strategy.default!(widgetDefinition({ names: { plural: 'widgets' } })).spec as JsonObject).names, { plural: 'widgets' })
  t.strictSame(strategy.default!({ kind: 'x' }), { kind: 'x', spec: {} })
  const webhook = (service: JsonObject): unknown =>
    (
      strategy.default!(widgetDefinition({ conversion: { strategy: 'Webhook', webhook: { clientConfig: { service } } } }))
        .spec as JsonObject
    ).conversion
  t.strictSame(webhook({ name: 'a' }), { strategy: 'Webhook', webhook: { clientConfig: { service: { name: 'a', port: 443 } } } })
  t.strictSame(webhook({ name: 'a', port: 8443 }), {
    strategy: 'Webhook',
    webhook: { clientConfig: { service: { name: 'a', port: 8443 } } },
  })
  const stored = { ...widgetDefinition(), status: { storedVersions: ['v0'], conditions: [] } }
  t.strictSame(strategy.default!(stored).status, { storedVersions: ['v0'], conditions: [] })
  t.strictSame(strategy.default!(widgetDefinition({ versions: [widgetVersion, { ...v2, storage: true }] })).status, {
    storedVersions: ['v1'],
  })
})

t.test('numbers in a schema are floats, except those in values', async (t) => {
  const large = 2n ** 53n + 1n
  const openAPIV3Schema = { type: 'integer', maximum: large, enum: [large], default: large, example: large, allOf: [{ minimum: large }] }
  const { spec } = strategy.default!(widgetDefinition({ versions: [{ name: 'v1', schema: { openAPIV3Schema } }] })) as {
    spec: { versions: JsonObject[] }
  }
  t.strictSame(spec.versions[0]!.schema, {
    openAPIV3Schema: { type: 'integer', maximum: 2 ** 53, enum: [large], default: large, example: large, allOf: [{ minimum: 2 ** 53 }] },
  })
})

t.test('a new definition starts without conditions, even submitted ones', async (t) => {
  const created = strategy.prepareForCreate!(
    { ...widgetDefinition({ versions: [v2, widgetVersion] }), status: { conditions: [{}] as JsonObject[], storedVersions: ['x'] } },
    context,
    clusterWith(),
  )
  t.strictSame(created.status, { conditions: null, acceptedNames: { kind: '', plural: '' }, storedVersions: ['v1'] })
  t.match(created, { kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' }, spec: { group: 'example.com' } })
})

t.test('storage versions are added to status.storedVersions', async (t) => {
  const status = { storedVersions: ['v1'], acceptedNames: { kind: 'Widget' } }
  const old = { ...widgetDefinition(), status }
  const update = (versions: JsonObject[], subresource = ''): unknown =>
    strategy.prepareForUpdate!({ ...widgetDefinition({ versions }), status: { sent: true } }, old, subresource, 0, clusterWith()).status
  t.strictSame(
    update([
      { ...widgetVersion, storage: false },
      { ...v2, storage: true },
    ]),
    { ...status, storedVersions: ['v1', 'v2'] },
  )
  t.strictSame(update([widgetVersion, v2]), { sent: true })
  t.strictSame(update([{ ...v2, storage: true }], 'status'), { sent: true }, 'a write of the status is unchanged')
})

t.test('an unknown format causes one warning', async (t) => {
  const schema = (spec: JsonObject): JsonObject => ({ schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } })
  const warned = (...specs: JsonObject[]): readonly string[] =>
    strategy.warnings!(widgetDefinition({ versions: specs.map((spec) => schema(spec)) }))
  const known: readonly (readonly [type: string | undefined, format: string])[] = [
    ['integer', 'int32'],
    ['integer', 'int64'],
    ['number', 'float'],
    ['number', 'double'],
    ['string', 'date-time'],
    [undefined, 'ipv4'],
    ['', 'ipv4'],
    ['string', ''],
  ]
  for (const [type, format] of known) t.strictSame(warned({ ...(type !== undefined && { type }), format }), [])
  for (const [type, format] of [
    ['integer', 'float'],
    ['integer', 'date'],
    ['number', 'int32'],
    ['string', 'int32'],
    ['boolean', 'date'],
    ['object', 'ipv4'],
  ] as const)
    t.strictSame(warned({ type, format }), [`unrecognized format "${format}"`])
  const places: readonly JsonObject[] = [
    { properties: { a: { format: 'x' } } },
    { additionalProperties: { format: 'x' } },
    { items: { format: 'x' } },
    { allOf: [{}, { format: 'x' }] },
    { anyOf: [{ format: 'x' }] },
    { oneOf: [{ format: 'x' }] },
    { not: { not: { format: 'x' } } },
  ]
  for (const place of places) t.strictSame(warned(place), ['unrecognized format "x"'])
  t.strictSame(
    warned({ format: 'b', properties: { a: { format: 'a' } } }, { format: 'c', not: { format: 'b' } }),
    ['b', 'a', 'c'].map((format) => `unrecognized format "${format}"`),
  )
  t.strictSame(strategy.warnings!({}), [])
})

t.test('a deleted definition keeps a finalizer until its custom resources are deleted', async (t) => {
  const metadata = { name: 'a', generation: 3, deletionTimestamp: 't', deletionGracePeriodSeconds: 0 }
  const conditions = [{ type: 'Established', status: 'True' }] as JsonObject[]
  const deleted = (finalizers?: string[]): JsonObject =>
    strategy.beginDelete!({ metadata: { ...metadata, ...(finalizers && { finalizers }) }, status: { conditions, storedVersions: ['v1'] } })
  const condition = {
    lastTransitionTime: '2026-01-02T03:04:05Z',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    reason: 'InstanceDeletionPending',
    status: 'True',
    type: 'Terminating',
  }
  const finalizer = 'customresourcecleanup.apiextensions.k8s.io'
  t.strictSame(deleted(), {
    metadata: { name: 'a', generation: 2, deletionTimestamp: 't', finalizers: [finalizer] },
    status: { conditions: [...conditions, condition], storedVersions: ['v1'] },
  })
  t.match(strategy.beginDelete!(widgetDefinition()), { kind: 'CustomResourceDefinition', spec: widgetDefinition().spec })
  t.strictSame((deleted(['b']).metadata as JsonObject).finalizers, ['b', finalizer])
  t.strictSame((deleted([finalizer, 'b']).metadata as JsonObject).finalizers, [finalizer, 'b'])
  t.strictSame(strategy.beginDelete!({ metadata: { name: 'a' } }), {
    metadata: { name: 'a', finalizers: [finalizer] },
    status: { conditions: [condition] },
  })
})

t.test('a definition has table columns for name and creation time', async (t) => {
  const cells = (object: JsonObject): unknown => row.columns.map(({ name, cell }) => [name, cell(object, 0)])
  t.strictSame(cells({ metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } }), [
    ['Name', 'a'],
    ['Created At', '2026-01-01T00:00:00Z'],
  ])
  t.strictSame((cells({ metadata: { name: 'a' } }) as unknown[])[1], ['Created At', ''])
})

t.test('a condition keeps its time until its status changes', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const change = { type: 'A', status: 'True', reason: 'R', message: 'm' } as const
  const first = withCondition(null, change, now)
  t.strictSame(first, [{ lastTransitionTime: '2026-01-01T00:00:00Z', message: 'm', reason: 'R', status: 'True', type: 'A' }])
  t.equal(withCondition(first, change, now + 60_000), first, 'the same condition is unchanged')
  for (const field of [{ reason: 'S' }, { message: 'n' }])
    t.strictSame(withCondition(first, { ...change, ...field }, now + 60_000), [{ ...first[0]!, ...field }])
  const other = { ...change, type: 'B' } as const
  const both = withCondition(first, other, now + 60_000)
  t.strictSame(both, [first[0], { ...first[0]!, type: 'B', lastTransitionTime: '2026-01-01T00:01:00Z' }])
  t.strictSame(withCondition(both, { ...change, status: 'False' }, now + 120_000), [
    { ...first[0]!, status: 'False', lastTransitionTime: '2026-01-01T00:02:00Z' },
    both[1],
  ])
  const definition = asDefinition({
    status: { conditions: withCondition(both, { ...change, status: 'False' }, now) as unknown as JsonObject[] },
  })
  t.strictSame(
    ['A', 'B', 'C'].map((type) => isConditionTrue(definition, type)),
    [false, true, false],
  )
})

t.test('internal writes of the API server have a user of their own', async (t) => {
  const { signal } = new AbortController()
  const { warn, ...rest } = systemContext(signal)
  t.strictSame(rest, {
    user: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: 'kube-apiserver',
    fieldValidation: 'Ignore',
    userAgent: 'kube-apiserver',
    signal,
  })
  t.equal(warn('x'), undefined)
})
