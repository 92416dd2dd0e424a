/** Tests of the memory that stays reserved for a long response until the client has read the response. */
import t from 'tap'
import type { WebhookServer } from '../../src/webhook/server.ts'
import { conversionServer, jobConversion, jobOf, reviewOf } from '../support/conversion/fixture.ts'
import { fixture, review, widgetObject } from '../support/webhook/fixture.ts'

interface Taken {
  readonly answer: Buffer
  /** The value of `server.inFlightBytes` when the server begins to send the response. */
  readonly taken: number
}

/**
 * Returns a function that sends a request to the server. `sender` adds a hook to the server, so `sender` must be called before the server
 * starts.
 */
function sender(server: WebhookServer): (url: string, payload: string) => Promise<Taken> {
  let taken = 0
  server.app.addHook('onSend', (_request, _reply, payload, next) => {
    taken = server.inFlightBytes
    next(null, payload)
  })
  return async (url, payload) => {
    const answer = await server.app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } })
    return { answer: answer.rawPayload, taken }
  }
}

t.test('a long answer to a review counts against the memory budget besides its request', async (t) => {
  let inHandler = 0
  const { server } = await fixture(t, {
    default: (object) => {
      inHandler = server.inFlightBytes
      return { ...object, spec: { ...object.spec, note: 'x'.repeat(object.spec.size * 100_000) } }
    },
  })
  const send = sender(server)
  for (const size of [9, 3]) {
    const payload = JSON.stringify(review({ object: widgetObject({ image: 'i', size }) }))
    const { answer, taken } = await send('/mutate-apps-example-com-v1-widget', payload)
    t.ok(inHandler > 0 && answer.length > size * 100_000)
    t.equal(taken, inHandler + answer.length)
    t.equal(server.inFlightBytes, 0)
  }
})

t.test('a long answer to a ConversionReview counts as far as it is longer than its request', async (t) => {
  let inHandler = 0
  const spokes = new Map(jobConversion.spokes)
  spokes.set('v1beta1', {
    toHub: ({ spec }) => {
      inHandler = server.inFlightBytes
      return { spec: { schedule: {}, notes: { long: 'x'.repeat(Number((spec as { cron: string }).cron)) } } }
    },
    fromHub: () => ({ spec: { cron: 'x' } }),
  })
  const { server } = await conversionServer(t, { ...jobConversion, spokes, lossless: false })
  const send = sender(server)
  for (const length of [1_000, 200_000]) {
    const payload = JSON.stringify(reviewOf([jobOf('v1beta1', { cron: String(length) })]))
    const { answer, taken } = await send('/convert', payload)
    t.ok(inHandler > 0 && answer.length > length)
    t.equal(taken, inHandler + (length > 64 * 1024 ? answer.length - payload.length : 0), `${length} bytes`)
    t.equal(server.inFlightBytes, 0)
  }
})
