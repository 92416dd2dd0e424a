/** Tests of the conversion of CronJobs between v1 and v2. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { jsonEqual, stringifyJson } from '../../../src/api/json.ts'
import { conversion, scheduleAnnotation } from '../../../src/operators/cronjob/conversion.ts'
import { converting } from '../../support/conversion/fixture.ts'
import { jobTemplate } from '../../support/cronjob/objects.ts'
import { fc } from '../../support/property.ts'

const convert = converting(conversion)
const group = 'batch.tutorial.kubebuilder.io'

const macros = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
/**
 * Schedules that the webhook refuses. A stored CronJob can nevertheless have such a schedule, if the CronJob was written without a call of
 * the webhook.
 */
const refused = ['@every 5m', 'TZ=UTC * * * * *', 'CRON_TZ=x 1 2 3 4', '', ' ', 'never', '1 2 3 4 5 6', '@', 'ä ö ü ß é', '\u00a0 * * * *']
const part = fc.oneof(
  fc.constantFrom('*', '*', '?', '0', '*/5', '1-5', 'MON-FRI', '1,2,3'),
  fc.string({ minLength: 1, maxLength: 8 }).filter((text) => /^[^ \t\n\f\r]+$/.test(text)),
)
const blank = fc.constantFrom(' ', ' ', ' ', '  ', '\t', ' \n')
const anySchedule = fc.oneof(
  fc.constantFrom(...macros, ...refused),
  fc.string({ maxLength: 20 }),
  fc.tuple(fc.array(part, { minLength: 5, maxLength: 5 }), fc.array(blank, { minLength: 6, maxLength: 6 })).map(([parts, blanks]) => {
    const text = parts.map((one, index) => `${index === 0 ? '' : blanks[index]!}${one}`).join('')
    return blanks[0] === '\t' ? ` ${text} ` : text
  }),
)
const fieldNames = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek']
const anyFields = fc.record(Object.fromEntries(fieldNames.map((name) => [name, part])), { requiredKeys: [] })

const status = {
  active: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a-1', namespace: 'test', uid: 'u' }],
  activeCount: 1,
  lastScheduleTime: '2026-01-01T00:00:00Z',
  conditions: [{ type: 'Available', status: 'True', reason: 'A', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
}
const rest = fc.record({
  annotations: fc.option(fc.dictionary(fc.constantFrom('a', 'b/c'), fc.string(), { minKeys: 1 }), { nil: undefined }),
  status: fc.constantFrom(undefined, status),
  suspend: fc.boolean(),
  limit: fc.nat(9),
})
type Rest = typeof rest extends fc.Arbitrary<infer Value> ? Value : never

function objectOf(version: string, schedule: unknown, { annotations, status: current, suspend, limit }: Rest): JsonObject {
  const spec = { schedule, suspend, concurrencyPolicy: 'Allow', jobTemplate, successfulJobsHistoryLimit: limit, failedJobsHistoryLimit: 1 }
  const metadata = { name: 'a', uid: 'u', labels: { l: 'x' }, ...(annotations !== undefined && { annotations }) }
  return {
    apiVersion: `${group}/${version}`,
    kind: 'CronJob',
    metadata,
    spec,
    ...(current !== undefined && { status: current }),
  } as JsonObject
}

/** Converts the object to the version `other` and back. Throws if the result differs from `expected`. */
async function checkRoundTrip(object: JsonObject, other: string, expected = object): Promise<void> {
  const there = await convert(structuredClone(object), other)
  const back = await convert(structuredClone(there), other === 'v1' ? 'v2' : 'v1')
  if (!jsonEqual(back, expected)) throw new Error(`${stringifyJson(object)}\nbecame ${stringifyJson(there)}\nand ${stringifyJson(back)}`)
}

t.test('v1 → v2 → v1 is the identity, for every text', async () => {
  await fc.assert(
    fc.asyncProperty(anySchedule, rest, (schedule, others) => checkRoundTrip(objectOf('v1', schedule, others), 'v2')),
    { numRuns: 1000 },
  )
})

t.test('v2 → v1 → v2 is the identity, except that an explicit * becomes absent', async () => {
  await fc.assert(
    fc.asyncProperty(anyFields, rest, (fields, others) => {
      const normal = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '*'))
      return checkRoundTrip(objectOf('v2', fields, others), 'v1', objectOf('v2', normal, others))
    }),
    { numRuns: 1000 },
  )
})

const plain: Rest = { annotations: undefined, status: undefined, suspend: false, limit: 3 }
const inV2 = async (text: string): Promise<JsonObject> => convert(objectOf('v1', text, plain), 'v2')
const textOf = async (object: JsonObject): Promise<unknown> => ((await convert(object, 'v1')).spec as JsonObject).schedule

t.test('a text has its fields in v2, and the annotation only when they do not express it', async (t) => {
  for (const [text, schedule, kept] of [
    ['*/1 * * * *', { minute: '*/1' }, undefined],
    ['0 3 * * MON', { minute: '0', hour: '3', dayOfWeek: 'MON' }, undefined],
    ['@hourly', { minute: '0' }, '@hourly'],
    ['0  3 * * *', { minute: '0', hour: '3' }, '0  3 * * *'],
    ['@every 5m', {}, '@every 5m'],
    ['', {}, ''],
  ] as const) {
    const { spec, metadata } = await inV2(text)
    t.strictSame((spec as JsonObject).schedule, schedule, text)
    t.equal(((metadata as JsonObject).annotations as JsonObject | undefined)?.[scheduleAnnotation], kept)
  }
})

t.test('fields that were changed take precedence over the annotation, which is then removed', async (t) => {
  const object = await inV2('@hourly')
  const changed = { ...object, spec: { ...(object.spec as JsonObject), schedule: { minute: '5' } } }
  const back = await convert(changed, 'v1')
  t.match(back, { spec: { schedule: '5 * * * *' } })
  t.equal((back.metadata as JsonObject).annotations, undefined)
  t.equal(await textOf({ ...object, spec: { ...(object.spec as JsonObject), schedule: { minute: '0', hour: '*' } } }), '@hourly')
})

t.test('an annotation that is longer than a schedule may be is ignored and removed', async (t) => {
  const object = await inV2('@hourly')
  const annotated = (text: string) => ({
    ...object,
    metadata: { ...(object.metadata as JsonObject), annotations: { [scheduleAnnotation]: text } },
  })
  const text = (length: number): string => `0${' '.repeat(length - 8)}* * * *`
  t.equal(await textOf(annotated(text(1004))), text(1004))
  const long = await convert(annotated(text(1005)), 'v1')
  t.match(long, { spec: { schedule: '0 * * * *' } })
  t.equal((long.metadata as JsonObject).annotations, undefined)
})

t.test('a text that has not five fields is not scheduled by what v2 shows of it', async (t) => {
  t.equal(await textOf(await inV2('@every 5m')), '@every 5m')
})

t.test('an object with only the fields of one field manager is converted', async (t) => {
  const partial = (version: string, spec?: object): JsonObject =>
    ({ apiVersion: `${group}/${version}`, kind: 'CronJob', ...(spec && { spec }) }) as JsonObject
  t.strictSame(
    await convert(partial('v2', { schedule: { minute: '5' } }), 'v1').then(({ spec }) => (spec as JsonObject).schedule),
    '5 * * * *',
  )
  t.match(await convert(partial('v1', { suspend: true }), 'v2'), { metadata: {}, spec: { suspend: true } })
  t.match(await convert(partial('v2'), 'v1'), { kind: 'CronJob', metadata: {} })
})
