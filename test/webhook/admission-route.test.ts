import t from 'tap'
import type { Test } from 'tap'
import { failure } from '../../src/api/status.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { WebhookHandlers } from '../../src/webhook/definition/definition.ts'
import { eventually } from '../support/eventually.ts'
import type { Fixture, Widget } from '../support/webhook/fixture.ts'
import { fixture, handlers, review, widgetObject } from '../support/webhook/fixture.ts'

const url = '/validate-apps-example-com-v1-widget'
const good = widgetObject({ size: 3, image: 'i' })
const forever = (): Promise<never> => new Promise(() => undefined)

/**
 * Returns the value of a series; undefined when the series does not exist. `series` is the name of a metric with labels, as in a scrape.
 */
async function valueOf({ metrics }: Fixture, series: string): Promise<number | undefined> {
  const line = (await metrics.registry.metrics()).split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

const reviews = (operation: string, outcome: string, path = url): string =>
  `proreus_webhook_reviews_total{webhook="${path}",group="apps.example.com",kind="Widget",operation="${operation}",outcome="${outcome}"}`

t.test('each review is counted by its outcome', async (t) => {
  const cases: [outcome: string, definition: WebhookHandlers<Widget>, panics: number, level: string][] = [
    ['allowed', {}, 0, 'debug'],
    ['denied', { validateInCluster: () => failure(500, 'InternalError', 'a verdict is one, whatever its code') }, 0, 'info'],
    [
      'errored',
      {
        validateInCluster: () => {
          throw new Error('oops')
        },
      },
      1,
      'error',
    ],
  ]
  for (const [outcome, definition, panics, level] of cases) {
    const fix = await fixture(t, definition)
    await fix.ask('validate', { object: good })
    t.equal(await valueOf(fix, reviews('CREATE', outcome)), 1, outcome)
    t.equal(await valueOf(fix, `proreus_webhook_review_duration_seconds_count{webhook="${url}",outcome="${outcome}"}`), 1, outcome)
    t.equal(await valueOf(fix, `controller_runtime_webhook_requests_total{webhook="${url}",code="200"}`), 1)
    t.equal(await valueOf(fix, `controller_runtime_webhook_requests_in_flight{webhook="${url}"}`), 0)
    t.equal(await valueOf(fix, 'controller_runtime_webhook_panics_total'), panics)
    t.equal(await valueOf(fix, `proreus_webhook_deadline_overruns_total{webhook="${url}"}`), 0)
    t.strictSame(
      fix.entries.map((entry) => entry['level']),
      [level],
      'one log line for each review',
    )
  }
})

t.test('a handler that is aborted at the deadline is counted as a deadline overrun', async (t) => {
  const clock = new FakeClock()
  const fix = await fixture(t, { validateInCluster: forever }, { clock })
  const answer = fix.ask('validate', { operation: 'UPDATE', object: good, oldObject: good }, '?timeout=5s')
  await eventually(() => clock.pending > 0)
  await clock.advance(4900)
  t.match(await answer, { allowed: false, status: { code: 504 } })
  t.equal(await valueOf(fix, reviews('UPDATE', 'timed_out')), 1)
  t.equal(await valueOf(fix, `proreus_webhook_deadline_overruns_total{webhook="${url}"}`), 1)
  t.match(fix.entries, [{ level: 'warn', path: url, uid: 'uid-1', code: 504, msg: /did not decide within 4900 ms/ }])
})

t.test('a handler that blocks the event loop past the deadline is counted as an overrun although it answers', async (t) => {
  const busy = (ms: number): void => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }
  const definition: WebhookHandlers<Widget> = {
    validate: () => {
      busy(60)
      return []
    },
  }
  const fix = await fixture(t, definition)
  t.match(await fix.ask('validate', { object: good }, '?timeout=100ms'), { allowed: true })
  t.equal(await valueOf(fix, reviews('CREATE', 'allowed')), 1)
  t.equal(await valueOf(fix, `proreus_webhook_deadline_overruns_total{webhook="${url}"}`), 1)
})

t.test('request sizes, patch sizes and warnings are measured', async (t) => {
  const fix = await fixture(t, {
    ...handlers,
    validate: (_object, _old, context) => {
      context.warn('one')
      context.warn('two')
      return []
    },
  })
  const { patch } = await fix.ask('mutate', { object: widgetObject({}) })
  await fix.ask('mutate', { object: widgetObject({ size: 3, image: 'i' }) })
  await fix.ask('validate', { object: good })
  const path = '/mutate-apps-example-com-v1-widget'
  const bytes = Buffer.from(patch!, 'base64')
  t.equal(await valueOf(fix, `proreus_webhook_patch_operations_count{webhook="${path}"}`), 2)
  t.equal(await valueOf(fix, `proreus_webhook_patch_operations_bucket{le="0",webhook="${path}"}`), 1)
  t.equal(await valueOf(fix, `proreus_webhook_patch_operations_sum{webhook="${path}"}`), (JSON.parse(bytes.toString()) as unknown[]).length)
  t.equal(await valueOf(fix, `proreus_webhook_patch_bytes_sum{webhook="${path}"}`), bytes.length)
  t.equal(await valueOf(fix, `proreus_webhook_patch_bytes_count{webhook="${path}"}`), 1)
  t.equal(await valueOf(fix, `proreus_webhook_patch_operations_count{webhook="${url}"}`), undefined, 'a validating webhook has no patches')
  const requestBytes = Buffer.byteLength(JSON.stringify(review({ object: good })))
  t.equal(await valueOf(fix, `proreus_webhook_request_bytes_sum{webhook="${url}"}`), requestBytes)
  t.equal(await valueOf(fix, `proreus_webhook_warnings_total{webhook="${url}"}`), 2)
})

t.test('the duration of a review is in seconds in metrics, and in milliseconds in the log', async (t) => {
  const fix = await fixture(t, { validate: async () => [] })
  const began = performance.now()
  for (let count = 0; count < 3; count += 1) await fix.ask('validate', { object: good })
  const ms = performance.now() - began
  for (const series of [
    `controller_runtime_webhook_latency_seconds_sum{webhook="${url}"}`,
    `proreus_webhook_review_duration_seconds_sum{webhook="${url}",outcome="allowed"}`,
  ]) {
    const seconds = await valueOf(fix, series)
    t.ok(seconds! > 0 && seconds! * 1000 <= ms, `${series}: ${seconds}`)
  }
  const logged = fix.entries.reduce((sum, entry) => sum + (entry['ms'] as number), 0)
  t.ok(logged > 0 && logged <= ms + 0.002, `${logged}`)
})

t.test('a running review is in flight, and is observed when it ends, also when it fails', async (t) => {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<never>()
  const fix = await fixture(t, {
    validate: () => {
      entered.resolve()
      return opened.promise
    },
  })
  const inFlight = (): Promise<number | undefined> => valueOf(fix, `controller_runtime_webhook_requests_in_flight{webhook="${url}"}`)
  const answer = fix.ask('validate', { object: good })
  await entered.promise
  t.equal(await inFlight(), 1)
  t.equal(await valueOf(fix, `controller_runtime_webhook_latency_seconds_count{webhook="${url}"}`), 0)
  opened.reject(new Error('oops'))
  t.match(await answer, { allowed: false, status: { code: 500 } })
  t.equal(await inFlight(), 0)
  t.equal(await valueOf(fix, `controller_runtime_webhook_latency_seconds_count{webhook="${url}"}`), 1)
})

t.test('a body that is not an AdmissionReview is answered with 400 and counted, inline and offloaded', async (t) => {
  for (const inline of [true, false]) {
    const fix = await fixture(t, handlers, { evaluation: { isInline: () => inline, threads: 1 } })
    const answer = await fix.server.app.inject({ method: 'POST', url, payload: '[]', headers: { 'content-type': 'application/json' } })
    t.strictSame([answer.statusCode, answer.body], [400, 'The body is not an AdmissionReview.\n'])
    t.equal(await valueOf(fix, `controller_runtime_webhook_requests_in_flight{webhook="${url}"}`), 0)
    t.equal(await valueOf(fix, `controller_runtime_webhook_latency_seconds_count{webhook="${url}"}`), 1)
    t.equal(await valueOf(fix, `controller_runtime_webhook_requests_total{webhook="${url}",code="400"}`), 1)
    t.equal(await valueOf(fix, `controller_runtime_webhook_requests_total{webhook="${url}",code="200"}`), 0)
  }
})

t.test('a review that times out before its body is read is answered with 500', async (t) => {
  const clock = new FakeClock()
  // There are no worker threads, so the review waits for a worker thread until its deadline.
  const evaluation = { isInline: () => false, threads: 0 }
  const fix = await fixture(t, handlers, { clock, evaluation })
  // Until a worker thread parses the body, the server knows only the fields that it finds before the text `,"object":`. In this body, a
  // space follows the comma, so the server does not find the text, and knows no field. Without the uid of the request, the server cannot
  // send an AdmissionResponse.
  const payload = JSON.stringify(review({ object: good })).replace('"object":', ' "object":')
  const answer = fix.server.app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } })
  await clock.untilPending(1)
  await clock.advance(10_000)
  const { statusCode, body } = await answer
  t.strictSame([statusCode, body], [500, 'Internal error.\n'])
  t.match(fix.entries, [
    { level: 'error', path: url, err: { message: 'the webhook for Widget.apps.example.com did not decide within 9900 ms' } },
  ])
})

t.test('requests that are not reviews are counted by status', async (t) => {
  const fix = await fixture(t, handlers, { maxBodyBytes: 2000 })
  const json = { 'content-type': 'application/json' }
  const send = (payload: string | object, headers: Record<string, string> = json, to = url): Promise<unknown> =>
    fix.server.app.inject({ method: 'POST', url: to, payload, headers })
  await send({})
  await send('{')
  await send('x'.repeat(3000))
  await send('a: b', { 'content-type': 'application/yaml' }, `${url}?timeout=1s`)
  await send({}, json, '/elsewhere')
  const code = (status: number): string => `controller_runtime_webhook_requests_total{webhook="${url}",code="${status}"}`
  t.equal(await valueOf(fix, code(400)), 2)
  t.equal(await valueOf(fix, code(413)), 1)
  t.equal(await valueOf(fix, code(415)), 1)
  t.equal(await valueOf(fix, code(200)), 0)
  const refused = (status: number): string => `proreus_webhook_refused_total{webhook="${url}",code="${status}"}`
  t.equal(await valueOf(fix, refused(400)), 2)
  t.equal(await valueOf(fix, refused(413)), 1)
  t.notMatch(await fix.metrics.registry.metrics(), /elsewhere/, 'requests to unknown paths create no series')
})

t.test('the review log', async (t) => {
  const logged = async (test: Test, options: object, uids: string[], object = good): Promise<Record<string, unknown>[]> => {
    const fix = await fixture(test, handlers, options)
    for (const uid of uids) await fix.server.app.inject({ method: 'POST', url, payload: review({ uid, object }) })
    return fix.entries
  }
  const uids = Array.from({ length: 40 }, (_, index) => `uid-${index}`)

  t.test('has a line for each denied review, with its user, object and reason', async (t) => {
    const [line] = await logged(t, { level: 'info' }, ['u'], widgetObject({ size: 3, image: 'i', note: 'bad' }))
    t.match(line, {
      level: 'info',
      msg: 'denied',
      path: url,
      uid: 'u',
      kind: 'Widget',
      namespace: 'ns',
      name: 'w',
      operation: 'CREATE',
      user: 'jane',
      dryRun: false,
      allowed: false,
      code: 422,
      reason: 'Invalid',
      causes: 1,
      ms: Number,
    })
    t.notMatch(JSON.stringify(line), /"bad"/, 'no values of the object')
  })

  t.test('logs allowed reviews at the debug level only', async (t) => {
    t.strictSame(await logged(t, { level: 'info' }, uids), [])
    const [line] = await logged(t, { level: 'debug' }, ['u'])
    t.match(line, { level: 'debug', msg: 'reviewed', uid: 'u', allowed: true, operations: 0, dryRun: false, ms: Number })
  })

  t.test('logs the configured share of allowed reviews, sampled by uid', async (t) => {
    t.equal((await logged(t, { level: 'info', reviewLogSampling: 1 }, uids)).length, uids.length)
    const first = await logged(t, { level: 'info', reviewLogSampling: 0.5 }, uids)
    t.match(first[0], { level: 'info', msg: 'reviewed', allowed: true, operations: 0, user: 'jane' })
    t.ok(first.length > 5 && first.length < 35, `${first.length} of 40`)
    const again = await logged(t, { level: 'info', reviewLogSampling: 0.5 }, uids)
    t.strictSame(
      again.map(({ uid }) => uid),
      first.map(({ uid }) => uid),
    )
    await t.rejects(fixture(t, handlers, { reviewLogSampling: 2 }), { code: 'PRO_CONFIG_INVALID' })
  })

  t.test('redacts secrets in user names', async (t) => {
    const fix = await fixture(t, handlers, { level: 'debug' })
    const userInfo = { username: '-----BEGIN PRIVATE KEY-----\nhidden' }
    await fix.ask('validate', { object: good, userInfo })
    t.notMatch(JSON.stringify(fix.entries), /hidden/)
  })
})
