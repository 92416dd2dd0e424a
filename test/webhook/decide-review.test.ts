import t from 'tap'
import { failure } from '../../src/api/status.ts'
import type { Client } from '../../src/client/client.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../src/webhook/handlers/requester-access.ts'
import { AdmissionCache } from '../../src/webhook/handlers/admission-cache.ts'
import { BodyRefused } from '../../src/webhook/body/body-refused.ts'
import type { Decision } from '../../src/webhook/decide-review.ts'
import { decide } from '../../src/webhook/decide-review.ts'
import type { AdmissionHandler, Call } from '../../src/webhook/handlers/call.ts'
import { InlineEvaluation } from '../../src/webhook/evaluation/inline.ts'
import { encodeReview, MalformedReview, readReview } from '../../src/webhook/review/admission-review.ts'
import type { DecodedReview } from '../../src/webhook/review/admission-review.ts'
import type { Mismatch } from '../../src/webhook/review/target.ts'
import { review, widgetObject } from '../support/webhook/fixture.ts'
import type { ReviewedRequest } from '../support/webhook/fixture.ts'

const rules = { verb: 'validate', schema: undefined, isAboutObject: true } as const
const decodedOf = (request: ReviewedRequest): DecodedReview => readReview(Buffer.from(JSON.stringify(review(request))))
const decoded = decodedOf({ object: widgetObject({}) })
const ofSubresource = decodedOf({ object: widgetObject({}), subResource: 'status' })
const fits: Mismatch = () => undefined

interface Decided {
  readonly decision: Decision | Promise<Decision>
  readonly hangUp: () => void
  /** Returns true while a listener waits for the client to disconnect. */
  readonly listens: () => boolean
  readonly clock: FakeClock
  /** The parts of the server that handlers may use. */
  readonly parts: Pick<Call, 'client' | 'cache' | 'access' | 'logger'>
}

function decideWith(handler: AdmissionHandler, { ms = 1000, mismatch = fits, applies = true } = {}): Decided {
  const clock = new FakeClock()
  let hangUp: (() => void) | undefined
  const [cache, access] = [new AdmissionCache(undefined), new AccessReviews(clock)]
  const parts = { client: {} as Client, cache, access, logger: silentLogger() }
  const options = { reviewed: 'Widget.apps.example.com', mismatch, handler, clock, ...parts }
  const evaluation = new InlineEvaluation(rules, applies ? decoded : ofSubresource)
  const decision = decide(options, evaluation, ms, (listener) => (hangUp = listener))
  return { decision, hangUp: () => hangUp?.(), listens: () => hangUp !== undefined, clock, parts }
}

t.test('the response of a handler is the decision', async (t) => {
  for (const response of [{ allowed: true, warnings: ['w'] }, { allowed: false }]) {
    const expected = {
      outcome: response.allowed ? 'allowed' : 'denied',
      response,
      written: encodeReview('uid-1', response),
      error: undefined,
    }
    const atOnce = decideWith(() => response)
    t.strictSame(atOnce.decision, expected, 'a synchronous handler needs no promise')
    const later = decideWith(async () => response)
    t.equal(later.listens(), true)
    t.strictSame(await later.decision, expected)
    t.strictSame([atOnce.listens(), atOnce.clock.pending, later.clock.pending], [false, 0, 0])
  }
})

t.test('a malformed review is thrown, and one that is too large is denied', async (t) => {
  for (const later of [false, true]) {
    const failing = (error: Error): AdmissionHandler =>
      later
        ? () => Promise.reject(error)
        : () => {
            throw error
          }
    const malformed = new MalformedReview('is none')
    await t.rejects(async () => decideWith(failing(malformed)).decision, malformed)
    const refused = new BodyRefused(413, 'too much')
    t.strictSame(await decideWith(failing(refused)).decision, {
      outcome: 'denied',
      response: { allowed: false, status: failure(413, 'RequestEntityTooLarge', 'too much') },
      written: undefined,
      error: refused,
    })
  }
  const wrong = { name: 'MalformedReview', message: 'the wrong path' }
  t.throws(() => decideWith(() => ({ allowed: true }), { mismatch: ({ name }) => (name === 'w' ? 'the wrong path' : undefined) }), wrong)
})

t.test('a review that does not apply is allowed without calling the handler', async (t) => {
  let called = 0
  const { decision } = decideWith(() => ((called += 1), { allowed: false }), { applies: false })
  t.match(decision, { outcome: 'allowed', response: { allowed: true } })
  t.equal(called, 0)
})

t.test('a handler that throws or rejects fails the review with 500', async (t) => {
  const error = new Error('oops')
  const handlers: AdmissionHandler[] = [
    () => {
      throw error
    },
    () => Promise.reject(error),
  ]
  for (const handler of handlers) {
    const { decision, clock } = decideWith(handler)
    t.strictSame(await decision, {
      outcome: 'errored',
      response: {
        allowed: false,
        status: failure(500, 'InternalError', 'the webhook for Widget.apps.example.com failed: oops'),
      },
      written: undefined,
      error,
    })
    t.equal(clock.pending, 0)
  }
})

t.test('the signal is aborted when the client has disconnected, also if it is first read afterwards', async (t) => {
  const late = Promise.withResolvers<void>()
  const { decision, hangUp } = decideWith(async (_evaluation, _found, call) => {
    await late.promise
    call.signal.throwIfAborted()
    return { allowed: true }
  })
  hangUp()
  late.resolve()
  const { error, ...abandoned } = await decision
  t.strictSame(abandoned, {
    outcome: 'abandoned',
    response: { allowed: false, status: failure(499, 'Aborted', 'the client no longer waits for this response') },
    written: undefined,
  })
  t.match(error, { name: 'AbortError', message: 'the connection of the request was closed' })
})

t.test('the signal is one object, and is aborted at the deadline', async (t) => {
  const signals: AbortSignal[] = []
  const { decision, clock } = decideWith(
    (_evaluation, _found, call) => {
      signals.push(call.signal, call.signal)
      return new Promise<never>(() => undefined)
    },
    { ms: 50.4 },
  )
  await clock.advance(50.3)
  t.equal(signals[0]!.aborted, false)
  await clock.advance(0.1)
  t.strictSame(await decision, {
    outcome: 'timed_out',
    response: {
      allowed: false,
      status: failure(504, 'Timeout', 'the webhook for Widget.apps.example.com did not decide within 50 ms'),
    },
    written: undefined,
    error: undefined,
  })
  t.equal(signals.length, 2)
  t.equal(signals[0], signals[1])
  t.match(signals[0], { aborted: true, reason: { name: 'TimeoutError' } })
})

t.test('a handler gets the client, the cache, the access reviews and the logger of the server', async (t) => {
  let call: Call | undefined
  const { parts } = decideWith((_evaluation, _found, given) => ((call = given), { allowed: true }))
  for (const name of ['client', 'cache', 'access', 'logger'] as const) t.equal(call![name], parts[name], name)
})
