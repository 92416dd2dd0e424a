import { PassThrough } from 'node:stream'
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryBudget, smallCost } from '../../../src/webhook/body/memory-budget.ts'
import { limitAdvice, receiveBodies, receivedOf } from '../../../src/webhook/body/receive.ts'
import { BodyRefused } from '../../../src/webhook/body/body-refused.ts'
import { until } from '../../../src/testing/until.ts'

interface Fixture {
  readonly app: FastifyInstance
  readonly clock: FakeClock
  readonly budget: MemoryBudget
  /**
   * One entry for each request that has reached the route. The fields contain the values at the time when the request reached the route:
   *
   * - `used`: the part of the memory budget that all requests together use, in bytes.
   * - `bytes`: the memory in bytes that is reserved for the request; undefined for a request without a body.
   * - `began`: the monotonic time in milliseconds at which all headers of the request had arrived; undefined for a request without a body.
   */
  readonly handled: { used: number; bytes: number | undefined; began: number | undefined }[]
  /**
   * Begins a request. The test writes the body of the request to `payload`. `answer` returns the status and the body of the response.
   * Status 0 means that there is no response yet.
   */
  begin(headers?: Record<string, string>): { readonly payload: PassThrough; answer(): { readonly status: number; readonly body: string } }
}

function fixture(
  t: Test,
  costOf: (bytes: Buffer) => number = () => smallCost / 2,
  { reserve = smallCost, ...options }: { reserve?: number; what?: 'ConversionReview'; advice?: undefined } = {},
): Fixture {
  const clock = new FakeClock(50_000)
  const budget = new MemoryBudget({ total: 3 * smallCost, reserve, clock })
  const handled: Fixture['handled'] = []
  const app = fastify()
  t.after(() => app.close())
  const settings = { what: 'AdmissionReview', maxBytes: 100_000, advice: 'send less', budget, clock, costOf, ...options } as const
  receiveBodies(app, settings as Parameters<typeof receiveBodies>[1])
  app.setErrorHandler((error: Error, _request, reply) => reply.code(error instanceof BodyRefused ? error.code : 500).send(error.message))
  app.post('/', (request) => {
    const received = receivedOf(request)
    handled.push({ used: budget.used, bytes: received?.charge.bytes, began: received?.began })
    return `read ${(request.body as Buffer | undefined)?.toString()}`
  })
  return {
    app,
    clock,
    budget,
    handled,
    begin(headers = {}) {
      const payload = new PassThrough()
      let answered = { status: 0, body: '' }
      const type = { 'content-type': 'application/json', ...headers }
      void app
        .inject({ method: 'POST', url: '/?timeout=10s', payload, headers: type })
        .then(({ statusCode, body }) => (answered = { status: statusCode, body }))
      return { payload, answer: () => answered }
    },
  }
}

async function answered({ answer }: ReturnType<Fixture['begin']>): Promise<readonly [number, string]> {
  const { status, body } = await until('it is answered', () => answer().status > 0 && answer())
  return [status, body]
}

t.test('a body reaches the route when it is complete, and its cost is released with the answer', async (t) => {
  const { budget, begin } = fixture(t)
  for (const [length, parts] of [
    ['4', ['[1,2', ']']],
    [undefined, ['[1', ',', '2]']],
    ['5', ['[1,2]']],
  ] as const) {
    const request = begin(length === undefined ? {} : { 'content-length': length })
    for (const part of parts) request.payload.write(part)
    request.payload.end()
    t.strictSame(await answered(request), [200, `read ${parts.join('')}`])
    t.equal(budget.used, 0)
  }
})

t.test('a body beyond the limit, announced or received, is refused with advice', async (t) => {
  const { budget, begin } = fixture(t)
  const refusal = [413, 'The AdmissionReview is larger than 100000 bytes: send less.']
  t.strictSame(await answered(begin({ 'content-length': '100001' })), refusal)
  const longer = begin()
  longer.payload.end(Buffer.alloc(100_001))
  t.strictSame(await answered(longer), refusal)
  const all = begin()
  all.payload.end(Buffer.alloc(100_000, 'x'))
  t.equal((await answered(all))[0], 200)
  t.equal(budget.used, 0)
})

t.test('a body of many tiny chunks is refused', async (t) => {
  const { budget, begin } = fixture(t)
  const refused = begin()
  const read = begin()
  for (let count = 0; count < 261; count += 1) {
    refused.payload.write('x')
    if (count < 260) read.payload.write('x')
    await new Promise(setImmediate)
  }
  read.payload.end()
  t.equal((await answered(read))[0], 200, 'few tiny chunks are accepted')
  t.strictSame(await answered(refused), [400, 'The body comes in chunks of less than 64 bytes.'])
  t.equal(budget.used, 0)
})

t.test('a body that can never fit into the memory is refused at once', async (t) => {
  const { budget, begin } = fixture(t, () => smallCost)
  const request = begin()
  request.payload.end('[]')
  const [status, body] = await answered(request)
  t.equal(status, 413)
  t.match(
    body,
    /^The AdmissionReview takes up to 1064960 bytes of memory when it is read, and 1048576 are there for one: raise the memory limit/,
  )
  t.equal(budget.used, 0)
})

t.test('a slow body is refused only while other requests wait for memory', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const slow = begin({ 'content-length': '1000' })
  slow.payload.write('[')
  await until('it has begun', () => budget.used > 16 * 1024)
  await clock.advance(20_000)
  t.equal(slow.answer().status, 0, 'no other request waits')
  const other = budget.open()
  other.force(budget.total)
  budget.open().growLater(smallCost, () => undefined)
  budget.open().growLater(smallCost, () => undefined)
  await clock.advance(250)
  t.strictSame(await answered(slow), [408, 'The body came too slowly while others waited for memory.'])
})

t.test('a client that disconnects releases the memory of its body', async (t) => {
  const { budget, begin } = fixture(t)
  const request = begin({ 'content-length': '1000' })
  request.payload.write('[')
  await until('it has begun', () => budget.used > 16 * 1024)
  request.payload.destroy(new Error('gone'))
  await until('all is given back', () => budget.used === 0)
  t.equal(budget.used, 0)
  t.strictSame(await answered(request), [400, 'The body could not be received: gone'])
})

t.test('a body that finds no memory is refused at its timeout, counted from its headers', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const { payload, answer } = begin({ 'content-length': '4' })
  await until('the headers have come', () => budget.used > 0)
  payload.write('[1')
  await clock.advance(6000)
  budget.open().force(budget.total)
  budget.open().growLater(smallCost, () => undefined)
  payload.end(',]')
  await until('the body waits for memory', () => budget.waiting === 1)
  // The timeout of the request is 10 s, and the last 100 ms of the timeout are reserved for the response. The headers arrived 6 s ago, so
  // the request is rejected after another 3.9 s.
  await clock.advance(3899)
  t.equal(answer().status, 0)
  await clock.advance(1)
  t.equal(await until('it is refused', () => answer().status > 0 && answer().status), 429)
})

t.test('a request takes 16 KiB and the cost of its body while it is handled, and its start is that of its headers', async (t) => {
  const { clock, budget, begin, handled } = fixture(t)
  const request = begin({ 'content-length': '4' })
  await until('the headers have come', () => budget.used > 0)
  t.equal(budget.used, 16 * 1024)
  await clock.advance(70)
  request.payload.end('[12]')
  t.strictSame(await answered(request), [200, 'read [12]'])
  const bytes = 16 * 1024 + smallCost / 2
  t.strictSame(handled, [{ used: bytes, bytes, began: 50_000 }])
  t.strictSame([budget.used, clock.pending], [0, 0])
})

t.test('a request without a body reaches the route without a charge', async (t) => {
  const { app, handled } = fixture(t)
  t.equal((await app.inject({ method: 'POST', url: '/' })).body, 'read undefined')
  t.strictSame(handled, [{ used: 0, bytes: undefined, began: undefined }])
})

t.test('only JSON is accepted', async (t) => {
  const { app, budget } = fixture(t)
  const answer = await app.inject({ method: 'POST', url: '/', payload: 'a', headers: { 'content-type': 'text/plain' } })
  t.strictSame([answer.statusCode, budget.used], [500, 0])
  t.match(answer.body, /Unsupported Media Type/)
})

t.test('refusals name the kind of review', async (t) => {
  const { begin } = fixture(t, undefined, { what: 'ConversionReview', advice: undefined })
  t.strictSame(await answered(begin({ 'content-length': '100001' })), [413, 'The ConversionReview is larger than 100000 bytes.'])
})

t.test('a body may cost the whole reserve, and a small one more than that', async (t) => {
  for (const [cost, reserve, status] of [
    [smallCost - 16 * 1024, smallCost, 200],
    [smallCost - 16 * 1024 + 1, smallCost, 413],
    [smallCost + 1, 2 * smallCost, 200],
    [smallCost - 16 * 1024, 10_000, 200],
    [smallCost - 16 * 1024 + 1, 10_000, 413],
  ] as const) {
    const { begin } = fixture(t, () => cost, { reserve })
    const request = begin()
    request.payload.end('[]')
    t.equal((await answered(request))[0], status, `${cost} of ${reserve}`)
  }
})

t.test('a body that waits for memory is read once there is some, and does not time out afterwards', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const other = budget.open()
  const early = budget.open()
  other.force(budget.total)
  early.growLater(smallCost, () => undefined)
  const request = begin()
  await until('it waits', () => budget.waiting === 1)
  request.payload.write('[1,')
  await clock.advance(9_899)
  t.equal(request.answer().status, 0)
  other.release()
  request.payload.end('2]')
  t.strictSame(await answered(request), [200, 'read [1,2]'])
  t.equal(clock.pending, 0, 'its timeout has ended')
  early.release()
  t.equal(budget.used, 0)
})

t.test('the refusal for lack of memory states the memory in use', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const other = budget.open()
  other.force(2 * smallCost)
  budget.open().growLater(smallCost, () => undefined)
  const request = begin()
  request.payload.end('[]')
  await until('it waits', () => budget.waiting === 1)
  await clock.advance(9_900)
  t.strictSame(await answered(request), [
    429,
    `The requests in flight take ${3 * smallCost} of the ${3 * smallCost} bytes that there are for them, and have done so for as long as this one could wait: ${limitAdvice}, or try again.`,
  ])
  t.strictSame([budget.waiting, budget.used, clock.pending], [0, 3 * smallCost, 0])
})

t.test('chunks are collected in a buffer no larger than the announced length', async (t) => {
  const { budget, begin } = fixture(t)
  const request = begin({ 'content-length': '9' })
  for (const chunk of ['[1,', '2,', '3,']) {
    request.payload.write(chunk)
    await until('it has come', () => budget.used > 16 * 1024)
    await new Promise(setImmediate)
    t.equal(budget.used, 16 * 1024 + 9)
  }
  request.payload.end('4')
  t.strictSame(await answered(request), [200, 'read [1,2,3,4'])
})

t.test('a body that has got its memory must make progress while others wait for theirs', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const slow = begin({ 'content-length': '50000' })
  slow.payload.write('[')
  await until('it has begun', () => budget.used > 16 * 1024)
  const [other, holder] = [budget.open(), budget.open()]
  other.force(2 * smallCost)
  holder.growLater(smallCost, () => undefined)
  slow.payload.write('x'.repeat(20_000))
  await until('it waits for memory', () => budget.waiting === 1)
  other.release()
  await until('it has got it', () => budget.waiting === 0)
  await clock.advance(5_000)
  t.equal(slow.answer().status, 0, 'no other request waits')
  budget.open().force(2 * smallCost)
  budget.open().growLater(smallCost, () => undefined)
  budget.open().growLater(smallCost, () => undefined)
  await clock.advance(250)
  t.strictSame(await answered(slow), [408, 'The body came too slowly while others waited for memory.'])
})
