import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { Dropped } from '../../src/conversion/converter.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { converting, jobConversion, jobOf } from '../support/conversion-fixture.ts'

const convert = converting(jobConversion)
const beta = 'conversion.example.com/v1beta1'
const hub = 'conversion.example.com/v1'

function annotationsOf(object: JsonObject): Record<string, string> {
  return ((object.metadata as JsonObject).annotations ?? {}) as Record<string, string>
}

t.test('the stored version is the hub, and a spoke is converted to another one through it', async (t) => {
  const old = jobOf('v1alpha1', { every: { hour: '3' } }, { status: { running: true } })
  t.match(await convert(old, 'v1'), {
    apiVersion: 'example.com/v1',
    kind: 'Job',
    metadata: { name: 'a', namespace: 'test', uid: 'u' },
    spec: { schedule: { minute: '*', hour: '3' }, priority: 5 },
    status: { phase: 'Running', runs: 0 },
  })
  t.match(await convert(old, 'v1beta1'), { apiVersion: 'example.com/v1beta1', spec: { cron: '* 3' }, status: { phase: 'Running' } })
  t.equal(await convert(old, 'v1alpha1'), old, 'in its own version it is left alone')
})

t.test('a status that has the same fields goes along by itself', async (t) => {
  const status = { phase: 'Running', runs: 2 }
  t.strictSame((await convert(jobOf('v1beta1', { cron: '1 2' }, { status }), 'v1')).status, status)
  t.notOk('status' in (await convert(jobOf('v1beta1', { cron: '1 2' }), 'v1')))
})

t.test('what a version cannot express is kept in an annotation and comes back', async (t) => {
  const object = jobOf('v1', {
    schedule: { minute: '0', hour: '4' },
    tasks: [
      { name: 'a', command: 'x', retries: 3 },
      { name: 'b', command: 'y', retries: 9 },
    ],
    priority: 1,
    notes: { a: 'b' },
  })
  const shown = await convert(object, 'v1beta1')
  t.strictSame(shown.spec, {
    cron: '0 4',
    tasks: [
      { name: 'a', command: 'x' },
      { name: 'b', command: 'y' },
    ],
  })
  t.ok(annotationsOf(shown)[hub])
  t.strictSame(await convert(shown, 'v1'), object)

  const edited = structuredClone(shown)
  Object.assign(edited.spec as JsonObject, { cron: '5 4', tasks: [{ name: 'b', command: 'z' }], owner: 'me' })
  const back = await convert(edited, 'v1')
  t.strictSame(back.spec, {
    schedule: { minute: '5', hour: '4' },
    tasks: [{ name: 'b', command: 'z', retries: 9 }],
    priority: 1,
    notes: { a: 'b' },
  })
  t.strictSame(Object.keys(annotationsOf(back)), [beta], 'only what the hub cannot express is left: the owner')
  t.strictSame((await convert(back, 'v1beta1')).spec, edited.spec)
})

t.test('what was shown and has been changed wins over what was kept', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Lamp',
    versions: [
      { name: 'v2', storage: true, spec: Type.Object({ level: Type.Number() }) },
      { name: 'v1', spec: Type.Object({ on: Type.Boolean() }) },
    ],
  })
  const convert = converting(
    defineConversion(kind, {
      converters: {
        v1: {
          toHub: ({ spec }) => ({ spec: { level: spec.on ? 1 : 0 } }),
          fromHub: ({ spec }) => ({ spec: { on: spec.level > 0 } }),
        },
      },
    }),
  )
  const shown = await convert({ apiVersion: 'example.com/v2', kind: 'Lamp', metadata: { name: 'a' }, spec: { level: 0.4 } }, 'v1')
  t.strictSame(shown.spec, { on: true })
  t.strictSame((await convert(shown, 'v2')).spec, { level: 0.4 })
  const off = await convert({ ...shown, spec: { on: false } }, 'v2')
  t.strictSame(off.spec, { level: 0 })
  t.strictSame(off.metadata, { name: 'a' })
})

t.test('an integer beyond 2^53 is a bigint to converters, and a number that is written alike is the same', async (t) => {
  const seen: unknown[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      [
        'v1beta1',
        {
          toHub: ({ spec }: JsonObject) => ({ spec: { schedule: {}, serial: Number((spec as JsonObject).serial) } }),
          fromHub({ spec }: JsonObject) {
            const { serial } = spec as JsonObject
            seen.push(serial)
            return { spec: { cron: 'x', serial } }
          },
        },
      ],
    ]),
  })
  const shown = await convert(jobOf('v1', { schedule: {}, priority: 1, serial: 9007199254740992n }), 'v1beta1')
  t.equal(seen[0], 9007199254740992n)
  t.notMatch(annotationsOf(shown)[hub], /serial/, 'nothing is lost that had to be kept')
  t.strictSame(await convert(shown, 'v1'), jobOf('v1', { schedule: { minute: '*', hour: '*' }, priority: 1, serial: 9007199254740992 }))
  const rounded = await convert(jobOf('v1', { schedule: {}, serial: 9007199254740993n }), 'v1beta1')
  t.strictSame((await convert(rounded, 'v1')).spec, { schedule: { minute: '*', hour: '*' }, priority: 5, serial: 9007199254740993n })
})

t.test('two integers that round to the same number both survive', async (t) => {
  const tasks = [
    { name: 'a', command: 'x', retries: 9007199254740992n },
    { name: 'b', command: 'y', retries: 9007199254740993n },
  ]
  const object = jobOf('v1', { schedule: { minute: '0', hour: '4' }, tasks, priority: 1, serial: -9007199254740993n })
  const shown = await convert(object, 'v1beta1')
  t.equal((shown.spec as JsonObject).serial, -9007199254740993n)
  t.match(annotationsOf(shown)[hub], /9007199254740992\D.*9007199254740993\D/)
  t.strictSame(await convert(shown, 'v1'), object)
})

t.test('what is kept for one version passes through the others', async (t) => {
  const old = jobOf('v1alpha1', { every: { hour: '3' }, color: 'blue' })
  const there = await convert(await convert(old, 'v1'), 'v1beta1')
  const back = await convert(await convert(there, 'v1'), 'v1alpha1')
  t.strictSame(back.spec, old.spec)
  t.strictSame((await convert(await convert(old, 'v1beta1'), 'v1alpha1')).spec, old.spec)
})

t.test('without lossless, what the converters leave out is gone', async (t) => {
  const convert = converting({ ...jobConversion, lossless: false })
  const shown = await convert(jobOf('v1', { schedule: { minute: '0', hour: '4' }, priority: 1 }), 'v1beta1')
  t.strictSame(shown.metadata, { name: 'a', namespace: 'test', uid: 'u' })
  t.match(await convert(shown, 'v1'), { spec: { priority: 5 } })
})

t.test('the schema of a version has the last word about what a converter gives', async (t) => {
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      ['v1beta1', { toHub: () => ({ spec: { schedule: {}, unknown: 1, notes: null } }), fromHub: () => ({ spec: { cron: 'x' } }) }],
    ]),
  })
  t.strictSame((await convert(jobOf('v1beta1', { cron: 'x' }), 'v1')).spec, { schedule: { minute: '*', hour: '*' }, priority: 5 })
})

t.test('converters get frozen objects, defaults filled in, without the annotations of the framework, and know where to', async (t) => {
  const seen: unknown[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      [
        'v1beta1',
        {
          toHub: () => ({ spec: { schedule: {} } }),
          fromHub(object, { from, to }) {
            t.ok([object, object.metadata, object.spec].every(Object.isFrozen))
            seen.push(object.metadata, object.spec, from, to)
            return { spec: { cron: 'x' } }
          },
        },
      ],
    ]),
  })
  const metadata = { name: 'a', annotations: { [beta]: 'x', other: 'y' } }
  await convert(jobOf('v1', { schedule: { hour: '1' } }, { metadata }), 'v1beta1')
  t.strictSame(seen.slice(0, 4), [
    { name: 'a', annotations: { other: 'y' } },
    { schedule: { minute: '*', hour: '1' }, priority: 5 },
    'v1',
    'v1beta1',
  ])
})

t.test('an object without a spec or metadata, as one manager may own it, is converted', async (t) => {
  const convert = converting({
    ...jobConversion,
    spokes: new Map([['v1beta1', { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) }]]),
  })
  t.strictSame(await convert({ apiVersion: 'example.com/v1', kind: 'Job' }, 'v1beta1'), { apiVersion: 'example.com/v1beta1', kind: 'Job' })
})

t.test('where a converter fails for what server-side apply has left of an object, what the versions share is enough', async (t) => {
  const spokes = new Map([
    [
      'v1beta1',
      {
        toHub: ({ spec }: JsonObject) => ({ spec: { schedule: { hour: (spec as { cron: string }).cron.split(' ')[1] } } }),
        fromHub: ({ spec }: JsonObject) => ({ spec: { cron: (spec as { schedule: { hour: string } }).schedule.hour } }),
      },
    ],
  ])
  const convert = converting({ ...jobConversion, spokes })
  const status = { phase: 'Running', runs: 1 }
  const rest = jobOf('v1beta1', { tasks: [{ name: 'a', command: 'x' }], serial: 7, owner: 'me' }, { status })
  const there = await convert(rest, 'v1')
  t.strictSame(there.spec, { tasks: [{ name: 'a', command: 'x', retries: 3 }], serial: 7, priority: 5 })
  t.strictSame(there.status, status)
  t.strictSame((await convert(there, 'v1beta1')).spec, rest.spec)
  await t.rejects(convert(jobOf('v1beta1', { cron: 5 }), 'v1'), /split is not a function/, 'a whole object is none of those')
})

t.test('labels and annotations may change, the rest of the metadata not', async (t) => {
  const given = (result: unknown) =>
    converting({ ...jobConversion, lossless: false, spokes: new Map([['v1beta1', { toHub: () => result, fromHub: () => result }]]) })(
      jobOf('v1beta1', { cron: 'x' }, { metadata: { name: 'a', uid: 'u', labels: { a: 'b' }, annotations: { c: 'd' } } }),
      'v1',
    )
  const spec = { schedule: {} }
  const metadata = { name: 'a', uid: 'u' }
  for (const [written, expected] of [
    [{ labels: { x: 'y' } }, { ...metadata, labels: { x: 'y' }, annotations: { c: 'd' } }],
    [{ annotations: {} }, { ...metadata, labels: { a: 'b' }, annotations: {} }],
    [
      { name: 'a', uid: 'u', labels: { a: 'b' } },
      { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
    ],
  ])
    t.strictSame((await given({ spec, metadata: written })).metadata, expected)

  const wrong: [unknown, RegExp][] = [
    [undefined, /the converter gave nothing instead of an object/],
    [[], /gave a list instead/],
    [null, /gave null instead/],
    [{ spec: 'x' }, /gave a string as spec/],
    [{ spec, metadata: { name: 'b' } }, /changed metadata\.name from "a" to "b": only labels and annotations may change/],
    [{ spec, metadata: { finalizers: ['x/y'] } }, /changed metadata\.finalizers from nothing to \["x\/y"\]/],
    [{ spec, metadata: { labels: { a: 5 } } }, /gave metadata\.labels that are not all texts/],
    [{ spec, metadata: 5 }, /gave a number as metadata/],
    [{ spec, kind: 'Other' }, /wrote kind, and may write spec and status/],
    [{ spec, apiVersion: 'example.com/v7' }, /wrote apiVersion/],
    [{ spec, data: {} }, /wrote data/],
  ]
  for (const [result, message] of wrong) await t.rejects(given(result), { code: 'PRO_INPUT', message }, String(message))
  t.ok(await given({ apiVersion: 'example.com/v1beta1', kind: 'Job', spec, data: undefined }), 'the envelope may be that of the source')
})

t.test('an object that cannot be converted back is converted, and nothing is kept', async (t) => {
  const entries: string[] = []
  const shown = await convert(jobOf('v1', { schedule: { minute: 'never', hour: '1' } }), 'v1beta1', {
    unkept: ({ reason, text }) => void entries.push(reason, text),
  })
  t.strictSame(shown.spec, { cron: 'never 1' })
  t.match(entries, ['not convertible', /cannot be converted back, so that nothing is kept: spec\.cron: "never 1" is no time/])
})

t.test('fields that a version does not have are told, once for each field', async (t) => {
  const told: unknown[] = []
  const dropped = ({ object, paths, text }: Dropped): void => void told.push(object, paths, text)
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      [
        'v1beta1',
        {
          toHub: ({ spec }: JsonObject) => ({
            spec: {
              schedule: {},
              ...(spec as JsonObject),
              prioriti: 1,
              unknown: undefined,
              tasks: [{ name: 'a', command: 'x', retrys: 1 }],
            },
          }),
          fromHub: () => ({ spec: { cron: 'x', unknown: undefined }, status: { phase: 'Running', runs: 1 } }),
        },
      ],
    ]),
  })
  const object = jobOf('v1beta1', { cron: '1 2' })
  const shown = await convert(object, 'v1', { dropped })
  t.strictSame(Object.keys(shown.spec as JsonObject).sort(), ['priority', 'schedule', 'tasks'])
  t.strictSame(told, [
    { apiVersion: 'example.com/v1beta1', kind: 'Job', namespace: 'test', name: 'a' },
    ['spec.cron', 'spec.prioriti', 'spec.tasks[0].retrys'],
    'the converter from v1beta1 to v1 gave what v1 does not have',
  ])
  told.length = 0
  await convert(object, 'v1', { dropped })
  t.strictSame(told, [], 'it is the same for each object')
})

t.test('a status that goes along by itself is no mistake of the converter', async (t) => {
  const told: unknown[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([['v1alpha1', { toHub: () => ({ spec: { schedule: {} } }), fromHub: () => ({ spec: { every: { hour: '1' } } }) }]]),
  })
  const call = { dropped: ({ paths }: Dropped) => void told.push(paths) }
  const { status } = await convert(jobOf('v1alpha1', { every: { hour: '1' } }, { status: { running: true } }), 'v1', call)
  t.strictSame([status, told], [{}, []])
})
