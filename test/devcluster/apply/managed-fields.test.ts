import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fromFieldsV1, toFieldsV1 } from '../../../src/devcluster/apply/field-set.ts'
import type { ManagerEntry, Writer } from '../../../src/devcluster/apply/manager-entry.ts'
import { managersAfterUpdate, readManagers, sameManager, writeManagers } from '../../../src/devcluster/apply/managed-fields.ts'
import { foos } from '../../support/devcluster/registry.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const writer: Writer = { manager: 'w', operation: 'Update', apiVersion: 'ex.com/v1', subresource: '', now }
const sized = { 'f:spec': { 'f:size': {} } }
const noted = { 'f:spec': { 'f:note': {} } }

function entry(change: Partial<Omit<ManagerEntry, 'fields'>> = {}, fields: JsonObject = sized): ManagerEntry {
  return {
    manager: 'm',
    operation: 'Update',
    apiVersion: 'ex.com/v1',
    subresource: '',
    time: '2025-01-01T00:00:00Z',
    ...change,
    fields: fromFieldsV1(fields),
  }
}
/** Returns manager, operation, version, subresource, time and fields of each entry. */
const brief = (entries: readonly ManagerEntry[]): unknown[] =>
  entries.map(({ manager, operation, apiVersion, subresource, time, fields }) => [
    manager,
    operation,
    apiVersion,
    subresource,
    time,
    toFieldsV1(fields),
  ])

t.test('managers are equal by name, operation and subresource, and updaters also by version', async (t) => {
  const one = entry()
  t.ok(sameManager(one, entry({ time: undefined }, noted)))
  for (const change of [{ manager: 'n' }, { operation: 'Apply' }, { apiVersion: 'ex.com/v2' }, { subresource: 'status' }] as const)
    t.notOk(sameManager(one, entry(change)), JSON.stringify(change))
  const applier = entry({ operation: 'Apply' })
  t.ok(sameManager(applier, entry({ operation: 'Apply', apiVersion: 'ex.com/v2' })), 'appliers are equal in every version')
  t.notOk(sameManager(applier, entry({ operation: 'Apply', manager: 'n' })))
  t.notOk(sameManager(applier, entry({ operation: 'Apply', subresource: 'status' })))
})

t.test('managers are decoded from any value, and the last of equal managers counts', async (t) => {
  t.strictSame(readManagers(undefined), [])
  t.strictSame(readManagers('x'), [])
  t.strictSame(brief(readManagers([5, {}])), [['', 'Update', '', '', undefined, {}]])
  const written = (change: JsonObject): JsonObject => ({
    manager: 'm',
    operation: 'Update',
    apiVersion: 'ex.com/v1',
    fieldsV1: sized,
    ...change,
  })
  t.strictSame(
    brief(
      readManagers([
        written({}),
        written({ manager: 'n', operation: 'Apply', time: 't', subresource: 'status' }),
        written({ fieldsV1: noted, time: 5 }),
      ]),
    ),
    [
      ['n', 'Apply', 'ex.com/v1', 'status', 't', sized],
      ['m', 'Update', 'ex.com/v1', '', undefined, noted],
    ],
  )
})

t.test('managers are sorted by operation, time, name and version, and those without fields are omitted', async (t) => {
  const entries = [
    entry({ manager: 'b' }),
    entry({ manager: 'a', subresource: 'status' }),
    entry({ manager: 'a' }),
    entry({ manager: 'z', time: '2024-01-01T00:00:00Z' }),
    entry({ manager: 'a', apiVersion: 'ex.com/v0' }),
    entry({ manager: 'y', operation: 'Apply', time: '2026-01-01T00:00:00Z' }),
    entry({ manager: 'x', time: undefined }),
    entry({ manager: 'nobody' }, {}),
  ]
  t.strictSame(
    writeManagers(entries).map(({ manager, operation, apiVersion, subresource }) =>
      [manager, operation, apiVersion, subresource].filter(Boolean).join(' '),
    ),
    [
      'y Apply ex.com/v1',
      'x Update ex.com/v1',
      'z Update ex.com/v1',
      'a Update ex.com/v0',
      'a Update ex.com/v1',
      'a Update ex.com/v1 status',
      'b Update ex.com/v1',
    ],
  )
  t.strictSame(writeManagers([entry({ subresource: 'status' })]), [
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'ex.com/v1',
      time: '2025-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: sized,
      subresource: 'status',
    },
  ])
  t.strictSame(writeManagers([entry({ time: undefined })]), [
    { manager: 'm', operation: 'Update', apiVersion: 'ex.com/v1', fieldsType: 'FieldsV1', fieldsV1: sized },
  ])
})

const object = (spec: JsonObject, managedFields?: JsonObject[]): JsonObject => ({
  apiVersion: 'ex.com/v1',
  kind: 'Foo',
  metadata: { name: 'a', ...(managedFields && { managedFields }) },
  spec,
})
const after = (live: JsonObject | undefined, next: JsonObject, change: Partial<Writer> = {}): unknown[] =>
  brief(managersAfterUpdate(foos, live, next, { ...writer, ...change }))
const applied = (change: Partial<ManagerEntry> = {}, fields: JsonObject = { 'f:spec': { 'f:size': {}, 'f:note': {} } }): JsonObject[] =>
  writeManagers([entry({ operation: 'Apply', ...change }, fields)])

t.test('an update makes its manager the only owner of the changed fields', async (t) => {
  t.strictSame(
    after(undefined, object({ size: 1 })),
    [['w', 'Update', 'ex.com/v1', '', '2026-01-01T00:00:00Z', { 'f:spec': { '.': {}, 'f:size': {} } }]],
    'the creator owns every field',
  )
  const live = object({ size: 1, note: 'n' }, applied())
  t.strictSame(after(live, object({ size: 2, note: 'n' })), [
    ['m', 'Apply', 'ex.com/v1', '', '2025-01-01T00:00:00Z', noted],
    ['w', 'Update', 'ex.com/v1', '', '2026-01-01T00:00:00Z', sized],
  ])
  t.strictSame(
    after(live, object({ size: 1 })),
    [['m', 'Apply', 'ex.com/v1', '', '2025-01-01T00:00:00Z', sized]],
    'a removed field has no owner',
  )
  t.strictSame(
    after(live, object({ size: 2, note: 'o' })),
    [['w', 'Update', 'ex.com/v1', '', '2026-01-01T00:00:00Z', { 'f:spec': { 'f:size': {}, 'f:note': {} } }]].map((row) => [
      ...row.slice(0, 5),
      { 'f:spec': { 'f:note': {}, 'f:size': {} } },
    ]),
  )
  const own = object({ size: 1 }, writeManagers([entry({ manager: 'w' })]))
  t.strictSame(after(own, object({ size: 1, note: 'n' })), [
    ['w', 'Update', 'ex.com/v1', '', '2026-01-01T00:00:00Z', { 'f:spec': { 'f:note': {}, 'f:size': {} } }],
  ])
  t.strictSame(
    after(own, object({ size: 1 })),
    [['w', 'Update', 'ex.com/v1', '', '2025-01-01T00:00:00Z', sized]],
    'a manager that changes nothing keeps its time',
  )
})

t.test('an object without managedFields does not get any by an update', async (t) => {
  t.strictSame(after(object({ size: 1 }), object({ size: 2 })), [])
  const live = object({ size: 1 }, applied({}, sized))
  for (const reset of [[], [{}]]) t.strictSame(after(live, object({ size: 2 }, reset)), [], 'a reset removes all managers')
  t.strictSame(after(live, object({ size: 2 }, [{}, {}])).length, 1)
  t.strictSame(
    after(live, object({ size: 1 }, [{ manager: 'n', operation: 'Apply', apiVersion: 'ex.com/v1', fieldsV1: sized }])),
    [['n', 'Apply', 'ex.com/v1', '', undefined, sized]],
    'submitted managedFields replace the stored ones',
  )
  t.strictSame(
    after(live, object({ size: 1 }, []), { subresource: 'status' }),
    [['m', 'Apply', 'ex.com/v1', '', '2025-01-01T00:00:00Z', sized]],
    'a subresource cannot replace managedFields',
  )
})

t.test('with more than ten updaters the two oldest are merged', async (t) => {
  const managers = (count: number): ManagerEntry[] =>
    Array.from({ length: count }, (_, index) =>
      entry(
        { manager: `m${index}`, time: `2025-01-${String(20 - index).padStart(2, '0')}T00:00:00Z` },
        { 'f:spec': { 'f:extra': { [`f:${index}`]: {} } } },
      ),
    )
  const extra = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [String(index), 'x']))
  const update = (entries: readonly ManagerEntry[]): unknown[] => {
    const live = object({ extra }, writeManagers(entries))
    return after(live, object({ extra, size: 1 })).map((row) => (row as unknown[])[0])
  }
  t.equal(update(managers(9)).length, 10, 'ten updaters stay separate')
  t.notOk(update(managers(9)).includes('ancient-changes'))
  const capped = update(managers(10))
  t.equal(capped.length, 10)
  t.strictSame(
    capped.filter((name) => name === 'm9' || name === 'm8'),
    [],
    'the oldest two are merged',
  )
  t.ok(capped.includes('ancient-changes') && capped.includes('m7') && capped.includes('w'))
  const live = object(
    { extra },
    writeManagers([
      ...managers(10),
      entry({ manager: 'a', operation: 'Apply', time: '2020-01-01T00:00:00Z' }, { 'f:spec': { 'f:extra': { 'f:11': {} } } }),
    ]),
  )
  const ancient = (after(live, object({ extra, size: 1 })) as unknown[][]).find(([name]) => name === 'ancient-changes')
  t.strictSame(ancient, [
    'ancient-changes',
    'Update',
    'ex.com/v1',
    '',
    '2025-01-12T00:00:00Z',
    { 'f:spec': { 'f:extra': { 'f:8': {}, 'f:9': {} } } },
  ])
})

t.test('entries of the same apiVersion are merged, although the oldest entry has another one', async (t) => {
  const managers = Array.from({ length: 10 }, (_, index) =>
    entry(
      { manager: `m${index}`, apiVersion: index === 0 ? 'ex.com/v0' : 'ex.com/v1', time: `2025-01-${10 + index}T00:00:00Z` },
      { 'f:spec': { 'f:extra': { [`f:${index}`]: {} } } },
    ),
  )
  const extra = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [String(index), 'x']))
  const rows = after(object({ extra }, writeManagers(managers)), object({ extra, size: 1 })) as unknown[][]
  t.equal(rows.length, 10)
  t.strictSame(
    rows.filter(([name]) => name === 'm0' || name === 'ancient-changes').map(([name, , apiVersion, , time]) => [name, apiVersion, time]),
    [
      ['m0', 'ex.com/v0', '2025-01-10T00:00:00Z'],
      ['ancient-changes', 'ex.com/v1', '2025-01-12T00:00:00Z'],
    ],
  )
})

t.test('there is one merged entry of an apiVersion, also among entries of the same second', async (t) => {
  const time = '2025-01-01T00:00:00Z'
  const fields = (name: string): JsonObject => ({ 'f:spec': { 'f:extra': { [`f:${name}`]: {} } } })
  const names = ['aa', 'ancient-changes', ...'bcdefghi']
  const extra = Object.fromEntries(names.map((name) => [name, 'x']))
  const live = object({ extra }, writeManagers(names.map((manager) => entry({ manager, time }, fields(manager)))))
  const rows = after(live, object({ extra, size: 1 })) as unknown[][]
  t.equal(rows.length, 10)
  t.strictSame(
    rows.filter(([name]) => name === 'ancient-changes').map((row) => row[5]),
    [{ 'f:spec': { 'f:extra': { 'f:aa': {}, 'f:ancient-changes': {} } } }],
  )
})
