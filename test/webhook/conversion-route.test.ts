import { request } from 'node:https'
import { PassThrough } from 'node:stream'
import t from 'tap'
import type { Socket } from 'node:net'
import type { JsonObject } from '../../src/api/json.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { limitAdvice } from '../../src/webhook/body/receive.ts'
import { shareMemory } from '../../src/webhook/http/memory-shares.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import type { ConversionResponse } from '../support/conversion/fixture.ts'
import { conversionServer, jobConversion, jobOf, reviewOf } from '../support/conversion/fixture.ts'
import { until } from '../../src/testing/until.ts'
import { processorTimeMs, Turns } from '../support/turns.ts'

const cron = (value: string, name = 'a'): JsonObject => jobOf('v1beta1', { cron: value }, { metadata: { name, namespace: 'test' } })

t.test('objects are converted in their order, and the response has the uid of the request', async (t) => {
  const { ask, metrics } = await conversionServer(t)
  const objects = [cron('1 2', 'b'), jobOf('v1alpha1', { every: { hour: '3' } }), jobOf('v1', { schedule: {} }), cron('3 4')]
  const response = await ask(t, reviewOf(objects, 'example.com/v1', 'uid-7'), '?timeout=30s')
  t.strictSame([response.uid, response.result], ['uid-7', { status: 'Success' }])
  t.match(response.convertedObjects, [
    { apiVersion: 'example.com/v1', metadata: { name: 'b' }, spec: { schedule: { minute: '1', hour: '2' }, priority: 5 } },
    { spec: { schedule: { hour: '3' } } },
    objects[2]!,
    { metadata: { name: 'a' }, spec: { schedule: { minute: '3', hour: '4' } } },
  ])
  const text = await metrics.registry.metrics()
  t.match(text, /proreus_conversion_requests_total\{kind="Job\.example\.com",result="success"\} 1/)
  t.match(text, /proreus_conversion_objects_total\{kind="Job\.example\.com",result="success"\} 4/)
  t.match(text, /proreus_conversion_seconds_count\{kind="Job\.example\.com"\} 1/)
  t.match(text, /controller_runtime_webhook_requests_total\{webhook="\/convert",code="200"\} 1/)
  t.strictSame((await ask(t, reviewOf([]))).convertedObjects, [])
})

t.test('a failed object fails the review with its name and reason, and no objects are returned', async (t) => {
  const lines: string[] = []
  const logger = createLogger({ destination: { write: (line: string) => void lines.push(line) } })
  const { ask, metrics } = await conversionServer(t, jobConversion, { logger })
  const response = await ask(t, reviewOf([cron('1 2'), cron('never', 'bad'), cron('1 2', 'c')]))
  t.notOk('convertedObjects' in response)
  t.match(response, {
    uid: 'uid-1',
    result: {
      status: 'Failure',
      code: 500,
      message: 'cannot convert to v1: Job.example.com "test/bad" (v1beta1): spec.cron: "never" is no time',
    },
  })
  t.match(JSON.parse(lines.find((line) => line.includes('a conversion failed'))!), {
    level: 'error',
    uid: 'uid-1',
    kind: 'Job',
    namespace: 'test',
    name: 'bad',
    err: { message: /is no time/, stack: /toHub/ },
  })
  t.match(await metrics.registry.metrics(), /proreus_conversion_objects_total\{kind="Job\.example\.com",result="failure"\} 1/)
  t.match(await metrics.registry.metrics(), /proreus_conversion_requests_total\{kind="Job\.example\.com",result="failure"\} 1/)
  t.match(await metrics.registry.metrics(), /proreus_conversion_seconds_count\{kind="Job\.example\.com"\} 1/, 'failures take time too')
  t.match(await metrics.registry.metrics(), /controller_runtime_conversion_webhook_panics_total 1\n/)
  const many = await ask(t, reviewOf(Array.from({ length: 7 }, (_, index) => cron('never', `bad-${index}`))))
  t.match(many.result.message, /bad-0".*bad-1".*bad-2".*; and 4 more$/)
  t.match(await metrics.registry.metrics(), /controller_runtime_conversion_webhook_panics_total 2\n/, 'counted once per review')
  t.equal((await ask(t, reviewOf([cron('1 2')]))).result.status, 'Success', 'the server keeps serving')
})

t.test('unknown kinds and versions fail the review', async (t) => {
  const { ask, metrics } = await conversionServer(t)
  const cases: [unknown, string, RegExp][] = [
    [
      [cron('1 2')],
      'example.com/v9',
      /"Job" of "example\.com\/v1beta1" cannot be converted to v9: Job\.example\.com has v1, v1beta1, v1alpha1/,
    ],
    [[jobOf('v7', {})], 'example.com/v1', /"example\.com\/v7" cannot be converted/],
    [[cron('1 2')], 'other.com/v1', /its kind is not converted to other\.com\/v1 here/],
    [[{ ...cron('1 2'), kind: 'Pod' }], 'example.com/v1', /Pod\.example\.com "test\/a" \(v1beta1\): its kind is not converted/],
    [[{ ...cron('1 2'), apiVersion: 'other.com/v1beta1' }], 'example.com/v1', /Job\.other\.com "test\/a"/],
    [[{}], 'example.com/v1', /its kind is not converted/],
    [[{ ...cron('1 2'), metadata: 'x', kind: '__proto__' }], 'example.com/v1', /not converted/],
    [[cron('1 2')], '', /not converted/],
  ]
  for (const [objects, desired, message] of cases)
    t.match((await ask(t, reviewOf(objects, desired))).result, { status: 'Failure', message })
  t.match(await metrics.registry.metrics(), /controller_runtime_conversion_webhook_panics_total 0\n/, 'no converter threw')
})

t.test('a body that is not a ConversionReview is refused with a reason', async (t) => {
  const { server } = await conversionServer(t)
  const valid = JSON.stringify(reviewOf([cron('1 2')]))
  const review = (request: unknown, rest = {}): string =>
    JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request, ...rest })
  const request = { uid: 'u', desiredAPIVersion: 'example.com/v1', objects: [] }
  const bodies: [string, RegExp][] = [
    ['', /The request has no body/],
    ['{', /The body is not the JSON of a ConversionReview/],
    ['[]', /is expected at byte 0/],
    ['5', /is expected at byte 0/],
    ['{}', /The body is not a ConversionReview\./],
    [`${valid}x`, /unexpected data/],
    [valid.slice(0, -10), /is not (the )?JSON/],
    [valid.replace('"cron":"1 2"', '"cron":1 2'), /request\.objects\[0\] of the ConversionReview cannot be read/],
    [valid.replace('"spec":{', '"spec":['), /cannot be read/],
    ['{"a":1,"a":2}', /"a\\*" is one too many/],
    ['{"request":{"objects":[],"objects":[]}}', /one too many/],
    ['{"\\x":1}', /the name of a field is malformed/],
    ['{"request":{"objects":[{},]}}', /is not (the )?JSON/],
    ['{"request":{"objects":[{},', /is not (the )?JSON/],
    ['{"request":{"objects":[{}  {}]}}', /"\]\\*" is expected at byte/],
    [JSON.stringify(reviewOf([{}, 5])), /request\.objects\[1\] is not an object: it begins with "5\]\}\}"/],
    [JSON.stringify(reviewOf([[]])), /request\.objects\[0\] is not an object/],
    [JSON.stringify(reviewOf(['{}'])), /request\.objects\[0\] is not an object/],
    [review(request, { note: 'x'.repeat(64 * 1024) }), /^The ConversionReview without its objects is larger than 65536 bytes\./],
    [review(request, { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) }), /without its objects is larger than 65536 bytes/],
    [valid.replace('[{', `[${' '.repeat(64 * 1024 + 1)}{`), /^There is more than 65536 bytes of white space in a row\./],
    ['{5:1}', /a field has no name/],
    [review(undefined), /has no request/],
    [review([]), /has no request/],
    [review({ ...request, uid: '' }), /has no uid/],
    [review({ ...request, desiredAPIVersion: undefined }), /has no desiredAPIVersion/],
    [review({ ...request, objects: {} }), /has no list of objects/],
    [review({ ...request, objects: undefined }), /has no list of objects/],
    [review(request, { apiVersion: 'apiextensions.k8s.io/v1beta1' }), /only apiextensions\.k8s\.io\/v1 is served/],
    [review(request).replace('"apiextensions.k8s.io/v1"', `${'['.repeat(30_000)}${']'.repeat(30_000)}`), /the ConversionReview is no text/],
  ]
  for (const [payload, message] of bodies) {
    const headers = { 'content-type': 'application/json' }
    const answer = await server.app.inject({ method: 'POST', url: '/convert', payload, headers })
    t.equal(answer.statusCode, 400, payload.slice(0, 100))
    t.match(answer.body, message, payload.slice(0, 100))
  }
  const other = await server.app.inject({ method: 'POST', url: '/convert', payload: 'x', headers: { 'content-type': 'text/plain' } })
  t.strictSame([other.statusCode, other.body], [415, 'The Content-Type must be application/json.\n'])
})

t.test('the fields of a review may be in any order, among other fields', async (t) => {
  const { ask } = await conversionServer(t)
  const body = ` { "request" : {"objects" : [ ${JSON.stringify(cron('"]},\\ 2'))} , ${JSON.stringify(cron('3 4'))} ] ,"x":{"objects":[]},"uid":"ü", "desiredAPIVersion":"example.com/v1"},"response":null,
    "kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1" } `
  const response = await ask(t, body)
  t.equal(response.uid, 'ü')
  t.match(response.convertedObjects, [{ spec: { schedule: { minute: '"]},\\', hour: '2' } } }, { spec: { schedule: { minute: '3' } } }])
})

t.test('integers beyond 2^53 survive the conversion, also those kept in the annotation', async (t) => {
  const { ask } = await conversionServer(t)
  const body = JSON.stringify(reviewOf([jobOf('v1', { schedule: {}, serial: 'S', priority: 'P' })], 'example.com/v1alpha1'))
    .replace('"S"', '9007199254740993')
    .replace('"P"', '1')
  const { convertedObjects } = await ask(t, body)
  t.match(JSON.stringify(convertedObjects), /9007199254740993/, 'in the annotation')
  const server = await conversionServer(t)
  const inject = async (payload: string): Promise<string> =>
    (await server.server.app.inject({ method: 'POST', url: '/convert', payload, headers: { 'content-type': 'application/json' } })).body
  const back = await inject(JSON.stringify(reviewOf(convertedObjects)))
  t.match(back, /"serial":9007199254740993[,}]/)
  t.match(await inject(body.replace('v1alpha1"', 'v1beta1"')), /"serial":9007199254740993[,}]/, 'in the spec')
  const twice = body.replace('"schedule":{}', '"schedule":{},"tasks":[{"name":"a","command":"x","retries":9007199254740992}]')
  const rounded = await inject(twice.replace('v1alpha1"', 'v1beta1"'))
  t.match(rounded, /"serial":9007199254740993[,}]/)
  t.match(rounded, /{\\"value\\":9007199254740992,/, 'and one beside it that rounds to the same number, in the annotation')
})

t.test('a long list is converted in slices that leave the event loop free in between', async (t) => {
  const { ask } = await conversionServer(t)
  const text = 'x'.repeat(20_000)
  const objects = Array.from({ length: 600 }, (_, index) =>
    jobOf('v1beta1', { cron: '1 2', owner: text }, { metadata: { name: `a-${index}` } }),
  )
  const body = JSON.stringify(reviewOf(objects))
  const turns = new Turns()
  const began = processorTimeMs()
  const { convertedObjects } = await ask(t, body)
  const all = processorTimeMs() - began
  const longest = turns.stop()
  t.equal(convertedObjects?.length, 600)
  t.ok(longest < all / 2, `of ${all} ms, the longest turn took ${longest}`)
})

t.test('concurrent long lists share the event loop: one slice in each turn', async (t) => {
  let turn = 0
  let stopped = false
  const count = (): void => {
    turn += 1
    if (!stopped) setImmediate(count)
  }
  setImmediate(count)
  const seen: number[] = []
  const busy = new Map(jobConversion.spokes)
  busy.set('v1beta1', {
    toHub: () => {
      seen.push(turn)
      for (const end = performance.now() + 11; performance.now() < end;);
      return { spec: { schedule: {} } }
    },
    fromHub: () => ({ spec: { cron: 'x' } }),
  })
  const { ask } = await conversionServer(t, { ...jobConversion, spokes: busy, lossless: false })
  const objects = Array.from({ length: 6 }, () => cron('1 2'))
  await Promise.all([1, 2, 3].map(() => ask(t, reviewOf(objects))))
  stopped = true
  const laterThanFirst = seen.filter((at) => at > seen[2]!)
  t.equal(new Set(laterThanFirst).size, laterThanFirst.length, `turns ${seen.join(' ')}`)
})

t.test('malformed kept fields are logged at warn for three objects of a list, and counted for each', async (t) => {
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } })
  const { ask, metrics } = await conversionServer(t, jobConversion, { logger })
  const metadata = { name: 'a', annotations: { 'conversion.example.com/v1': 'made up' } }
  await ask(t, reviewOf(Array.from({ length: 10 }, () => jobOf('v1beta1', { cron: '1 2' }, { metadata }))))
  const logged = lines
    .filter((line) => line.includes('what an annotation has kept of v1 is malformed'))
    .map((line) => JSON.parse(line) as object)
  t.strictSame(
    logged.map((line) => [(line as { level: string }).level, (line as { uid: string }).uid]),
    Array.from({ length: 10 }, (_, index) => [index < 3 ? 'warn' : 'debug', 'uid-1']),
    'the rest is logged at debug',
  )
  t.match(logged[0], { kind: 'Job', name: 'a' })
  t.match(await metrics.registry.metrics(), /proreus_conversion_unkept_total\{kind="Job\.example\.com",reason="not_accepted"\} 10/)
})

t.test('a field that a converter misspells is logged once', async (t) => {
  const lines: string[] = []
  const logger = createLogger({ destination: { write: (line: string) => void lines.push(line) } })
  const spokes = new Map([
    ['v1beta1', { toHub: () => ({ spec: { schedule: {}, prioriti: 1 } }), fromHub: () => ({ spec: { cron: 'x' } }) }],
  ])
  const { ask } = await conversionServer(t, { ...jobConversion, spokes }, { logger })
  for (const _ of [1, 2]) await ask(t, reviewOf([cron('1 2'), cron('1 2')]))
  const logged = lines.filter((line) => line.includes('prioriti')).map((line) => JSON.parse(line) as object)
  t.match(logged, [
    {
      level: /40|warn/i,
      kind: 'Job',
      name: 'a',
      msg: /^the converter from v1beta1 to v1 returned fields that v1 does not have; they are dropped: spec\.prioriti$/,
    },
  ])
  t.equal(logged.length, 1)
})

t.test('a converter that takes too long fails the review at its deadline, and its signal is aborted', async (t) => {
  const clock = new FakeClock(0)
  let received: AbortSignal | undefined
  const slow = new Map(jobConversion.spokes)
  slow.set('v1beta1', {
    toHub: (_object, { signal }) => {
      received = signal
      return new Promise(() => undefined)
    },
    fromHub: () => ({}),
  })
  const { ask } = await conversionServer(t, { ...jobConversion, spokes: slow }, { clock })
  const response = ask(t, reviewOf([cron('1 2'), cron('3 4')]), '?timeout=3s')
  await until('the converter is called', () => received)
  await clock.advance(2900)
  t.match((await response).result, {
    status: 'Failure',
    code: 504,
    message: /the deadline has passed: 0 of 2 objects were converted to example\.com\/v1 within 2900 ms/,
  })
  t.ok(received?.aborted)
})

t.test('the timeout of a review includes the time that its body takes to arrive', async (t) => {
  const clock = new FakeClock(50_000)
  let called = false
  const slow = new Map(jobConversion.spokes)
  slow.set('v1beta1', {
    toHub: () => {
      called = true
      return new Promise(() => undefined)
    },
    fromHub: () => ({}),
  })
  const { server } = await conversionServer(t, { ...jobConversion, spokes: slow }, { clock })
  const text = JSON.stringify(reviewOf([cron('1 2')]))
  const payload = new PassThrough()
  const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
  let answer: string | undefined
  void server.app.inject({ method: 'POST', url: '/convert?timeout=3s', payload, headers }).then(({ body }) => (answer = body))
  payload.write(text.slice(0, 10))
  await until('the headers have come', () => server.inFlightBytes > 0)
  await clock.advance(2000)
  payload.end(text.slice(10))
  await until('the converter is called', () => called)
  await clock.advance(900)
  t.match(await until('it is answered', () => answer), /converted to example\.com\/v1 within 900 ms","reason":"Timeout"/)
})

t.test('no more objects are converted after the deadline', async (t) => {
  const clock = new FakeClock(0)
  const first = Promise.withResolvers<undefined>()
  const calls: string[] = []
  const slow = new Map(jobConversion.spokes)
  slow.set('v1beta1', {
    toHub: async (object) => {
      calls.push(String((object.metadata as { name?: string }).name))
      await first.promise
      return { spec: { schedule: {} } }
    },
    fromHub: () => ({ spec: { cron: 'x' } }),
  })
  const { ask, metrics } = await conversionServer(t, { ...jobConversion, spokes: slow, lossless: false }, { clock })
  const response = ask(t, reviewOf([cron('1 2', 'a'), cron('3 4', 'b'), cron('5 6', 'c')]), '?timeout=3s')
  await until('the converter is called', () => calls.length === 1)
  await clock.advance(2900)
  t.equal((await response).result.code, 504)
  first.resolve(undefined)
  const converted = /conversion_objects_total\{kind="Job\.example\.com",result="success"\} 1/
  await until('the object that was begun is converted', async () => converted.test(await metrics.registry.metrics()))
  await new Promise(setImmediate)
  t.strictSame(calls, ['a'])
})

t.test('a ConversionReview may be larger than an admission review, up to its own limit', async (t) => {
  const mebibyte = 2 ** 20
  const shares = shareMemory({ limitBytes: 1024 * mebibyte, idleBytes: 160 * mebibyte, heapLimitBytes: 512 * mebibyte, processors: 2 })
  const { server } = await conversionServer(t, jobConversion, { memory: shares })
  const inject = (size: number) => {
    const payload = JSON.stringify(reviewOf(Array.from({ length: size }, () => cron('x'.repeat(1024 * 1024)))))
    return server.app.inject({ method: 'POST', url: '/convert', payload, headers: { 'content-type': 'application/json' } })
  }
  t.equal((await inject(9)).statusCode, 200)
  const answer = await server.app.inject({
    method: 'POST',
    url: '/convert',
    payload: '{}',
    headers: { 'content-type': 'application/json', 'content-length': String(200 * 1024 * 1024) },
  })
  t.strictSame([answer.statusCode, answer.body], [413, `The ConversionReview is larger than 134217728 bytes: ${limitAdvice}.\n`])
})

t.test('a connection with a long answer reads the next request before the answer is fetched', async (t) => {
  const { server } = await conversionServer(t)
  let socket: Socket | null = null
  server.app.addHook('onSend', (_request, { raw }, _payload, next) => {
    socket = raw.socket
    next()
  })
  const listenersAfter = async (length: number): Promise<number | undefined> => {
    const payload = JSON.stringify(reviewOf([cron('x'.repeat(length))]))
    await server.app.inject({ method: 'POST', url: '/convert', payload, headers: { 'content-type': 'application/json' } })
    return socket?.listenerCount('data')
  }
  t.strictSame([await listenersAfter(10), await listenersAfter(20_000)], [0, 1])
})

t.test('an object with too many values or levels fails the review by name', async (t) => {
  const { ask, metrics } = await conversionServer(t)
  const values = [cron('1 2'), jobOf('v1beta1', { cron: '1 2', tasks: Array(100_001).fill(1) })]
  t.match((await ask(t, reviewOf(values))).result, {
    status: 'Failure',
    message: 'cannot convert to v1: Job.example.com "test/a" (v1beta1): request.objects[1] has more than 100000 values (fields and items)',
  })
  const levels = JSON.stringify(reviewOf([cron('1 2')])).replace('"1 2"', `${'['.repeat(1000)}${']'.repeat(1000)}`)
  t.match((await ask(t, levels)).result.message, /"test\/a" \(v1beta1\): request\.objects\[0\] has more than 1000 levels of nesting$/)
  t.match(await metrics.registry.metrics(), /proreus_conversion_objects_total\{kind="Job\.example\.com",result="failure"\} 2/)
})

t.test('an object of 99,000 values is converted while the event loop stays free', async (t) => {
  const { ask } = await conversionServer(t)
  const tasks = Array.from({ length: 33_000 }, (_, index) => ({ name: String(index), command: 'x' }))
  const body = reviewOf([cron('1 2'), jobOf('v1beta1', { cron: '3 4', tasks })])
  let turn = 0
  let stopped = false
  const count = (): void => {
    turn += 1
    if (!stopped) setImmediate(count)
  }
  setImmediate(count)
  const { convertedObjects } = await ask(t, body)
  stopped = true
  t.match(convertedObjects?.[0], { spec: { schedule: { minute: '1' } } })
  const { spec } = convertedObjects![1] as { spec: { tasks: object[] } }
  t.strictSame([spec.tasks.length, spec.tasks.at(-1)], [33_000, { name: '32999', command: 'x', retries: 3 }])
  t.ok(turn > 5, `${turn} turns`)
})

t.test('a dense object waits for the memory that it takes beyond an ordinary one', async (t) => {
  const clock = new FakeClock(0)
  const started: string[] = []
  const first = Promise.withResolvers<undefined>()
  const spokes = new Map(jobConversion.spokes)
  spokes.set('v1beta1', {
    toHub: async (object) => {
      started.push(String((object.metadata as { name?: string }).name))
      if (started.length === 1) await first.promise
      return { spec: { schedule: {} } }
    },
    fromHub: () => ({ spec: { cron: 'x' } }),
  })
  const mebibyte = 2 ** 20
  const shares = shareMemory({ limitBytes: 300 * mebibyte, idleBytes: 160 * mebibyte, heapLimitBytes: 512 * mebibyte, processors: 2 })
  const { ask, server } = await conversionServer(t, { ...jobConversion, spokes, lossless: false }, { clock, memory: shares })
  const dense = (name: string): JsonObject =>
    jobOf('v1beta1', { cron: '1 2', tasks: Array(49_000).fill({}) }, { metadata: { name, namespace: 'test' } })
  const one = ask(t, reviewOf([dense('one')]))
  await until('the first is being converted', () => started.length === 1)
  const taken = server.inFlightBytes
  t.ok(taken > 10 * mebibyte, `it takes ${taken}`)
  const two = ask(t, reviewOf([dense('two')]), '?timeout=10h')
  let answer: ConversionResponse | undefined
  void ask(t, reviewOf([dense('three')]), '?timeout=3s').then((response) => (answer = response))
  await until('both have come', () => server.inFlightBytes > taken + 2 * 300_000)
  await ask(t, reviewOf([cron('1 2', 'ordinary')]))
  const three = await until('the deadline of one has passed', async () => {
    await clock.advance(1000)
    return answer
  })
  t.match(three.result, { status: 'Failure', code: 504, message: /0 of 1 objects were converted/ })
  t.strictSame(started, ['one', 'ordinary'])
  first.resolve(undefined)
  t.strictSame([(await one).result.status, (await two).result.status], ['Success', 'Success'])
  await until('nothing is taken', () => server.inFlightBytes === 0)
})

t.test('conversion stops after a thousand failed objects', async (t) => {
  const { ask, metrics } = await conversionServer(t)
  const { result } = await ask(t, reviewOf(Array.from({ length: 1500 }, () => ({}))))
  t.match(result.message, /; and 997 more, after which no others were tried$/)
  t.match(await metrics.registry.metrics(), /controller_runtime_conversion_webhook_panics_total 0\n/)
})

t.test('a value longer than any object is refused before its end is parsed', async (t) => {
  const { server } = await conversionServer(t)
  const payload = JSON.stringify(reviewOf([cron('x'.repeat(9 * 1024 * 1024))]))
  const answer = await server.app.inject({ method: 'POST', url: '/convert', payload, headers: { 'content-type': 'application/json' } })
  t.strictSame([answer.statusCode, answer.body], [400, 'request.objects[0] is larger than 8388608 bytes.\n'])
})

t.test('without a conversion, /convert answers 404', async (t) => {
  const { server } = await conversionServer(t, jobConversion, { conversions: [] })
  t.equal((await server.app.inject({ method: 'POST', url: '/convert', payload: '{}' })).statusCode, 404)
})

t.test('two conversions of a kind are refused', async (t) => {
  await t.rejects(conversionServer(t, jobConversion, { conversions: [jobConversion, jobConversion] }), {
    code: 'PRO_CONFIG_INVALID',
    message: 'There are two conversions for Job.example.com: define one.',
  })
})

const never = (): Promise<never> => new Promise<never>(() => undefined)
/** Returns a copy of `jobConversion` with this `toHub` for v1beta1. */
function with1beta1(toHub: (object: JsonObject, call: { readonly signal: AbortSignal }) => unknown): typeof jobConversion {
  const spokes = new Map(jobConversion.spokes)
  spokes.set('v1beta1', { toHub: toHub as never, fromHub: () => ({ spec: { cron: 'x' } }) })
  return { ...jobConversion, spokes, lossless: false }
}

t.test('a conversion without a timeout has thirty seconds, less 100 ms for the answer', async (t) => {
  const clock = new FakeClock(0)
  let called = false
  const { ask } = await conversionServer(
    t,
    with1beta1(() => ((called = true), never())),
    { clock },
  )
  let response: ConversionResponse | undefined
  void ask(t, reviewOf([cron('1 2')])).then((answer) => (response = answer))
  await until('the converter is called', () => called)
  await clock.advance(29_899)
  t.equal(response, undefined)
  await clock.advance(1)
  const { result } = await until('it is answered', () => response)
  t.strictSame(
    [result.code, result.reason, result.message],
    [504, 'Timeout', 'the deadline has passed: 0 of 1 objects were converted to example.com/v1 within 29900 ms'],
  )
})

t.test('conversions are logged at debug, those that time out at warn', async (t) => {
  const { logger, entries } = recordingLogger('debug')
  const clock = new FakeClock(0)
  let hangs = false
  const { ask, metrics } = await conversionServer(
    t,
    with1beta1(() => (hangs ? never() : { spec: { schedule: {} } })),
    { logger, clock },
  )
  await ask(t, reviewOf([cron('1 2'), cron('3 4')], 'example.com/v1', 'u1'))
  t.match(entries, [{ level: 'debug', msg: 'converted', uid: 'u1', to: 'example.com/v1', objects: 2, failed: false, ms: Number }])
  t.ok((entries[0]!['ms'] as number) > 0)
  entries.length = 0
  await ask(t, reviewOf([{ ...cron('1 2'), kind: 'Pod' }], 'example.com/v1', 'u2'))
  t.match(entries.at(-1), { level: 'debug', msg: 'converted', uid: 'u2', failed: true, objects: 1 })
  entries.length = 0
  hangs = true
  const response = ask(t, reviewOf([cron('1 2')], 'example.com/v1', 'u3'), '?timeout=1s')
  await clock.untilPending(1)
  await clock.advance(900)
  await response
  t.match(entries, [{ level: 'warn', uid: 'u3', code: 504, msg: '0 of 1 objects were converted to example.com/v1 within 900 ms' }])
  const text = await metrics.registry.metrics()
  t.match(text, /^proreus_conversion_requests_total\{kind="Job\.example\.com",result="failure"\} 1$/m)
  t.match(text, /^proreus_conversion_seconds_count\{kind="Job\.example\.com"\} 2$/m)
  t.match(text, /^controller_runtime_webhook_requests_in_flight\{webhook="\/convert"\} 0$/m)
  t.match(text, /^controller_runtime_webhook_latency_seconds_count\{webhook="\/convert"\} 3$/m)
})

t.test('a conversion whose client disconnects is aborted', async (t) => {
  const { logger, entries } = recordingLogger('debug')
  let signal: AbortSignal | undefined
  const conversion = with1beta1((_object, call) => {
    signal = call.signal
    return new Promise((resolve) => call.signal.addEventListener('abort', () => resolve({ spec: { schedule: {} } })))
  })
  const { server } = await conversionServer(t, conversion, { logger })
  const { port } = await server.start()
  const sent = request({ host: '127.0.0.1', port, path: '/convert', method: 'POST', rejectUnauthorized: false })
  sent.on('error', () => undefined)
  sent.setHeader('content-type', 'application/json').end(JSON.stringify(reviewOf([cron('1 2'), cron('3 4')], 'example.com/v1', 'u')))
  await until('the converter is called', () => signal)
  sent.destroy()
  await until('the signal is aborted', () => signal?.aborted)
  t.match(signal?.reason, { name: 'AbortError', message: 'the connection of the request was closed' })
  const logged = (): Record<string, unknown> | undefined => entries.find(({ msg }) => String(msg).startsWith('a conversion was aborted'))
  t.match(await until('it is logged', logged), { level: 'debug', uid: 'u', msg: 'a conversion was aborted: the client has disconnected' })
  await until('nothing is taken', () => server.inFlight === 0 && server.inFlightBytes === 0)
})

t.test('refused requests are counted by path and status', async (t) => {
  const { logger, entries } = recordingLogger()
  const { server, metrics } = await conversionServer(t, jobConversion, { logger })
  const answer = await server.app.inject({
    method: 'POST',
    url: '/convert?timeout=1s',
    payload: '{',
    headers: { 'content-type': 'application/json' },
  })
  t.equal(answer.statusCode, 400)
  t.match(entries, [{ level: 'info', path: '/convert', code: 400, msg: /^refused a request: The body is not the JSON/ }])
  const text = await metrics.registry.metrics()
  t.match(text, /^proreus_webhook_refused_total\{webhook="\/convert",code="400"\} 1$/m)
  t.match(text, /^proreus_webhook_request_bytes_sum\{webhook="\/convert"\} 1$/m)
})

t.test('a long answer has a Content-Length, and is written in pieces', async (t) => {
  const { server } = await conversionServer(t)
  const objects = Array.from({ length: 40 }, () => cron('x'.repeat(20_000)))
  const payload = JSON.stringify(reviewOf(objects))
  const answer = await server.app.inject({ method: 'POST', url: '/convert', payload, headers: { 'content-type': 'application/json' } })
  t.equal(answer.headers['content-length'], String(answer.rawPayload.length))
  t.match(answer.headers['content-type'], /^application\/json/)
  t.equal(answer.json<{ response: ConversionResponse }>().response.convertedObjects?.length, 40)
})
