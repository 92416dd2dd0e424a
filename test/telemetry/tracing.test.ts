import type { Span } from '@opentelemetry/api'
import { SpanStatusCode } from '@opentelemetry/api'
import t from 'tap'
import { markFailed } from '../../src/telemetry/tracing.ts'

t.test('a span that failed has the error and its message, whatever was thrown', (t) => {
  const said: unknown[][] = []
  const span = {
    recordException: (exception: unknown) => said.push(['exception', exception]),
    setStatus: (status: unknown) => said.push(['status', status]),
  } as unknown as Span
  const error = new Error('no luck')
  markFailed(span, error)
  markFailed(span, 'a text')
  t.equal(said[0]![1], error)
  t.strictSame(said.slice(1), [
    ['status', { code: SpanStatusCode.ERROR, message: 'no luck' }],
    ['exception', 'a text'],
    ['status', { code: SpanStatusCode.ERROR, message: 'a text' }],
  ])
  t.end()
})
