import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Fixture } from '../../support/devcluster/registry.ts'
import { fixture, foo, manualClock, pod, refusal } from '../../support/devcluster/registry.ts'

interface Options {
  readonly force?: boolean
  readonly subresource?: string
  readonly plural?: string
}

async function apply(f: Fixture, manager: string, object: JsonObject, { force = false, subresource = '', plural = 'foos' }: Options = {}) {
  const { name } = object.metadata as { name: string }
  const patch = { type: 'apply' as const, body: object, duplicates: [], force }
  return f.registry.patch(f.info(plural), { namespace: 'default', name }, patch, f.as({ fieldManager: manager }), subresource)
}

/** Returns the owned fields, keyed by `MANAGER OPERATION`. */
function owners(object: JsonObject): Record<string, unknown> {
  const { managedFields = [] } = object.metadata as {
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1: unknown }[]
  }
  return Object.fromEntries(
    managedFields.map((entry) => [[entry.manager, entry.operation, entry.subresource].filter(Boolean).join(' '), entry.fieldsV1]),
  )
}

t.test('an apply creates a missing object and owns the applied fields only', async (t) => {
  const f = await fixture()
  const { object, created } = await apply(f, 'm1', foo('a', { size: 1 }, { labels: { app: 'x' } }))
  t.equal(created, true)
  t.match(object.spec, { size: 1, color: 'red' })
  t.strictSame(owners(object), { 'm1 Apply': { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:spec': { 'f:size': {} } } })
})

t.test('a repeated apply changes nothing', async (t) => {
  const f = await fixture()
  const first = await apply(f, 'm1', foo('a', { size: 1 }))
  const again = await apply(f, 'm1', foo('a', { size: 1 }))
  t.equal(again.created, false)
  t.equal((again.object.metadata as JsonObject).resourceVersion, (first.object.metadata as JsonObject).resourceVersion)
})

t.test('a field that is no longer applied is removed unless another manager owns it', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', foo('a', { size: 1, note: 'n', extra: { x: '1', y: '2' } }))
  await apply(f, 'm2', foo('a', { note: 'n', extra: { y: '2' } }))
  const { object } = await apply(f, 'm1', foo('a', { size: 1 }))
  t.strictSame(object.spec, { size: 1, color: 'red', note: 'n', extra: { y: '2' } })
  t.strictSame(owners(object), {
    'm1 Apply': { 'f:spec': { 'f:size': {} } },
    'm2 Apply': { 'f:spec': { 'f:extra': { 'f:y': {} }, 'f:note': {} } },
  })
  const { object: last } = await apply(f, 'm2', foo('a'))
  t.strictSame(last.spec, { size: 1, color: 'red' })
})

t.test('a conflict with another manager is refused with a cause for each field', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await apply(f, 'm1', foo('a', { size: 1, note: 'n' }))
  t.match(await refusal(() => apply(f, 'm2', foo('a', { size: 2 }))), {
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "m1": .spec.size',
    details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.size' }] },
  })
  t.match(await refusal(() => apply(f, 'm2', foo('a', { size: 2, note: 'o' }))), {
    message: 'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.note\n- .spec.size',
  })
  const b = await f.create('foos', foo('b', { size: 1 }))
  t.match(b.metadata, { name: 'b' })
  t.match(await refusal(() => apply(f, 'm2', foo('b', { size: 2 }))), {
    message: 'Apply failed with 1 conflict: conflict with "curl" using ex.com/v1: .spec.size',
  })
})

t.test('a forced apply takes ownership, and a manager without fields is removed', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', foo('a', { size: 1 }))
  const { object } = await apply(f, 'm2', foo('a', { size: 2 }), { force: true })
  t.match(object.spec, { size: 2 })
  t.strictSame(Object.keys(owners(object)), ['m2 Apply'])
})

t.test('list maps merge by their keys with defaults, sets by value, and atomic lists are replaced', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', foo('a', { ports: [{ port: 1, name: 'one' }], tags: ['x'], words: ['a'] }))
  const { object } = await apply(f, 'm2', foo('a', { ports: [{ port: 2 }, { port: 1, protocol: 'UDP' }], tags: ['y'] }))
  t.strictSame((object.spec as JsonObject).ports, [
    { port: 1, name: 'one', protocol: 'TCP' },
    { port: 2, protocol: 'TCP' },
    { port: 1, protocol: 'UDP' },
  ])
  t.strictSame((object.spec as JsonObject).tags, ['x', 'y'])
  t.match(await refusal(() => apply(f, 'm2', foo('a', { words: ['a', 'b'] }))), {
    message: 'Apply failed with 1 conflict: conflict with "m1": .spec.words',
  })
  const { object: less } = await apply(f, 'm1', foo('a', { words: ['a'] }))
  t.strictSame((less.spec as JsonObject).ports, [
    { port: 2, protocol: 'TCP' },
    { port: 1, protocol: 'UDP' },
  ])
  t.strictSame((less.spec as JsonObject).tags, ['y'])
})

t.test('lists of built-in types merge by their list types', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', { ...pod('p'), metadata: { name: 'p', labels: { a: '1' } } }, { plural: 'pods' })
  const { object } = await apply(
    f,
    'm2',
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { b: '2' } } },
    { plural: 'pods' },
  )
  t.match(object, { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } })
  t.strictSame((owners(object)['m1 Apply'] as JsonObject)['f:spec'], {
    'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
  })
})

t.test('an apply to status changes and owns the status only', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', foo('a', { size: 1 }))
  const { object } = await apply(f, 'm2', { ...foo('a', { size: 9 }), status: { phase: 'Up' } }, { subresource: 'status' })
  t.match(object, { spec: { size: 1 }, status: { phase: 'Up' } })
  t.strictSame(owners(object)['m2 Apply status'], { 'f:status': { 'f:phase': {} } })
  const { object: main } = await apply(f, 'm1', { ...foo('a', { size: 2 }), status: { phase: 'Down' } })
  t.match(main, { spec: { size: 2 }, status: { phase: 'Up' } })
})

t.test('an update takes ownership of changed fields, and a removed field has no owner', async (t) => {
  const f = await fixture()
  const { object } = await apply(f, 'm1', foo('a', { size: 1, note: 'n' }))
  const changed = { ...object, spec: { size: 2, color: 'red' } }
  const updated = await f.registry.update(
    f.info('foos'),
    { namespace: 'default', name: 'a' },
    { object: changed, duplicates: [] },
    f.context,
  )
  t.strictSame(owners(updated), { 'curl Update': { 'f:spec': { 'f:size': {} } } })
})

t.test('fields of an object without managedFields belong to before-first-apply', async (t) => {
  const f = await fixture()
  const created = await f.create('foos', foo('a', { size: 1 }))
  const forgotten = { ...created, metadata: { ...(created.metadata as JsonObject), managedFields: [{}] } }
  const key = { namespace: 'default', name: 'a' }
  const reset = await f.registry.update(f.info('foos'), key, { object: forgotten, duplicates: [] }, f.context)
  t.equal((reset.metadata as JsonObject).managedFields, undefined)
  const { object } = await apply(f, 'm1', foo('a', { note: 'n' }))
  t.strictSame(Object.keys(owners(object)), ['m1 Apply', 'before-first-apply Update'])
})

t.test('an invalid configuration is refused', async (t) => {
  const f = await fixture()
  const key = { namespace: 'default', name: 'a' }
  const patch = (body: JsonObject, fieldManager = 'm') =>
    f.registry.patch(f.info('foos'), key, { type: 'apply', body, duplicates: [] }, f.as({ fieldManager }))
  t.match(await refusal(() => patch(foo('a'), '')), {
    code: 422,
    message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  })
  t.match(await refusal(() => patch({ kind: 'Foo', metadata: { name: 'a' } })), {
    code: 400,
    message: 'Incorrect version specified in apply patch. Specified patch version: , expected: ex.com/v1',
  })
  t.match(await refusal(() => patch(foo('a', {}, { managedFields: [] }))), { code: 400, message: 'metadata.managedFields must be nil' })
  t.match(await refusal(() => patch(foo('b'))), { code: 400 })
  t.match(await refusal(() => patch(foo('a', { bogus: 1 }))), {
    code: 500,
    message: 'failed to create typed patch object (/a; ex.com/v1, Kind=Foo): .spec.bogus: field not declared in schema',
  })
  t.match(await refusal(() => patch(foo('a', { ports: [{ port: 1 }, { port: 1 }] }))), {
    message: /duplicate entries for key \[port=1,protocol="TCP"\]/,
  })
  t.match(await refusal(() => patch(foo('a', {}, { uid: 'x' }))), { code: 409, message: /uid mismatch/ })
})

t.test('the time of a manager is that of its last apply with a change', async (t) => {
  const clock = manualClock()
  const f = await fixture({ clock })
  const timeAfter = async (spec: JsonObject): Promise<unknown> => {
    clock.advance(60_000)
    const { object } = await apply(f, 'm1', foo('a', spec))
    return ((object.metadata as JsonObject).managedFields as JsonObject[])[0]!.time
  }
  t.equal(await timeAfter({ size: 1, note: 'n' }), '2026-01-01T00:01:00Z')
  t.equal(await timeAfter({ size: 1, note: 'n' }), '2026-01-01T00:01:00Z', 'an unchanged configuration')
  t.equal(await timeAfter({ size: 1 }), '2026-01-01T00:03:00Z', 'less')
  t.equal(await timeAfter({ size: 2 }), '2026-01-01T00:04:00Z', 'other')
})

t.test('kubectl takes over the fields of its client-side apply without a conflict, another manager does not', async (t) => {
  const f = await fixture()
  const note = 'kubectl.kubernetes.io/last-applied-configuration'
  const annotations = { [note]: JSON.stringify(foo('a', { size: 1, note: 'old' })) }
  await f.create('foos', foo('a', { size: 1, note: 'n' }, { annotations }))
  t.match(await refusal(() => apply(f, 'other', foo('a', { size: 2 }))), { code: 409 })
  t.match(await refusal(() => apply(f, 'kubectl', foo('a', { size: 2, note: 'o' }))), {
    code: 409,
    message: 'Apply failed with 1 conflict: conflict with "curl" using ex.com/v1: .spec.note',
  })
  const { object } = await apply(f, 'kubectl', foo('a', { size: 2 }))
  const { annotations: after } = object.metadata as { annotations: JsonObject }
  t.match(JSON.parse(String(after[note])), { spec: { size: 2 } })
})

t.test('conflicts name the manager, its version and its subresource', async (t) => {
  const f = await fixture()
  await apply(f, 'm1', foo('a', { size: 1 }))
  await apply(f, 'm2', { ...foo('a'), status: { phase: 'Up', replicas: 1 } }, { subresource: 'status' })
  t.match(await refusal(() => apply(f, 'm3', { ...foo('a'), status: { phase: 'Down' } }, { subresource: 'status' })), {
    message: 'Apply failed with 1 conflict: conflict with "m2" with subresource "status": .status.phase',
  })
})

t.test('a duplicate list item is refused', async (t) => {
  const f = await fixture()
  const containers = ['x', 'y'].map((image) => ({ name: 'a', image }))
  const config = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers } }
  t.match(await refusal(() => apply(f, 'm', config, { plural: 'pods' })), {
    code: 500,
    message: /\.spec\.containers: duplicate entries for key \[name="a"\]$/,
  })
  const env = [{ name: 'E' }, { name: 'E', value: 'x' }]
  const nested = { ...config, spec: { containers: [{ name: 'a', image: 'x', env }] } }
  t.match(await refusal(() => apply(f, 'm', nested, { plural: 'pods' })), {
    code: 500,
    message: /\.spec\.containers\[name="a"\]\.env: duplicate entries for key \[name="E"\]$/,
  })
})
