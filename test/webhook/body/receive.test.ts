import { PassThrough } from 'node:stream'
import fastify from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryBudget, smallCost } from '../../../src/webhook/body/budget.ts'
import { receiveBodies } from '../../../src/webhook/body/receive.ts'
import { BodyRefused } from '../../../src/webhook/body/refused.ts'
import { until } from '../../support/process.ts'

interface Fixture {
  readonly clock: FakeClock
  readonly budget: MemoryBudget
  /** Begins a request; what it is answered with is there in the end. */
  begin(headers?: Record<string, string>): { readonly payload: PassThrough; answer(): { readonly status: number; readonly body: string } }
}

function fixture(t: Test, costOf: (bytes: Buffer) => number = () => smallCost / 2): Fixture {
  const clock = new FakeClock(0)
  const budget = new MemoryBudget({ total: 3 * smallCost, reserve: smallCost, clock })
  const app = fastify()
  t.after(() => app.close())
  receiveBodies(app, { what: 'AdmissionReview', maxBytes: 100_000, advice: 'send less', budget, clock, costOf })
  app.setErrorHandler((error: Error, _request, reply) => reply.code(error instanceof BodyRefused ? error.code : 500).send(error.message))
  app.post('/', ({ body }) => `read ${(body as Buffer).toString()}`)
  return {
    clock,
    budget,
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

t.test('a body is read when all of it is there, and costs what it is said to until it is answered', async (t) => {
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

t.test('what is announced, or sent, beyond the limit is refused, with what to do', async (t) => {
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

t.test('a body of tiny chunks is refused', async (t) => {
  const { budget, begin } = fixture(t)
  const refused = begin()
  const read = begin()
  for (let count = 0; count < 261; count += 1) {
    refused.payload.write('x')
    if (count < 260) read.payload.write('x')
    await new Promise(setImmediate)
  }
  read.payload.end()
  t.equal((await answered(read))[0], 200, 'as long as there are few')
  t.strictSame(await answered(refused), [400, 'The body comes in chunks of less than 64 bytes.'])
  t.equal(budget.used, 0)
})

t.test('what can never be read in the memory that there is, is refused at once', async (t) => {
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

t.test('a body that comes slowly has to go while others wait for memory, and no sooner', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const slow = begin({ 'content-length': '1000' })
  slow.payload.write('[')
  await until('it has begun', () => budget.used > 16 * 1024)
  await clock.advance(20_000)
  t.equal(slow.answer().status, 0, 'nobody waits')
  const other = budget.open()
  other.force(budget.total)
  budget.open().growLater(smallCost, () => undefined)
  budget.open().growLater(smallCost, () => undefined)
  await clock.advance(250)
  t.strictSame(await answered(slow), [408, 'The body came too slowly while others waited for memory.'])
})

t.test('a sender that goes gives back what its body has taken', async (t) => {
  const { budget, begin } = fixture(t)
  const request = begin({ 'content-length': '1000' })
  request.payload.write('[')
  await until('it has begun', () => budget.used > 16 * 1024)
  request.payload.destroy(new Error('gone'))
  await until('all is given back', () => budget.used === 0)
  t.equal(budget.used, 0)
})

t.test('a body that finds no memory is refused when its sender stops waiting, counted from its headers', async (t) => {
  const { clock, budget, begin } = fixture(t)
  const { payload, answer } = begin({ 'content-length': '4' })
  await until('the headers have come', () => budget.used > 0)
  payload.write('[1')
  await clock.advance(6000)
  budget.open().force(budget.total)
  budget.open().growLater(smallCost, () => undefined)
  payload.end(',]')
  await until('the body waits for memory', () => budget.waiting === 1)
  // 10 s, less those for the way back.
  await clock.advance(3899)
  t.equal(answer().status, 0)
  await clock.advance(1)
  t.equal(await until('it is refused', () => answer().status > 0 && answer().status), 429)
})
