import t from 'tap'
import type { Client } from '../../src/client/client.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../src/webhook/access.ts'
import { AdmissionCache } from '../../src/webhook/admission-cache.ts'
import type { Decision } from '../../src/webhook/decision.ts'
import { decide } from '../../src/webhook/decision.ts'
import type { AdmissionHandler } from '../../src/webhook/handler.ts'
import { InlineEvaluation } from '../../src/webhook/evaluation/inline.ts'
import { readReview } from '../../src/webhook/review.ts'
import { review, widgetObject } from '../support/webhook-fixture.ts'

const rules = { verb: 'validate', schema: undefined, isAboutObject: true } as const
const decoded = readReview(Buffer.from(JSON.stringify(review({ object: widgetObject({}) }))))
const mismatch = (): undefined => undefined

function ask(
  handler: AdmissionHandler,
  { ms = 1000 } = {},
): { decision: Decision | Promise<Decision>; hangUp: () => void; clock: FakeClock } {
  const clock = new FakeClock()
  let hangUp = (): void => undefined
  const [cache, access] = [new AdmissionCache(undefined), new AccessReviews(clock)]
  const options = {
    reviewed: 'Widget.apps.example.com',
    mismatch,
    handler,
    client: {} as Client,
    cache,
    access,
    clock,
    logger: silentLogger(),
  }
  const decision = decide(options, new InlineEvaluation(rules, decoded), ms, (listener) => (hangUp = listener))
  return { decision, hangUp: () => hangUp(), clock }
}

t.test('what a handler answers is the decision', async (t) => {
  t.match(await ask(async () => ({ allowed: true })).decision, { outcome: 'allowed', response: { allowed: true } })
  t.match(await ask(async () => ({ allowed: false })).decision, { outcome: 'denied', response: { allowed: false } })
})

t.test('what it throws is too, whether at once or later', async (t) => {
  const error = new Error('oops')
  const handlers: AdmissionHandler[] = [
    () => {
      throw error
    },
    () => Promise.reject(error),
  ]
  for (const handler of handlers) {
    const { decision, clock } = ask(handler)
    t.match(await decision, {
      outcome: 'errored',
      response: { allowed: false, status: { code: 500, message: 'the webhook for Widget.apps.example.com failed: oops' } },
      error,
    })
    t.equal(clock.pending, 0)
  }
})

t.test('the signal has aborted for whoever asks for it afterwards', async (t) => {
  const late = Promise.withResolvers<void>()
  const { decision, hangUp } = ask(async (_evaluation, _found, call) => {
    await late.promise
    call.signal.throwIfAborted()
    return { allowed: true }
  })
  hangUp()
  late.resolve()
  t.match(await decision, { outcome: 'abandoned', response: { status: { code: 499 } }, error: { name: 'AbortError' } })
})

t.test('the signal is one, and aborts at the deadline', async (t) => {
  const asked: AbortSignal[] = []
  const { decision, clock } = ask(
    (_evaluation, _found, call) => {
      asked.push(call.signal, call.signal)
      return new Promise<never>(() => undefined)
    },
    { ms: 50 },
  )
  await clock.advance(50)
  t.match(await decision, { outcome: 'timed_out', response: { status: { code: 504 } } })
  t.equal(asked.length, 2)
  t.equal(asked[0], asked[1])
  t.match(asked[0], { aborted: true, reason: { name: 'TimeoutError' } })
})
