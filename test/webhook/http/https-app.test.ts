import { once } from 'node:events'
import { request } from 'node:https'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { systemClock } from '../../../src/runtime/clock.ts'
import { pod } from '../../../src/api/builtin.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { Client } from '../../../src/client/client.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryBudget } from '../../../src/webhook/body/memory-budget.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { AdmissionContext, WebhookHandlers } from '../../../src/webhook/definition/definition.ts'
import { createHttpApp } from '../../../src/webhook/http/https-app.ts'
import { listen } from '../../../src/runtime/listen.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { tlsLimits } from '../../../src/webhook/http/tls.ts'
import { serve } from '../../support/hostile/server.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { changeableSource, fixture, review, widget, widgetObject } from '../../support/webhook/fixture.ts'
import type { Widget } from '../../support/webhook/fixture.ts'

const url = '/validate-apps-example-com-v1-widget'
const good = review({ object: widgetObject({ size: 3, image: 'i' }) })
const json = { 'content-type': 'application/json' }

t.test('a body that is not an AdmissionReview of this path is answered with 400 and the reason', async (t) => {
  const { server } = await fixture(t)
  const cases: [string, string, RegExp][] = [
    ['no body', '', /no body/],
    ['no JSON', '{', /is not (the )?JSON/],
    ['no object', '7', /not an AdmissionReview/],
    ['another kind of object', '{"kind":"Pod"}', /not an AdmissionReview/],
    [
      'an old version',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      /"admission\.k8s\.io\/v1beta1": only admission\.k8s\.io\/v1/,
    ],
    ['no request', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', /no request/],
    ['no uid', JSON.stringify(review({ uid: '' })), /no uid/],
    ['no kind', JSON.stringify({ ...good, request: { uid: 'u', operation: 'CREATE' } }), /no kind/],
    ['an unknown operation', JSON.stringify(review({ operation: 'READ' })), /operation .* is "READ"/],
    ['no object', JSON.stringify(review({})), /no object/],
    ['an update without an oldObject', JSON.stringify(review({ operation: 'UPDATE', object: {} })), /no oldObject/],
    ['an oldObject that is not an object', JSON.stringify(review({ operation: 'DELETE', oldObject: 7 })), /no oldObject/],
    [
      'another kind',
      JSON.stringify(review({ kind: { group: '', version: 'v1', kind: 'Pod' }, object: {} })),
      /reviews Widget\.apps\.example\.com in version v1, and was sent Pod in version v1/,
    ],
    [
      'another version',
      JSON.stringify(review({ kind: { group: 'apps.example.com', version: 'v1beta1', kind: 'Widget' }, object: {} })),
      /sent Widget\.apps\.example\.com in version v1beta1/,
    ],
  ]
  for (const [name, payload, text] of cases) {
    const answer = await server.app.inject({ method: 'POST', url, payload, headers: json })
    t.equal(answer.statusCode, 400, name)
    t.match(answer.body, text, name)
    t.match(answer.headers['content-type'], 'text/plain')
  }
})

t.test('only application/json is accepted', async (t) => {
  const { server } = await fixture(t)
  const cases: [string, number][] = [
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/yaml', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ]
  for (const [type, code] of cases) {
    const answer = await server.app.inject({ method: 'POST', url, payload: JSON.stringify(good), headers: { 'content-type': type } })
    t.equal(answer.statusCode, code, type)
  }
})

t.test('unknown paths get 404, other methods 405', async (t) => {
  const { server } = await fixture(t)
  const unknown = await server.app.inject({ method: 'POST', url: '/mutate-apps-example-com-v1alpha1-widget', payload: good })
  t.equal(unknown.statusCode, 404)
  t.equal(
    unknown.body,
    '/mutate-apps-example-com-v1alpha1-widget is not served. Served are:\n' +
      ['/mutate-apps-example-com-v1-widget', url, '/mutate-apps-example-com-v1beta1-widget', '/validate-apps-example-com-v1beta1-widget']
        .map((path) => `  POST ${path}\n`)
        .join(''),
  )
  t.match(unknown.headers['content-type'], /^text\/plain/)
  t.equal((await server.app.inject({ method: 'GET', url: '/' })).statusCode, 404)
  t.match((await server.app.inject({ method: 'POST', url: '/x?timeout=1s' })).body, /^\/x is not served\./)
  for (const [method, text] of [
    ['GET', `${url} takes a review by POST.\n`],
    ['PUT', `${url} takes a review by POST.\n`],
    ['HEAD', ''],
  ] as const) {
    const answer = await server.app.inject({ method, url: `${url}?timeout=1s` })
    t.equal(answer.statusCode, 405, method)
    t.equal(answer.headers.allow, 'POST')
    t.match(answer.headers['content-type'], /^text\/plain/)
    if (method !== 'HEAD') t.equal(answer.body, text)
  }
})

t.test('the query is ignored when a path is matched', async (t) => {
  const fix = await fixture(t)
  const answer = await fix.server.app.inject({ method: 'POST', url: `${url}?timeout=10s&x=?`, payload: '{', headers: json })
  t.equal(answer.statusCode, 400)
  t.match(fix.entries, [{ level: 'info', path: url, code: 400, msg: /^refused a request: The body is not JSON/ }])
  const refused = (await fix.metrics.registry.metrics()).split('\n').filter((line) => /^proreus_webhook_refused_total\{.* [1-9]/.test(line))
  t.strictSame(refused, [`proreus_webhook_refused_total{webhook="${url}",code="400"} 1`])
})

t.test('a malformed path is refused with 400, and not in metrics', async (t) => {
  const fix = await fixture(t)
  const answer = await fix.server.app.inject({ method: 'POST', url: '/%zz', payload: '{}', headers: json })
  t.equal(answer.statusCode, 400)
  t.notMatch(await fix.metrics.registry.metrics(), /zz/)
})

t.test('two webhooks with the same path are refused', async (t) => {
  const { source, metrics } = await fixture(t)
  const { logger } = recordingLogger()
  const like = resourceType({ group: 'apps-example-com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  const webhooks = [defineWebhook(widget), defineWebhook(like, { validate: () => [] })]
  t.throws(() => createWebhookServer({ webhooks, client: {} as Client, certificates: source, logger, metrics }), {
    code: 'PRO_CONFIG_INVALID',
    message: /Widget\.apps\.example\.com and Widget\.apps-example-com would both be served at \/validate-apps-example-com-v1-widget/,
  })
})

t.test('at the deadline', async (t) => {
  t.test('the handler is aborted and the response is a 504', async (t) => {
    const clock = new FakeClock()
    let signal: AbortSignal | undefined
    const waiting = Promise.withResolvers<void>()
    const options = {
      validate: (_object: unknown, _old: unknown, context: { signal: AbortSignal }) => {
        signal = context.signal
        waiting.resolve()
        return new Promise<never>((_resolve, reject) =>
          context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)),
        )
      },
    }
    const { ask, entries } = await fixture(t, options, { clock })
    const answer = ask('validate', { object: widgetObject({ size: 3, image: 'i' }) }, '?timeout=5s')
    await waiting.promise
    await clock.advance(4899)
    t.equal(signal?.aborted, false)
    await clock.advance(1)
    t.strictSame((await answer).status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the webhook for Widget.apps.example.com did not decide within 4900 ms',
      reason: 'Timeout',
      code: 504,
    })
    t.equal(signal?.aborted, true)
    t.match(
      entries.find(({ level }) => level === 'warn'),
      { uid: 'uid-1', code: 504 },
    )
    t.equal(clock.pending, 0)
  })
})

t.test('requests of a handler to the API server are aborted at the deadline', async (t) => {
  const clock = new FakeClock()
  const requested = Promise.withResolvers<AbortSignal | undefined>()
  const client = {
    get: (_type: unknown, _key: unknown, options?: { signal?: AbortSignal }) => {
      requested.resolve(options?.signal)
      return new Promise<never>(() => undefined)
    },
  } as unknown as Client
  const definition = {
    validateInCluster: (_object: unknown, _old: unknown, context: AdmissionContext) => context.client.get(pod, { name: 'a' }),
  }
  const { ask } = await fixture(t, definition as unknown as WebhookHandlers<Widget>, { clock, client })
  const answer = ask('validate', { object: widgetObject({ size: 3, image: 'i' }) }, '?timeout=5s')
  const signal = await requested.promise
  t.equal(signal?.aborted, false)
  await clock.advance(4900)
  t.match(await answer, { status: { code: 504 } })
  t.equal(signal?.aborted, true)
})

t.test('a client that never completes its headers gets 408; an idle connection is kept', async (t) => {
  const source = await changeableSource()
  const { logger } = recordingLogger()
  const limits = { headersMs: 100, requestMs: 60_000, checkEveryMs: 20 }
  const app = createHttpApp({
    tls: { ...source.current(), ...tlsLimits() },
    maxBodyBytes: 1000,
    budget: new MemoryBudget({ total: 1e6, reserve: 1e5, clock: systemClock }),
    clock: systemClock,
    logger,
    draining: () => false,
    paths: new Set(['/']),
    limits,
  })
  t.after(() => app.close())
  app.post('/', async () => 'ok')
  await app.ready()
  const port = await listen(app.server, { host: '127.0.0.1', port: 0 })
  const open = async (): Promise<TLSSocket> => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: source.current().caBundle })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  const answerTo = async (socket: TLSSocket): Promise<string> => {
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n')
    return String((await once(socket, 'data'))[0])
  }
  const idle = await open()
  t.match(await answerTo(idle), /^HTTP\/1.1 200/)
  const slow = await open()
  slow.write('POST / HTTP/1.1\r\nX-Slow: ')
  const [[text]] = await Promise.all([once(slow, 'data'), once(slow, 'close')])
  t.match(String(text), /^HTTP\/1.1 408/)
  t.match(await answerTo(idle), /^HTTP\/1.1 200/)
})

t.test('headers have at most 16 KiB', async (t) => {
  const { server } = await serve(t)
  const { port } = await server.start()
  const statusWith = (bytes: number): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request({
        port,
        host: '127.0.0.1',
        method: 'GET',
        path: '/',
        rejectUnauthorized: false,
        agent: false,
        headers: { long: 'x'.repeat(bytes) },
      })
      sent
        .on('response', (response) => (response.resume(), resolve(response.statusCode)))
        .on('error', reject)
        .end()
    })
  t.equal(await statusWith(15 * 1024), 404)
  t.equal(await statusWith(17 * 1024), 431)
})
