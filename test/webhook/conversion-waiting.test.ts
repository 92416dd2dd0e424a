/** Tests of conversions that wait until enough memory is free for their objects. */
import { request } from 'node:https'
import t from 'tap'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { shareMemory } from '../../src/webhook/http/memory-shares.ts'
import { conversionServer, jobConversion, jobOf, reviewOf } from '../support/conversion/fixture.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('a conversion that waits for memory ends when its client disconnects', async (t) => {
  const clock = new FakeClock(0)
  const { logger, entries } = recordingLogger('debug')
  const started: unknown[] = []
  const first = Promise.withResolvers<undefined>()
  const spokes = new Map(jobConversion.spokes)
  spokes.set('v1beta1', {
    toHub: async (object) => {
      if (started.push(object) === 1) await first.promise
      return { spec: { schedule: {} } }
    },
    fromHub: () => ({ spec: { cron: 'x' } }),
  })
  const conversion = { ...jobConversion, spokes, lossless: false }
  const mebibyte = 2 ** 20
  const memory = shareMemory({ limitBytes: 300 * mebibyte, idleBytes: 160 * mebibyte, heapLimitBytes: 512 * mebibyte, processors: 2 })
  const { ask, server } = await conversionServer(t, conversion, { clock, memory, logger })
  const { port } = await server.start()
  const dense = JSON.stringify(reviewOf([jobOf('v1beta1', { cron: '1 2', tasks: Array(49_000).fill({}) })], 'example.com/v1', 'u'))
  const one = ask(t, dense)
  await until('the first is being converted', () => started.length === 1)
  const taken = server.inFlightBytes
  const sent = request({ host: '127.0.0.1', port, path: '/convert', method: 'POST', rejectUnauthorized: false })
  sent.on('error', () => undefined)
  sent.setHeader('content-type', 'application/json').end(dense)
  await until('the second has come', () => server.inFlightBytes > taken + 300_000)
  sent.destroy()
  await until('it is logged', () => entries.some(({ msg }) => msg.startsWith('a conversion was aborted')))
  t.equal(started.length, 1)
  first.resolve(undefined)
  await one
  await until('nothing is taken', () => server.inFlightBytes === 0)
})
