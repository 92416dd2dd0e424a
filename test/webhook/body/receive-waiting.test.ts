/** Tests of request bodies that wait for memory, for the client or for the handler, and of request bodies that are refused. */
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import fastify from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { BodyRefused } from '../../../src/webhook/body/body-refused.ts'
import { MemoryBudget, smallCost } from '../../../src/webhook/body/memory-budget.ts'
import { receiveBodies } from '../../../src/webhook/body/receive.ts'

interface Sent {
  readonly payload: PassThrough
  /** The request as the server receives it. */
  raw(): IncomingMessage
  /** The number of chunks that the server has read. */
  chunks(): number
  /** The status of the response; 0 when there is no response yet. */
  status(): number
}

interface Fixture {
  readonly clock: FakeClock
  readonly budget: MemoryBudget
  /** For each refused body: the number of bytes of the budget that are in use when the error handler is called. */
  readonly refusedAt: number[]
  readonly bodies: Buffer[]
  begin(headers?: Record<string, string>): Promise<Sent>
  /** Reserves all memory of the budget, and adds a small request that waits for memory. Returns the function that releases the memory. */
  takeAll(): () => void
}

function fixture(t: Test, handler: () => Promise<string> = async () => 'read'): Fixture {
  const clock = new FakeClock(50_000)
  const budget = new MemoryBudget({ total: 3 * smallCost, reserve: smallCost, clock })
  const refusedAt: number[] = []
  const bodies: Buffer[] = []
  const requests: IncomingMessage[] = []
  const app = fastify()
  t.after(() => app.close())
  app.addHook('onRequest', (request, _reply, next) => {
    requests.push(request.raw)
    next()
  })
  receiveBodies(app, { what: 'AdmissionReview', maxBytes: 100_000, budget, clock, costOf: () => smallCost / 2 })
  app.setErrorHandler((error: Error, _request, reply) => {
    refusedAt.push(budget.used)
    return reply.code(error instanceof BodyRefused ? error.code : 500).send(error.message)
  })
  app.post('/', (request) => {
    bodies.push(request.body as Buffer)
    return handler()
  })
  return {
    clock,
    budget,
    refusedAt,
    bodies,
    async begin(headers = {}) {
      const payload = new PassThrough()
      let status = 0
      let chunks = 0
      const count = requests.length
      const answer = app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json', ...headers } })
      void answer.then(({ statusCode }) => (status = statusCode))
      const raw = await until('it has begun', () => requests[count])
      raw.on('data', () => (chunks += 1))
      return { payload, raw: () => raw, chunks: () => chunks, status: () => status }
    },
    takeAll() {
      const [holder, other, waiting] = [budget.open(), budget.open(), budget.open()]
      other.force(2 * smallCost)
      holder.growLater(smallCost, () => undefined)
      waiting.growLater(smallCost, () => undefined)
      return () => [waiting, other, holder].forEach((charge) => charge.release())
    },
  }
}

t.test('the memory of a refused body is released before its response is sent', async (t) => {
  const { begin, refusedAt } = fixture(t)
  const { payload, status } = await begin()
  payload.end(Buffer.alloc(100_001))
  await until('it is answered', () => status() > 0)
  t.equal(status(), 413)
  t.strictSame(refusedAt, [0])
})

t.test('the bytes of a body are freed with its response', async (t) => {
  const { begin, bodies } = fixture(t)
  const { payload, status } = await begin()
  payload.write('[1,')
  payload.end('2]')
  await until('it is answered', () => status() > 0)
  t.equal(bodies.length, 1)
  await until('its bytes are freed', () => bodies[0]!.length === 0)
})

t.test('the rest of a body that is refused for lack of memory is read and dropped', async (t) => {
  const { begin, clock, takeAll } = fixture(t)
  takeAll()
  const { payload, raw, status } = await begin()
  payload.write('[')
  await until('it is paused', () => raw().isPaused())
  await clock.advance(10_000)
  await until('it is answered', () => status() > 0)
  t.equal(status(), 429)
  t.equal(raw().isPaused(), false)
})

t.test('the connection of a body in tiny chunks is closed', async (t) => {
  const { begin } = fixture(t)
  const { payload, raw, status } = await begin()
  for (let count = 0; count < 261; count += 1) {
    payload.write('x')
    await new Promise(setImmediate)
  }
  await until('it is answered', () => status() > 0)
  t.equal(status(), 400)
  t.equal(raw().destroyed, true)
})

t.test('a chunk that fits into the buffer of its body does not wait for memory', async (t) => {
  const { begin, budget, takeAll } = fixture(t)
  const { payload, chunks, raw } = await begin({ 'content-length': '30' })
  payload.write('[1,')
  await until('the first has come', () => chunks() === 1)
  const release = takeAll()
  const { waiting } = budget
  payload.write('2,')
  await until('the second has come', () => chunks() === 2)
  t.strictSame([budget.waiting, raw().isPaused()], [waiting, false])
  release()
})

t.test('a body that waits for memory is not slow', async (t) => {
  const { begin, budget, clock, takeAll } = fixture(t)
  const { payload, chunks, raw, status } = await begin({ 'content-length': '20001' })
  payload.write('[')
  await until('the first has come', () => chunks() === 1)
  const release = takeAll()
  const { waiting } = budget
  payload.end('x'.repeat(20_000))
  await until('it waits', () => budget.waiting === waiting + 1)
  await clock.advance(5_000)
  t.strictSame([status(), raw().destroyed], [0, false])
  release()
  await until('it is answered', () => status() > 0)
  t.equal(status(), 200)
})

t.test('a body is not slow while its handler runs', async (t) => {
  const opened = Promise.withResolvers<string>()
  const { begin, bodies, clock, takeAll } = fixture(t, () => opened.promise)
  const { payload, raw, status } = await begin()
  payload.write('[1,')
  payload.end('2]')
  await until('its handler runs', () => bodies.length === 1)
  let destroyed = 0
  raw().destroy = () => {
    destroyed += 1
    return raw()
  }
  takeAll()
  await clock.advance(60_000)
  t.equal(destroyed, 0)
  opened.resolve('read')
  await until('it is answered', () => status() > 0)
  t.equal(status(), 200)
})
