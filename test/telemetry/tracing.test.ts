import type { Span } from '@opentelemetry/api'
import { diag, DiagConsoleLogger, SpanStatusCode } from '@opentelemetry/api'
import t from 'tap'
import { version } from '../../src/api/version.ts'
import { markFailed, openTelemetry, registeredTracer } from '../../src/telemetry/tracing.ts'

t.test('a failed span has the exception and its message, for any thrown value', (t) => {
  const calls: unknown[][] = []
  const span = {
    recordException: (exception: unknown) => calls.push(['exception', exception]),
    setStatus: (status: unknown) => calls.push(['status', status]),
  } as unknown as Span
  const error = new Error('no luck')
  markFailed(span, error)
  markFailed(span, 'a text')
  markFailed(span, 7)
  t.equal(calls[0]![1], error)
  t.strictSame(calls.slice(1), [
    ['status', { code: SpanStatusCode.ERROR, message: 'no luck' }],
    ['exception', 'a text'],
    ['status', { code: SpanStatusCode.ERROR, message: 'a text' }],
    ['exception', '7'],
    ['status', { code: SpanStatusCode.ERROR, message: '7' }],
  ])
  t.end()
})

t.test('the tracer has the name and version of Proreus, and is absent without an SDK', (t) => {
  const { trace } = openTelemetry()
  const unused = t.capture(trace, 'getTracerProvider')
  t.equal(registeredTracer(), undefined)
  t.strictSame(unused(), [])
  diag.setLogger(new DiagConsoleLogger())
  t.teardown(() => diag.disable())
  const asked: unknown[][] = []
  const tracer = {}
  const getTracer = (...names: unknown[]): object => (asked.push(names), tracer)
  let provider: object = { getTracer }
  t.intercept(trace, 'getTracerProvider', { value: () => provider, configurable: true, writable: true })
  t.equal(registeredTracer(), tracer)
  provider = { getTracer: () => t.fail('has no effect'), getDelegateTracer: (...names: unknown[]) => void asked.push(names) }
  t.equal(registeredTracer(), undefined)
  provider = { getTracer: () => t.fail('has no effect'), getDelegateTracer: getTracer }
  t.equal(registeredTracer(), tracer)
  t.strictSame(asked, [
    ['proreus', version],
    ['proreus', version],
    ['proreus', version],
  ])
  t.end()
})
