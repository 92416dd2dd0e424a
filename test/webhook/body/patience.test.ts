import { PassThrough } from 'node:stream'
import fastify from 'fastify'
import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryBudget, smallCost } from '../../../src/webhook/body/budget.ts'
import { receiveBodies } from '../../../src/webhook/body/receive.ts'
import { BodyRefused } from '../../../src/webhook/body/refused.ts'
import { until } from '../../support/process.ts'

t.test('a body that finds no memory is refused when its sender stops waiting, counted from its headers', async (t) => {
  const clock = new FakeClock(0)
  const budget = new MemoryBudget({ total: 3 * smallCost, reserve: smallCost, clock })
  const app = fastify()
  t.after(() => app.close())
  receiveBodies(app, { what: 'AdmissionReview', maxBytes: 1000, budget, clock, costOf: () => smallCost / 2 })
  app.setErrorHandler((error: Error, _request, reply) => reply.code(error instanceof BodyRefused ? error.code : 500).send(error.message))
  app.post('/', () => 'read')
  const payload = new PassThrough()
  const headers = { 'content-type': 'application/json', 'content-length': '4' }
  let status = 0
  void app.inject({ method: 'POST', url: '/?timeout=10s', payload, headers }).then(({ statusCode }) => (status = statusCode))
  await until('the headers have come', () => budget.used > 0)
  payload.write('[1')
  await clock.advance(6000)
  budget.open().force(budget.total)
  budget.open().growLater(smallCost, () => undefined)
  payload.end(',]')
  await until('the body waits for memory', () => budget.waiting === 1)
  // 10 s, less those for the way back.
  await clock.advance(3899)
  t.equal(status, 0)
  await clock.advance(1)
  t.equal(await until('it is refused', () => status > 0 && status), 429)
})
