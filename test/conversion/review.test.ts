import { getEventListeners } from 'node:events'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { failure } from '../../src/api/status.ts'
import { createConverter } from '../../src/conversion/converter.ts'
import type { ConversionCall, ObjectConverter } from '../../src/conversion/converter.ts'
import type { ConversionAnswer } from '../../src/conversion/review.ts'
import { answerConversion, decodeConversionReview, failedConversion } from '../../src/conversion/review.ts'
import { LoopTurns, TaskSlices } from '../../src/runtime/time-slices.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { callOf, jobConversion, jobOf, reviewOf } from '../support/conversion/fixture.ts'

const timeSlices = (): TaskSlices => new TaskSlices(new LoopTurns(), 10)
const textOf = ({ pieces }: ConversionAnswer): string => Buffer.concat(pieces).toString()
const decode = (body: Buffer | string | object | undefined, slices = timeSlices()) =>
  decodeConversionReview(
    body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    slices,
  )

/** A converter that sets the field `to`, and fails for an object with the field `fails`. */
const converter = {
  convert: async (object: JsonObject, version: string) => {
    if (object.fails !== undefined) throw new Error(String(object.fails))
    return { ...object, to: version }
  },
} as unknown as ObjectConverter

interface Answered {
  readonly answer: ConversionAnswer
  readonly converted: readonly boolean[]
  readonly lines: readonly JsonObject[]
}

async function answer(
  objects: readonly JsonObject[],
  find: (group: string, kind: unknown) => ObjectConverter | undefined = () => converter,
  call: Partial<ConversionCall> = {},
): Promise<Answered> {
  const lines: JsonObject[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(JSON.parse(line) as JsonObject) } })
  const converted: boolean[] = []
  const request = await decode(reviewOf(objects, 'example.com/v2', 'u"1'))
  const answer = await answerConversion(request, find, callOf({ logger, ...call }), timeSlices(), (failed) => converted.push(failed))
  return { answer, converted, lines }
}

t.test('a review is decoded except for its objects', async (t) => {
  const review = reviewOf([{ a: 1 }, { b: 2 }], 'example.com/v2', 'u')
  const { objects, body, ...rest } = await decode(review)
  t.strictSame(rest, { uid: 'u', desiredAPIVersion: 'example.com/v2' })
  t.equal(body.toString(), JSON.stringify(review))
  t.strictSame(
    [...objects].map(({ bytes }) => bytes.toString()),
    ['{"a":1}', '{"b":2}'],
  )
})

t.test('bodies that are not ConversionReviews are refused with their mistake', async (t) => {
  const request = { uid: 'u', desiredAPIVersion: 'example.com/v1', objects: [] }
  const envelope = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }
  const cases: readonly (readonly [Buffer | string | object | undefined, string])[] = [
    [undefined, 'The request has no body: a ConversionReview is expected.'],
    ['', 'The request has no body: a ConversionReview is expected.'],
    [{ ...envelope, kind: 'AdmissionReview', request }, 'The body is not a ConversionReview.'],
    [
      { ...envelope, apiVersion: 'apiextensions.k8s.io/v1beta1', request },
      'The apiVersion of the ConversionReview is "apiextensions.k8s.io/v1beta1": only apiextensions.k8s.io/v1 is served.',
    ],
    [{ kind: 'ConversionReview', request }, 'The apiVersion of the ConversionReview is missing: only apiextensions.k8s.io/v1 is served.'],
    [envelope, 'The ConversionReview has no request.'],
    [{ ...envelope, request: [] }, 'The ConversionReview has no request.'],
    [{ ...envelope, request: { ...request, uid: undefined } }, 'The request of the ConversionReview has no uid.'],
    [{ ...envelope, request: { ...request, uid: '' } }, 'The request of the ConversionReview has no uid.'],
    [{ ...envelope, request: { ...request, uid: 7 } }, 'The request of the ConversionReview has no uid.'],
    [{ ...envelope, request: { ...request, desiredAPIVersion: 7 } }, 'The request of the ConversionReview has no desiredAPIVersion.'],
    [{ ...envelope, request: { ...request, objects: 7 } }, 'The request of the ConversionReview has no list of objects.'],
  ]
  for (const [body, message] of cases)
    await t.rejects(decode(body), { name: 'MalformedConversionReview', message: new RegExp(`^${message}$`) })
})

t.test('a long review waits for a time slice', async (t) => {
  const review = JSON.stringify(reviewOf([{ a: '' }]))
  const of = async (length: number): Promise<number> => {
    let turnsGiven = 0
    const renew = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      turnsGiven += 1
    }
    const slices = { next: () => undefined, renew } as unknown as TaskSlices
    await decode(review.replace('"a":""', `"a":"${'x'.repeat(length - review.length)}"`), slices)
    return turnsGiven
  }
  t.strictSame([await of(512 * 1024), await of(512 * 1024 + 1)], [0, 1])
})

t.test('the response has the converted objects in order', async (t) => {
  const { answer: given, converted, lines } = await answer([{ kind: 'A' }, { kind: 'B', n: 7 }])
  t.equal(
    textOf(given),
    '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u\\"1","convertedObjects":[{"kind":"A","to":"v2"},{"kind":"B","n":7,"to":"v2"}],"result":{"status":"Success"}}}',
  )
  t.equal(given.failed, false)
  t.strictSame([converted, lines], [[false, false], []])
  t.match(textOf((await answer([])).answer), '"convertedObjects":[],')
})

t.test('the converter is found by the desired group and the kind', async (t) => {
  const lookups: unknown[] = []
  await answer([{ kind: 'A', apiVersion: 'other.com/v7' }, { kind: 'B' }], (group, kind) => {
    lookups.push(group, kind)
    return converter
  })
  t.strictSame(lookups, ['example.com', 'A', 'example.com', 'B'])
})

t.test('the first three failed objects are named, the others counted', async (t) => {
  const object = (name: string, fails?: string): JsonObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Job',
    metadata: { name, namespace: 'ns' },
    ...(fails === undefined ? {} : { fails }),
  })
  const cluster: JsonObject = { ...object('c', 'three'), metadata: { name: 'c' } }
  const objects = [object('a', 'one'), object('ok'), { kind: 'Job', fails: 'two' }, cluster, object('ok'), object('d', 'four')]
  const { answer: given, converted, lines } = await answer(objects)
  const named = 'cannot convert to v2: Job.example.com "ns/a" (v1): one; Job (): two; Job.example.com "c" (v1): three; and 1 more'
  t.strictSame(JSON.parse(textOf(given)), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid: 'u"1', result: failure(500, 'InternalError', named) },
  })
  t.equal(given.failed, true)
  t.strictSame(converted, [true, false, true, true, false, true])
  t.strictSame(
    lines.map(({ level, msg, apiVersion, kind, namespace, name, to, err }) => [
      level,
      msg,
      apiVersion,
      kind,
      namespace,
      name,
      to,
      (err as JsonObject).message,
    ]),
    [
      ['error', 'a conversion failed', 'example.com/v1', 'Job', 'ns', 'a', 'example.com/v2', 'one'],
      ['error', 'a conversion failed', undefined, 'Job', undefined, undefined, 'example.com/v2', 'two'],
      ['error', 'a conversion failed', 'example.com/v1', 'Job', undefined, 'c', 'example.com/v2', 'three'],
      ['debug', 'a conversion failed', 'example.com/v1', 'Job', 'ns', 'd', 'example.com/v2', 'four'],
    ],
  )
  const three = await answer(objects.slice(0, 5))
  t.notMatch(textOf(three.answer), /more/)
})

t.test('an object without a converter, or with too many values, fails', async (t) => {
  const messageOf = async (object: JsonObject, find?: () => undefined): Promise<unknown> => {
    const { answer: given, converted } = await answer([object], find)
    t.strictSame(converted, [true])
    return (JSON.parse(textOf(given)) as { response: { result: JsonObject } }).response.result.message
  }
  const object = { apiVersion: 'example.com/v1', kind: 'Job', metadata: { name: 'a' } }
  t.equal(
    await messageOf(object, () => undefined),
    'cannot convert to v2: Job.example.com "a" (v1): its kind is not converted to example.com/v2 here',
  )
  t.equal(
    await messageOf({ ...object, spec: { list: Array(100_000).fill(1) } }),
    'cannot convert to v2: Job.example.com "a" (v1): request.objects[0] has more than 100000 values (fields and items)',
  )
  t.equal(
    await messageOf({ ...object, metadata: 'x', kind: 5 }, () => undefined),
    'cannot convert to v2: 5.example.com (v1): its kind is not converted to example.com/v2 here',
  )
})

t.test('an object with too many values is not parsed', async (t) => {
  const body = JSON.stringify(reviewOf([{ kind: 'Job', list: Array(100_000).fill(1) }], 'example.com/v2')).replace('[1,1', '[1,?')
  const given = await answerConversion(
    await decode(body),
    () => converter,
    callOf(),
    timeSlices(),
    () => undefined,
  )
  t.match(textOf(given), 'cannot convert to v2: Job (): request.objects[0] has more than 100000 values (fields and items)')
})

t.test('conversion stops after a thousand failures', async (t) => {
  const failing = (count: number): JsonObject[] => Array.from({ length: count }, () => ({ kind: 'Job', fails: 'x' }))
  const almost = await answer([...failing(999), { kind: 'Job' }])
  t.match(textOf(almost.answer), /; and 996 more"/)
  t.equal(almost.converted.length, 1000)
  const over = await answer([...failing(1000), { kind: 'Job' }])
  t.match(textOf(over.answer), /; and 997 more, after which no others were tried"/)
  t.equal(over.converted.length, 1000)
})

t.test('invalid JSON in an object fails the whole review as malformed', async (t) => {
  const body = JSON.stringify(reviewOf([{ a: 1 }])).replace('"a":1', '"a":')
  const request = await decode(body)
  const converted: boolean[] = []
  const answered = answerConversion(
    request,
    () => converter,
    callOf(),
    timeSlices(),
    (failed) => converted.push(failed),
  )
  await t.rejects(answered, { name: 'MalformedConversionReview' })
  t.strictSame(converted, [])
})

t.test('an abort ends the conversion before the next object', async (t) => {
  const abort = new AbortController()
  let calls = 0
  const aborting = {
    convert: async (object: JsonObject) => {
      calls += 1
      abort.abort(new Error('nobody waits'))
      return object
    },
  } as unknown as ObjectConverter
  await t.rejects(
    answer([{}, {}], () => aborting, { signal: abort.signal }),
    new Error('nobody waits'),
  )
  t.equal(calls, 1)
  t.strictSame(getEventListeners(abort.signal, 'abort'), [])
})

t.test('when the time slice is used up, each object waits for a turn', async (t) => {
  const events: string[] = []
  const next = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    events.push('turn')
  }
  const request = await decode(reviewOf([{ kind: 'A' }, { kind: 'B' }, { kind: 'C' }]))
  await answerConversion(
    request,
    (_group, kind) => (events.push(String(kind)), converter),
    callOf(),
    { next } as unknown as TaskSlices,
    () => undefined,
  )
  t.strictSame(events, ['turn', 'A', 'turn', 'B', 'turn', 'C'])
})

t.test('a response is written in pieces of about 64 KiB', async (t) => {
  const objects = Array.from({ length: 40 }, () => ({ a: 'x'.repeat(5000) }))
  const { pieces } = (await answer(objects)).answer
  const lengths = pieces.map(({ length }) => length)
  t.equal(lengths.length, 3)
  for (const length of lengths.slice(0, -1)) t.ok(length >= 64 * 1024 && length < 64 * 1024 + 5100, `${length}`)
  const { response } = JSON.parse(Buffer.concat(pieces).toString()) as { response: { convertedObjects: object[] } }
  t.equal(response.convertedObjects.length, 40)
})

t.test('a failed response has the given code and reason', async (t) => {
  const answered = failedConversion('u', 'too late', 504, 'Timeout')
  t.strictSame(JSON.parse(textOf(answered)), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid: 'u', result: failure(504, 'Timeout', 'too late') },
  })
  t.equal(answered.failed, true)
  t.match(textOf(failedConversion('u', 'x')), '"reason":"InternalError","code":500')
})

t.test('an object is converted completely, with the call of the review', async (t) => {
  const signals: unknown[] = []
  const real = createConverter(jobConversion)
  const { signal } = new AbortController()
  const find = (): ObjectConverter => ({
    ...real,
    convert: (object, _version, call) => {
      signals.push(call.signal)
      return real.convert(object, 'v1', call)
    },
  })
  const { answer: given } = await answer([jobOf('v1beta1', { cron: '1 2' })], find, { signal })
  t.match(textOf(given), '"spec":{"schedule":{"minute":"1","hour":"2"},"priority":5}')
  t.strictSame(signals, [signal])
})
