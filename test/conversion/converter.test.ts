import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { createConverter } from '../../src/conversion/converter.ts'
import type { Dropped } from '../../src/conversion/converter.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import type { Unkept } from '../../src/conversion/converter.ts'
import type { TaskSlices } from '../../src/runtime/time-slices.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { callOf, converting, job, jobConversion, jobOf } from '../support/conversion/fixture.ts'

const convert = converting(jobConversion)
const beta = 'conversion.example.com/v1beta1'
const hub = 'conversion.example.com/v1'

function annotationsOf(object: JsonObject): Record<string, string> {
  return ((object.metadata as JsonObject).annotations ?? {}) as Record<string, string>
}

t.test('the storage version is the hub, and a spoke is converted to another one through it', async (t) => {
  const old = jobOf('v1alpha1', { every: { hour: '3' } }, { status: { running: true } })
  t.match(await convert(old, 'v1'), {
    apiVersion: 'example.com/v1',
    kind: 'Job',
    metadata: { name: 'a', namespace: 'test', uid: 'u' },
    spec: { schedule: { minute: '*', hour: '3' }, priority: 5 },
    status: { phase: 'Running', runs: 0 },
  })
  t.match(await convert(old, 'v1beta1'), { apiVersion: 'example.com/v1beta1', spec: { cron: '* 3' }, status: { phase: 'Running' } })
  t.equal(await convert(old, 'v1alpha1'), old, 'an object in its own version is unchanged')
})

t.test('a status with the same fields is copied', async (t) => {
  const status = { phase: 'Running', runs: 2 }
  t.strictSame((await convert(jobOf('v1beta1', { cron: '1 2' }, { status }), 'v1')).status, status)
  t.notOk('status' in (await convert(jobOf('v1beta1', { cron: '1 2' }), 'v1')))
})

t.test('fields that a version cannot express are kept in an annotation and restored', async (t) => {
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
  t.strictSame(Object.keys(annotationsOf(back)), [beta], 'only fields that the hub cannot express are left: the owner')
  t.strictSame((await convert(back, 'v1beta1')).spec, edited.spec)
})

t.test('a shown field that was changed takes precedence over the kept one', async (t) => {
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

t.test('an integer beyond 2^53 is a bigint in converters, and equals a number with the same JSON', async (t) => {
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
  t.notMatch(annotationsOf(shown)[hub], /serial/, 'nothing is lost, so nothing is kept')
  t.strictSame(await convert(shown, 'v1'), jobOf('v1', { schedule: { minute: '*', hour: '*' }, priority: 1, serial: 9007199254740992 }))
  const rounded = await convert(jobOf('v1', { schedule: {}, serial: 9007199254740993n }), 'v1beta1')
  t.strictSame((await convert(rounded, 'v1')).spec, { schedule: { minute: '*', hour: '*' }, priority: 5, serial: 9007199254740993n })
})

t.test('two integers that round to the same number are both kept', async (t) => {
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

t.test('fields kept for one version pass through the others', async (t) => {
  const old = jobOf('v1alpha1', { every: { hour: '3' }, color: 'blue' })
  const there = await convert(await convert(old, 'v1'), 'v1beta1')
  const back = await convert(await convert(there, 'v1'), 'v1alpha1')
  t.strictSame(back.spec, old.spec)
  t.strictSame((await convert(await convert(old, 'v1beta1'), 'v1alpha1')).spec, old.spec)
})

t.test('without lossless, fields that converters omit are lost', async (t) => {
  const convert = converting({ ...jobConversion, lossless: false })
  const shown = await convert(jobOf('v1', { schedule: { minute: '0', hour: '4' }, priority: 1 }), 'v1beta1')
  t.strictSame(shown.metadata, { name: 'a', namespace: 'test', uid: 'u' })
  t.match(await convert(shown, 'v1'), { spec: { priority: 5 } })
})

t.test('the result of a converter is pruned by the schema of the version', async (t) => {
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      ['v1beta1', { toHub: () => ({ spec: { schedule: {}, unknown: 1, notes: null } }), fromHub: () => ({ spec: { cron: 'x' } }) }],
    ]),
  })
  t.strictSame((await convert(jobOf('v1beta1', { cron: 'x' }), 'v1')).spec, { schedule: { minute: '*', hour: '*' }, priority: 5 })
})

t.test('converters receive frozen objects with defaults, without annotations of the framework, and with the target version', async (t) => {
  const seen: unknown[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([
      [
        'v1beta1',
        {
          toHub(object) {
            t.ok([object, object.metadata, object.spec].every(Object.isFrozen), 'also on the way back')
            return { spec: { schedule: {} } }
          },
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

t.test('an object without spec or metadata, as one field manager may own it, is converted', async (t) => {
  const given: JsonObject[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([['v1beta1', { toHub: () => ({ spec: {} }), fromHub: (object: JsonObject) => (given.push(object), { spec: {} }) }]]),
  })
  const converted = { apiVersion: 'example.com/v1beta1', kind: 'Job', metadata: {} }
  t.strictSame(await convert({ apiVersion: 'example.com/v1', kind: 'Job' }, 'v1beta1'), converted, 'the API server requires metadata')
  t.strictSame(given.map(Object.keys), [['apiVersion', 'kind', 'spec']], 'the converter gets a spec, and no metadata')
  t.ok(given.every((object) => Object.isFrozen(object) && Object.isFrozen(object.spec)))
})

t.test('if a converter fails on a partial object of server-side apply, the shared fields are converted', async (t) => {
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
  await t.rejects(convert(jobOf('v1beta1', { cron: 5 }), 'v1'), /split is not a function/, 'a complete object is an error')
})

t.test('labels and annotations may change, other metadata may not', async (t) => {
  const convertTo = (result: unknown) =>
    converting({ ...jobConversion, lossless: false, spokes: new Map([['v1beta1', { toHub: () => result, fromHub: () => result }]]) })(
      jobOf('v1beta1', { cron: 'x' }, { metadata: { name: 'a', uid: 'u', labels: { a: 'b' }, annotations: { c: 'd' } } }),
      'v1',
    )
  const spec = { schedule: {} }
  const metadata = { name: 'a', uid: 'u' }
  for (const [written, expected] of [
    [{ labels: { x: 'y' } }, { ...metadata, labels: { x: 'y' }, annotations: { c: 'd' } }],
    [{ annotations: {} }, { ...metadata, labels: { a: 'b' } }],
    [
      { name: 'a', uid: 'u', labels: { a: 'b' } },
      { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
    ],
  ])
    t.strictSame((await convertTo({ spec, metadata: written })).metadata, expected)

  const wrong: [unknown, RegExp][] = [
    [undefined, /the converter returned nothing instead of an object/],
    [[], /returned a list instead/],
    [null, /returned null instead/],
    [{ spec: 'x' }, /returned a string as spec/],
    [{ spec, metadata: { name: 'b' } }, /changed metadata\.name from "a" to "b": only labels and annotations may change/],
    [{ spec, metadata: { finalizers: ['x/y'] } }, /changed metadata\.finalizers from nothing to \["x\/y"\]/],
    [{ spec, metadata: { labels: { a: 5 } } }, /returned metadata\.labels with values that are not strings/],
    [{ spec, metadata: 5 }, /returned a number as metadata/],
    [{ spec, kind: 'Other' }, /wrote kind, and may write spec and status/],
    [{ spec, apiVersion: 'example.com/v7' }, /wrote apiVersion/],
    [{ spec, data: {} }, /wrote data/],
  ]
  for (const [result, message] of wrong) await t.rejects(convertTo(result), { code: 'PRO_INPUT', message }, String(message))
  t.ok(await convertTo({ apiVersion: 'example.com/v1beta1', kind: 'Job', spec, data: undefined }), 'apiVersion may be that of the source')
})

t.test('an object that cannot be converted back is converted, and nothing is kept', async (t) => {
  const entries: string[] = []
  const shown = await convert(jobOf('v1', { schedule: { minute: 'never', hour: '1' } }), 'v1beta1', {
    unkept: ({ reason, text }) => void entries.push(reason, text),
  })
  t.strictSame(shown.spec, { cron: 'never 1' })
  t.match(entries, ['not convertible', /cannot be converted back, so that nothing is kept: spec\.cron: "never 1" is no time/])
})

t.test('fields that a version does not have are reported once each', async (t) => {
  const reported: unknown[] = []
  const dropped = ({ object, paths, text }: Dropped): void => void reported.push(object, paths, text)
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
  t.strictSame(reported, [
    { apiVersion: 'example.com/v1beta1', kind: 'Job', namespace: 'test', name: 'a' },
    ['spec.cron', 'spec.prioriti', 'spec.tasks[0].retrys'],
    'the converter from v1beta1 to v1 returned fields that v1 does not have',
  ])
  reported.length = 0
  await convert(object, 'v1', { dropped })
  t.strictSame(reported, [], 'not reported again for each object')
})

t.test('a copied status is no mistake of the converter', async (t) => {
  const reported: unknown[] = []
  const convert = converting({
    ...jobConversion,
    spokes: new Map([['v1alpha1', { toHub: () => ({ spec: { schedule: {} } }), fromHub: () => ({ spec: { every: { hour: '1' } } }) }]]),
  })
  const call = { dropped: ({ paths }: Dropped) => void reported.push(paths) }
  const { status } = await convert(jobOf('v1alpha1', { every: { hour: '1' } }, { status: { running: true } }), 'v1', call)
  t.strictSame([status, reported], [{}, []])
})

t.test('an object of another kind or version is refused', async (t) => {
  const converter = createConverter(jobConversion)
  t.equal(converter.kind, job)
  t.strictSame(converter.versions, new Set(['v1', 'v1beta1', 'v1alpha1']))
  const object = jobOf('v1', { schedule: {} })
  const has = 'Job.example.com has v1, v1beta1, v1alpha1'
  for (const [given, version, message] of [
    [object, 'v7', `"Job" of "example.com/v1" cannot be converted to v7: ${has}`],
    [{ ...object, kind: 'Pod' }, 'v1beta1', `"Pod" of "example.com/v1" cannot be converted to v1beta1: ${has}`],
    [{ ...object, apiVersion: 'example.com/v7' }, 'v1', `"Job" of "example.com/v7" cannot be converted to v1: ${has}`],
    [{ ...object, apiVersion: 'example.org/v1' }, 'v1', `"Job" of "example.org/v1" cannot be converted to v1: ${has}`],
    [{ ...object, apiVersion: 'v1' }, 'v1', `"Job" of "v1" cannot be converted to v1: ${has}`],
    [{ ...object, apiVersion: 5 }, 'v1', `"Job" of 5 cannot be converted to v1: ${has}`],
    [{ spec: {} }, 'v1', `undefined of undefined cannot be converted to v1: ${has}`],
  ] as const)
    await t.rejects(converter.convert(given, version, callOf()), { code: 'PRO_INPUT', message })
})

t.test('between versions with the same fields only the apiVersion changes', async (t) => {
  const spec = Type.Object({ a: Type.Optional(Type.String()), b: Type.Integer({ default: 1 }) })
  const kind = defineKind({
    group: 'example.com',
    kind: 'Same',
    versions: [
      { name: 'v2', storage: true, spec },
      { name: 'v1', spec },
    ],
  })
  const convert = converting(defineConversion(kind, { converters: {} }))
  const annotations = { 'conversion.example.com/v2': 'x' }
  const object = { apiVersion: 'example.com/v1', kind: 'Same', metadata: { name: 'a', annotations }, spec: { a: 'x', odd: 1 } }
  t.strictSame(await convert(object, 'v2'), { ...object, apiVersion: 'example.com/v2' })
  t.strictSame(await convert({ ...object, apiVersion: 'example.com/v2' }, 'v1'), object)
})

t.test('lost fields are reported with the object and the reason', async (t) => {
  const reported: Unkept[] = []
  const call = { unkept: (unkept: Unkept) => void reported.push(unkept) }
  const object = { kind: 'Job', namespace: 'test', name: 'a' }
  const carrying = (version: string, spec: JsonObject, text: string): JsonObject =>
    jobOf(version, spec, { metadata: { name: 'a', namespace: 'test', annotations: { [version === 'v1' ? beta : hub]: text } } })
  const tellings: readonly (readonly [JsonObject, string, Unkept['reason'], string])[] = [
    [
      jobOf('v1', { schedule: {}, notes: { n: 'x'.repeat(70_000) } }),
      'v1beta1',
      'too large',
      `what v1beta1 cannot express of v1 is too large for the annotation ${hub} and is lost`,
    ],
    [
      carrying('v1beta1', { cron: '1 2' }, '{'),
      'v1',
      'not accepted',
      'what an annotation has kept of v1 is malformed, and is not restored',
    ],
    [
      carrying('v1beta1', { cron: '1 2' }, '{"fields":{"spec":{"fields":{"notes":{"value":7},"serial":{"value":"x"}}}}}'),
      'v1',
      'not accepted',
      'what an annotation has kept of v1 is refused by the schema: spec.notes, spec.serial, and is not restored',
    ],
    [
      carrying('v1beta1', { cron: '1 2' }, '{"fields":{"spec":{"fields":{"tasks":{"value":[{"name":"a","command":"x"}]}}}}}'),
      'v1',
      'not accepted',
      'what an annotation has kept of v1 would change what v1beta1 shows, and is not restored',
    ],
  ]
  for (const [given, to, reason, text] of tellings) {
    reported.length = 0
    const converted = await convert(given, to, call)
    t.strictSame(reported, [{ reason, object: { apiVersion: given.apiVersion, ...object }, text }])
    t.strictSame(annotationsOf(converted), {}, 'no annotation is left, and none is added')
  }
  reported.length = 0
  await convert(jobOf('v1', { schedule: { minute: 'never' } }), 'v1beta1', call)
  const [{ error, ...rest }] = reported as [Unkept]
  t.match(error, { message: 'spec.cron: "never *" is no time' })
  t.strictSame(
    [reported.length, rest],
    [
      1,
      {
        reason: 'not convertible',
        object: { apiVersion: 'example.com/v1', ...object },
        text: 'an object that was converted from v1 to v1beta1 cannot be converted back, so that nothing is kept: spec.cron: "never *" is no time',
      },
    ],
  )
  reported.length = 0
  await convert(carrying('v1beta1', { cron: '1 2' }, '{"fields":{"spec":{"fields":{"notes":{"value":{"a":"b"}}}}}}'), 'v1', call)
  await convert(carrying('v1beta1', { cron: '1 2' }, '{"fields":{}}'), 'v1', call)
  t.strictSame(reported, [], 'kept fields are not reported')
})

t.test('a converter that throws is reported once, except in the way back', async (t) => {
  let threw = 0
  const call = { threw: () => void (threw += 1) }
  await t.rejects(convert(jobOf('v1beta1', { cron: 'never' }), 'v1', call), { message: 'spec.cron: "never" is no time' })
  t.equal(threw, 1)
  await convert(jobOf('v1', { schedule: { minute: 'never' } }), 'v1beta1', call)
  t.equal(threw, 1)
  await t.rejects(convert({ ...jobOf('v1', {}), kind: 'Pod' }, 'v1beta1', call))
  t.equal(threw, 1)
})

t.test('a partial object that cannot be converted is logged at debug', async (t) => {
  const lines: JsonObject[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(JSON.parse(line) as JsonObject) } })
  const failing = (): never => {
    throw new Error('no schedule')
  }
  const convert = converting({ ...jobConversion, lossless: false, spokes: new Map([['v1beta1', { toHub: failing, fromHub: failing }]]) })
  let threw = 0
  await convert(jobOf('v1beta1', { owner: 'me' }), 'v1', { logger, threw: () => void (threw += 1) })
  t.equal(threw, 0)
  t.strictSame(
    lines.map(({ level, msg, apiVersion, kind, namespace, name, err }) => [
      level,
      msg,
      apiVersion,
      kind,
      namespace,
      name,
      (err as JsonObject).message,
    ]),
    [
      [
        'debug',
        'an object that is not whole was converted to v1 by what it has in common with it',
        'example.com/v1beta1',
        'Job',
        'test',
        'a',
        'no schedule',
      ],
    ],
  )
})

t.test('converters receive the versions, the signal and the logger of the call', async (t) => {
  const seen: unknown[] = []
  const keep = (name: string, result: object) => (_object: unknown, context: object) => {
    seen.push([name, context])
    return result
  }
  const spokes = new Map([
    ['v1beta1', { toHub: keep('toHub', { spec: { schedule: {} } }), fromHub: keep('fromHub', { spec: { cron: 'x' } }) }],
  ])
  const call = callOf()
  await createConverter({ ...jobConversion, spokes }).convert(jobOf('v1beta1', { cron: '1 2' }), 'v1', call)
  const { signal, logger } = call
  t.strictSame(seen, [
    ['toHub', { from: 'v1beta1', to: 'v1', signal, logger }],
    ['fromHub', { from: 'v1', to: 'v1beta1', signal, logger }],
  ])
})

t.test('an object without a spec gets one only from its converter', async (t) => {
  const seen: unknown[] = []
  const spokes = (spec: object) =>
    new Map([
      [
        'v1beta1',
        {
          toHub: (object: JsonObject) => {
            seen.push(object.spec)
            return { spec, status: { phase: 'Running', runs: 1 } }
          },
          fromHub: () => ({ spec: {} }),
        },
      ],
    ])
  const object = { apiVersion: 'example.com/v1beta1', kind: 'Job', metadata: { name: 'a' } }
  const of = (spec: object): Promise<JsonObject> => converting({ ...jobConversion, lossless: false, spokes: spokes(spec) })(object, 'v1')
  const expected = { apiVersion: 'example.com/v1', kind: 'Job', metadata: { name: 'a' }, status: { phase: 'Running', runs: 1 } }
  t.strictSame(await of({}), expected)
  t.strictSame(await of({ serial: 7 }), { ...expected, spec: { serial: 7, priority: 5 } })
  t.strictSame(seen, [{}, {}])
  t.strictSame(
    await converting({ ...jobConversion, lossless: false, spokes: spokes({}) })({ ...object, spec: { cron: 'x' } }, 'v1'),
    { ...expected, spec: { priority: 5 } },
    'an existing spec is kept',
  )
})

t.test('when the time slice is used up, the event loop gets a turn around each converter', async (t) => {
  const events: string[] = []
  const next = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    events.push('turn')
  }
  const slices = { next } as unknown as TaskSlices
  const log = (name: string, result: object) => () => (events.push(name), result)
  const spokes = new Map([
    ['v1beta1', { toHub: log('toHub', { spec: { schedule: {} } }), fromHub: log('fromHub', { spec: { cron: 'x' } }) }],
  ])
  await converting({ ...jobConversion, spokes })(jobOf('v1beta1', { cron: '1 2' }), 'v1', { slices })
  t.strictSame(events, ['turn', 'turn', 'toHub', 'turn', 'turn', 'fromHub', 'turn', 'turn'], 'defaults, schema and comparison have theirs')
  events.length = 0
  const idle = { next: () => undefined } as unknown as TaskSlices
  await converting({ ...jobConversion, spokes })(jobOf('v1beta1', { cron: '1 2' }), 'v1', { slices: idle })
  t.strictSame(events, ['toHub', 'fromHub'])
})

t.test('a kept field that is unchanged in the way back stays kept, even if another field differs', async (t) => {
  // `toHub` copies the name to the mode unchanged, but `fromHub` writes the name in upper case. If a v1 object has a name with lower-case
  // letters, a conversion to v2 and back to v1 therefore changes the name.
  const kind = defineKind({
    group: 'example.com',
    kind: 'Odd',
    versions: [
      { name: 'v2', storage: true, spec: Type.Object({ mode: Type.String(), extra: Type.Optional(Type.String()) }) },
      { name: 'v1', spec: Type.Object({ name: Type.String() }) },
    ],
  })
  const convert = converting(
    defineConversion(kind, {
      converters: {
        v1: {
          toHub: ({ spec }) => ({ spec: { mode: spec.name } }),
          fromHub: ({ spec }) => ({ spec: { name: spec.mode.toUpperCase() } }),
        },
      },
    }),
  )
  const annotations = { 'conversion.example.com/v2': '{"fields":{"spec":{"fields":{"extra":{"value":"x"}}}}}' }
  const back = await convert(
    { apiVersion: 'example.com/v1', kind: 'Odd', metadata: { name: 'a', annotations }, spec: { name: 'low' } },
    'v2',
  )
  t.strictSame(back.spec, { mode: 'low', extra: 'x' })
  t.match((back.metadata as JsonObject).annotations, { 'conversion.example.com/v1': /low/ })
})

t.test('an object without restored fields is converted back once', async (t) => {
  let back = 0
  const fromHub = (): never => {
    back += 1
    throw new Error('no way back')
  }
  const convert = converting({
    ...jobConversion,
    spokes: new Map([['v1beta1', { toHub: () => ({ spec: { schedule: {} } }), fromHub }]]),
  })
  const reported: string[] = []
  const metadata = { name: 'a', annotations: { [hub]: '{"fields":{}}' } }
  await convert(jobOf('v1beta1', { cron: '1 2' }, { metadata }), 'v1', { unkept: ({ reason }) => void reported.push(reason) })
  t.strictSame([back, reported], [1, ['not convertible']])
})

t.test('only status fields of the same shape are shared in a partial object', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Part',
    versions: [
      {
        name: 'v2',
        storage: true,
        spec: Type.Object({ a: Type.String() }),
        status: Type.Object({ same: Type.String(), odd: Type.Integer() }),
      },
      { name: 'v1', spec: Type.Object({ b: Type.String() }), status: Type.Object({ same: Type.String(), odd: Type.String() }) },
    ],
  })
  const failing = (): never => {
    throw new Error('not whole')
  }
  const convert = converting(defineConversion(kind, { converters: { v1: { toHub: failing, fromHub: failing } }, lossless: false }))
  const object = { apiVersion: 'example.com/v1', kind: 'Part', metadata: { name: 'a' }, status: { same: 'x', odd: 'y' } }
  t.strictSame(await convert(object, 'v2'), { ...object, apiVersion: 'example.com/v2', status: { same: 'x' } })
})

t.test('kept fields are not restored if only they make the way back possible, with another result', async (t) => {
  const spokes = new Map([
    [
      'v1beta1',
      {
        toHub: () => ({ spec: { schedule: {} } }),
        fromHub: ({ spec }: JsonObject) => {
          if ((spec as JsonObject).notes === undefined) throw new Error('no notes')
          return { spec: { cron: 'other' } }
        },
      },
    ],
  ])
  const reported: string[] = []
  const metadata = { name: 'a', annotations: { [hub]: '{"fields":{"spec":{"fields":{"notes":{"value":{"a":"b"}}}}}}' } }
  const converted = await converting({ ...jobConversion, spokes })(jobOf('v1beta1', { cron: '1 2' }, { metadata }), 'v1', {
    unkept: ({ reason }) => void reported.push(reason),
  })
  t.strictSame(converted.spec, { schedule: { minute: '*', hour: '*' }, priority: 5 })
  t.strictSame(reported, ['not convertible', 'not accepted'])
})
