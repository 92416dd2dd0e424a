import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { request } from 'node:https'
import t from 'tap'
import { registeredTracer } from '../../src/telemetry/tracing.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
import { registerTracing } from '../support/telemetry/tracing.ts'
import type { RecordedSpan } from '../support/telemetry/tracing.ts'
import { fixture, handlers, review, widgetObject } from '../support/webhook/fixture.ts'

t.equal(registeredTracer(), undefined, 'without an SDK there is no tracer')
const { spans } = registerTracing()
t.ok(registeredTracer())
t.beforeEach(() => void spans.splice(0))

const url = '/validate-apps-example-com-v1-widget'
const good = widgetObject({ size: 3, image: 'i' })
const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentSpanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${parentSpanId}-01`

function only(): RecordedSpan {
  const [span, ...more] = spans
  if (span === undefined || more.length > 0) throw new Error(`there are ${spans.length} spans`)
  return span
}

t.test('a review is a span in the trace of the API server', async (t) => {
  const { server } = await fixture(t)
  await server.app.inject({ method: 'POST', url, payload: review({ object: good, dryRun: true }), headers: { traceparent } })
  t.strictSame(only(), {
    name: `admission ${url}`,
    kind: SpanKind.SERVER,
    spanId: only().spanId,
    traceId,
    parentSpanId,
    attributes: {
      'http.route': url,
      'k8s.resource.group': 'apps.example.com',
      'k8s.resource.version': 'v1',
      'k8s.resource.kind': 'Widget',
      'k8s.namespace.name': 'ns',
      'k8s.resource.name': 'w',
      'admission.uid': 'uid-1',
      'admission.operation': 'CREATE',
      'admission.dry_run': true,
      'admission.allowed': true,
      'admission.code': 200,
    },
    exceptions: [],
    status: undefined,
    ended: true,
  })
})

t.test('fields that a request lacks are not attributes of the span', async (t) => {
  const { server } = await fixture(t)
  const payload = review({ operation: 'UPDATE', subResource: 'status', namespace: undefined, object: good, oldObject: good })
  await server.app.inject({ method: 'POST', url, payload })
  t.strictSame(only().attributes, {
    'http.route': url,
    'k8s.resource.group': 'apps.example.com',
    'k8s.resource.version': 'v1',
    'k8s.resource.kind': 'Widget',
    'k8s.resource.name': 'w',
    'k8s.resource.subresource': 'status',
    'admission.uid': 'uid-1',
    'admission.operation': 'UPDATE',
    'admission.dry_run': false,
    'admission.allowed': true,
    'admission.code': 200,
  })
})

t.test('without a parent a review starts a trace', async (t) => {
  const { ask } = await fixture(t)
  await ask('mutate', { object: widgetObject({ image: 'i' }) })
  t.match(only(), { parentSpanId: undefined, attributes: { 'admission.patch.operations': 1 }, ended: true })
})

t.test('within the span of an HTTP instrumentation, a review is its child', async (t) => {
  const { server } = await fixture(t)
  const http = registeredTracer()!.startSpan('POST')
  await context.with(trace.setSpan(context.active(), http), async () => {
    await server.app.inject({ method: 'POST', url, payload: review({ object: good }), headers: { traceparent } })
  })
  t.match(spans[1], { kind: SpanKind.INTERNAL, parentSpanId: http.spanContext().spanId, ended: true })
})

t.test('spans of handlers are children of the review, also after an await', async (t) => {
  const { ask } = await fixture(t, {
    validateInCluster: async () => {
      await Promise.resolve()
      registeredTracer()!.startSpan('asking').end()
      return []
    },
  })
  await ask('validate', { object: good })
  const [outer, inner] = spans
  t.match(inner, { name: 'asking', parentSpanId: outer!.spanId, traceId: outer!.traceId })
})

t.test('a denial is not an error of the span', async (t) => {
  const { ask } = await fixture(t, handlers)
  await ask('validate', { object: widgetObject({ size: 3, image: 'i', note: 'bad' }) })
  t.match(only(), {
    attributes: { 'admission.allowed': false, 'admission.code': 422, 'admission.reason': 'Invalid' },
    status: undefined,
    ended: true,
  })
})

t.test('an error of a handler is an error of the span', async (t) => {
  const error = new Error('oops')
  const { ask } = await fixture(t, {
    validateInCluster: () => {
      throw error
    },
  })
  await ask('validate', { object: good })
  t.match(only(), { exceptions: [error], status: { code: SpanStatusCode.ERROR, message: 'oops' }, ended: true })
  t.match(only().attributes, { 'admission.allowed': false, 'admission.code': 500 })
})

t.test('an exceeded deadline is an error of the span', async (t) => {
  const clock = new FakeClock()
  const { ask } = await fixture(t, { validateInCluster: () => new Promise<never>(() => undefined) }, { clock })
  const answer = ask('validate', { object: good }, '?timeout=5s')
  await eventually(() => clock.pending > 0)
  await clock.advance(4900)
  await answer
  t.match(only(), { status: { code: SpanStatusCode.ERROR, message: /did not decide within 4900 ms/ }, ended: true })
})

t.test('a malformed review is an error of the span', async (t) => {
  const { server } = await fixture(t)
  t.equal((await server.app.inject({ method: 'POST', url, payload: {}, headers: { traceparent } })).statusCode, 400)
  t.match(only(), { traceId, attributes: { 'http.route': url }, status: { code: SpanStatusCode.ERROR, message: /not an AdmissionReview/ } })
  t.equal(only().ended, true)
})

t.test('a client that disconnects ends the span without an error', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const { server, source } = await fixture(t, {
    async validateInCluster(_object, _old, { signal }) {
      entered.resolve()
      await waiting.promise
      signal.throwIfAborted()
      return []
    },
  })
  const { port } = await server.start()
  const sent = request({ host: '127.0.0.1', port, path: url, method: 'POST', ca: source.current().caBundle, servername: 'localhost' })
  sent.on('error', () => undefined)
  sent.setHeader('content-type', 'application/json').end(JSON.stringify(review({ object: good })))
  await entered.promise
  t.strictSame([spans.length, only().ended], [1, false])
  sent.destroy()
  await eventually(() => server.inFlight === 0)
  waiting.resolve()
  await eventually(() => only().ended)
  const { status, exceptions, attributes } = only()
  t.strictSame([status, exceptions, attributes['admission.code'], attributes['admission.allowed']], [undefined, [], 499, false])
})
