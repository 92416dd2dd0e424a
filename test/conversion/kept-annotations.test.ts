import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { validateAnnotations } from '../../src/api/object-meta.ts'
import type { Unkept } from '../../src/conversion/converter.ts'
import { keptAnnotation, maxKeptBytes, putKeptAnnotations, takeKeptAnnotations } from '../../src/conversion/kept-annotations.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { converting, job, jobConversion, jobOf } from '../support/conversion/fixture.ts'
import { jsonArbitrary } from '../fuzz/values.ts'
import { fc } from '../support/property.ts'

const convert = converting(jobConversion)
const hub = 'conversion.example.com/v1'

/**
 * Converts an object from v1beta1 to v1, the hub. `text` is the value of the object's annotation `conversion.example.com/v1`, which
 * normally stores the fields that v1beta1 cannot express. Returns the converted object, and the reasons why fields were not restored from
 * the annotation.
 */
async function carrying(text: string): Promise<{ object: JsonObject; unkept: string[] }> {
  const unkept: string[] = []
  const metadata = { name: 'a', annotations: { [hub]: text } }
  const spec = { cron: '1 2', tasks: [{ name: 'a', command: 'x' }] }
  const object = await convert(jobOf('v1beta1', spec, { metadata }), 'v1', { unkept: ({ reason }) => void unkept.push(reason) })
  return { object, unkept }
}
const plain = { schedule: { minute: '1', hour: '2' }, tasks: [{ name: 'a', command: 'x', retries: 3 }], priority: 5 }
const kept = (fields: JsonValue): string => JSON.stringify({ fields: { spec: { fields } } })
/**
 * Converts an object from v1 to v1beta1, and returns the entry for the field `priority` in the annotation of the converted object. v1beta1
 * does not have this field, so a conversion back to v1 sets `priority` to its default. The field `shown` of the entry contains a digest of
 * the default.
 */
const priority = async (): Promise<JsonObject> => {
  const shown = await convert(jobOf('v1', { schedule: {}, priority: 1 }), 'v1beta1')
  const text = ((shown.metadata as JsonObject).annotations as Record<string, string>)[hub]!
  return (JSON.parse(text) as { fields: { spec: { fields: { priority: JsonObject } } } }).fields.spec.fields.priority
}

t.test('an annotation that was not written by the framework is ignored, counted and removed', async (t) => {
  for (const text of [
    '',
    'x',
    'null',
    '5',
    '[]',
    '{}',
    '{"fields":5}',
    '{"fields":[]}',
    '{"fields":{"metadata":{"fields":{"name":{"value":"b"}}}}}',
    '{"fields":{"kind":{"value":"Pod"}}}',
    `{"fields":{"spec":{"fields":{"a":${'{"fields":{"a":'.repeat(2000)}{}${'}}'.repeat(2000)}}}}`,
    kept({ notes: { value: { a: 'x'.repeat(70_000) } } }),
  ]) {
    const { object, unkept } = await carrying(text)
    t.strictSame(object.spec, plain, text.slice(0, 60))
    t.strictSame(object.metadata, { name: 'a' })
    if (!text.includes('"a":{"fields"')) t.strictSame(unkept, ['not accepted'], text.slice(0, 60))
  }
})

t.test('invalid entries are ignored', async (t) => {
  const { shown } = (await priority()) as { shown: string }
  for (const fields of [
    { priority: 5 },
    { priority: null },
    { priority: {} },
    { priority: { value: 1 } },
    { priority: { value: 1, shown: 'other' } },
    { priority: { value: 1, shown: 5 } },
    { priority: { fields: { a: { value: 1 } } } },
    { priority: { items: [] } },
    { tasks: { items: [5, [], [['b'], { value: 1 }], [['a'], { fields: { command: { value: 'y' } } }]] } },
    { tasks: { items: { 0: 1 } } },
    { unknown: { value: 1 } },
    { __proto__: { value: 1 } },
    JSON.parse('{"__proto__":{"value":{"polluted":true}}}') as JsonObject,
  ] as JsonObject[]) {
    const { object } = await carrying(kept(fields))
    t.strictSame(object.spec, plain, JSON.stringify(fields))
  }
  t.strictSame(
    (await carrying(kept({ priority: { value: 1, shown } }))).object.spec,
    { ...plain, priority: 1 },
    'a valid entry is restored',
  )
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

t.test('values that the schema refuses are not restored, and the rest is', async (t) => {
  const { shown } = (await priority()) as { shown: string }
  const annotation = kept({
    priority: { value: 999, shown },
    notes: { value: { a: 'b' } },
    serial: { value: 'text' },
  })
  const { object, unkept } = await carrying(annotation)
  t.strictSame(object.spec, { ...plain, notes: { a: 'b' } })
  t.strictSame(unkept, ['not accepted'])
  const nested = await carrying(kept({ notes: { value: { a: 5 } }, tasks: { items: [[['a'], { fields: { retries: { value: 1.5 } } }]] } }))
  t.strictSame(nested.object.spec, plain)
})

t.test('for any annotation, the result is valid in the hub', async () => {
  const schema = schemaOf(job)
  const annotation = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ fields: fc.record({ spec: fc.oneof(jsonArbitrary, fc.record({ fields: jsonArbitrary })) }) })
      .map((value) => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(annotation, async (text) => {
      const { object } = await carrying(text)
      if (schema.validate(object).length > 0) throw new Error(JSON.stringify(object))
    }),
    { numRuns: 300 },
  )
})

t.test('an annotation for the own version is removed', async (t) => {
  const text = kept({ notes: { value: { a: 'b' } } })
  const metadata = { name: 'a', annotations: { [hub]: text, 'conversion.example.com/v1alpha1': '{}' } }
  const shown = await convert(jobOf('v1', { schedule: {} }, { metadata }), 'v1beta1')
  t.strictSame(shown.metadata, { name: 'a', annotations: { 'conversion.example.com/v1alpha1': '{}' } }, 'but not one for a third version')
})

t.test('fields that are too large are not kept, and the object is converted nevertheless', async (t) => {
  const notes = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`n${index}`, 'x'.repeat(1000)]))
  const unkept: string[] = []
  const call = { unkept: ({ reason }: Unkept) => void unkept.push(reason) }
  const shown = await convert(jobOf('v1', { schedule: {}, notes }), 'v1beta1', call)
  t.strictSame(shown.spec, { cron: '* *' })
  t.strictSame(shown.metadata, { name: 'a', namespace: 'test', uid: 'u' })
  t.strictSame(unkept, ['too large'])

  const metadata = { name: 'a', annotations: { big: 'x'.repeat(256 * 1024 - 50) } }
  const full = await convert(jobOf('v1', { schedule: {}, priority: 1 }, { metadata }), 'v1beta1', call)
  t.strictSame(full.metadata, metadata, 'the API server would refuse more than 256 KiB, and with it every list of the kind')
  t.strictSame(unkept, ['too large', 'too large'])
})

t.test('kept fields of several versions share the limit of all annotations', async (t) => {
  const half = 'x'.repeat(maxKeptBytes / 2)
  const metadata = { name: 'a', annotations: { own: 'x'.repeat(256 * 1024 - maxKeptBytes) } }
  const put = putKeptAnnotations(job, metadata, new Map(['v1', 'v1beta1', 'v1alpha1'].map((version) => [version, half])))
  t.strictSame(Object.keys(put.metadata?.annotations as JsonObject), ['own', hub])
  t.strictSame(put.unkept, ['v1beta1', 'v1alpha1'])
  t.strictSame(validateAnnotations(put.metadata?.annotations, 'metadata.annotations'), [])

  const unkept = (room: number): readonly string[] =>
    putKeptAnnotations(
      job,
      { annotations: { own: 'x'.repeat(256 * 1024 - 'own'.length - room) } },
      new Map([
        ['v1', 'a'],
        ['v1beta1', 'b'],
      ]),
    ).unkept
  const room = hub.length + 'conversion.example.com/v1beta1'.length + 2
  t.strictSame([unkept(room), unkept(room - 1)], [[], ['v1beta1']], 'the names of the annotations count')
})

t.test('only annotations for versions of the kind are removed', async (t) => {
  t.equal(keptAnnotation(job, 'v1'), hub)
  const others = { 'conversion.example.com/v7': 'a', 'conversion.other.com/v1': 'b', own: 'c' }
  const metadata = { name: 'a', annotations: { ...others, [hub]: 'x', 'conversion.example.com/v1beta1': 5 }, labels: { l: 'm' } }
  const before = structuredClone(metadata)
  const taken = takeKeptAnnotations(job, metadata)
  t.strictSame(taken, { metadata: { name: 'a', labels: { l: 'm' }, annotations: others }, texts: new Map([['v1', 'x']]) })
  t.strictSame(metadata, before)
  t.strictSame(takeKeptAnnotations(job, { name: 'a', annotations: { [hub]: 'x' } }), {
    metadata: { name: 'a' },
    texts: new Map([['v1', 'x']]),
  })
  for (const untouched of [{}, { name: 'a' }, { annotations: others }, { annotations: null }, { annotations: [] }] as JsonObject[]) {
    const { metadata: unchanged, texts } = takeKeptAnnotations(job, untouched)
    t.equal(unchanged, untouched)
    t.equal(texts.size, 0)
  }
  for (const none of [undefined, null, 'x', []]) t.strictSame(takeKeptAnnotations(job, none), { metadata: undefined, texts: new Map() })
})

t.test('kept fields are added to existing annotations', async (t) => {
  const metadata = { name: 'a', annotations: { own: 'x' } }
  t.strictSame(putKeptAnnotations(job, metadata, new Map([['v1', 'kept']])), {
    metadata: { name: 'a', annotations: { own: 'x', [hub]: 'kept' } },
    unkept: [],
  })
  t.strictSame(metadata, { name: 'a', annotations: { own: 'x' } })
  t.strictSame(putKeptAnnotations(job, undefined, new Map([['v1', 'kept']])), { metadata: { annotations: { [hub]: 'kept' } }, unkept: [] })
  t.strictSame(putKeptAnnotations(job, { annotations: null }, new Map([['v1', 'k']])), {
    metadata: { annotations: { [hub]: 'k' } },
    unkept: [],
  })
  const nothing = putKeptAnnotations(job, metadata, new Map())
  t.equal(nothing.metadata, metadata)
  t.strictSame(nothing.unkept, [])
  t.strictSame(putKeptAnnotations(job, undefined, new Map([['v1', 'x'.repeat(maxKeptBytes + 1)]])), { metadata: undefined, unkept: ['v1'] })
})

t.test('at most 64 KiB are kept per version, and 256 KiB of annotations in total, in bytes', async (t) => {
  const unkept = (text: string, annotations: JsonObject = {}): readonly string[] =>
    putKeptAnnotations(job, { annotations }, new Map([['v1', text]])).unkept
  t.strictSame(unkept('x'.repeat(64 * 1024)), [])
  t.strictSame(unkept('x'.repeat(64 * 1024 + 1)), ['v1'])
  t.strictSame(unkept('ü'.repeat(32 * 1024)), [])
  t.strictSame(unkept(`${'ü'.repeat(32 * 1024)}x`), ['v1'])
  const room = 256 * 1024 - hub.length - 10 - 'own'.length - 'ö'.length * 2
  t.strictSame(unkept('x'.repeat(10), { own: `${'x'.repeat(room)}ö` }), [])
  t.strictSame(unkept('x'.repeat(11), { own: `${'x'.repeat(room)}ö` }), ['v1'])
  t.strictSame(unkept('x'.repeat(10), { öwn: `${'x'.repeat(room)}ö` }), ['v1'])
  const most = putKeptAnnotations(job, { annotations: { own: `${'x'.repeat(room)}ö` } }, new Map([['v1', 'x'.repeat(10)]])).metadata
  t.strictSame(validateAnnotations(most?.annotations, 'metadata.annotations'), [])
})
