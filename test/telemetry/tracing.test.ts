import type { Span } from '@opentelemetry/api'
import { SpanStatusCode } from '@opentelemetry/api'
import t from 'tap'
import { markFailed } from '../../src/telemetry/tracing.ts'

t.test('a failed span has the exception and its message, for any thrown value', (t) => {
  const calls: unknown[][] = []
  const span = {
    recordException: (exception: unknown) => calls.push(['exception', exception]),
    setStatus: (status: unknown) => calls.push(['status', status]),
  } as unknown as Span
  const error = new Error('no luck')
  markFailed(span, error)
  markFailed(span, 'a text')
  t.equal(calls[0]![1], error)
  t.strictSame(calls.slice(1), [
    ['status', { code: SpanStatusCode.ERROR, message: 'no luck' }],
    ['exception', 'a text'],
    ['status', { code: SpanStatusCode.ERROR, message: 'a text' }],
  ])
  t.end()
})
