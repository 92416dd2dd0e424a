/**
 * Traces by OpenTelemetry. Only its API package is used here: the process that wants traces loads an SDK, and registers it, before Proreus
 * starts, e.g. with `node --import ./tracing.js`.
 */
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'

export type { Attributes, Span, Tracer }

/** The API's own provider, which stands before that of an SDK. While there is none, `getTracer` gives one that does nothing, and this gives undefined. */
interface DelegatingProvider {
  getDelegateTracer?(name: string, version: string): Tracer | undefined
}

/** The tracer of the SDK that is registered, undefined without one: asked once, at start, so that nothing is spent on spans that go nowhere. */
export function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  const { getDelegateTracer } = provider as DelegatingProvider
  return getDelegateTracer === undefined ? provider.getTracer('proreus', version) : getDelegateTracer.call(provider, 'proreus', version)
}

/** Marks a span as failed, with the error where one was thrown. */
export function markFailed(span: Span, error: unknown): void {
  const message = messageOf(error)
  span.recordException(error instanceof Error ? error : message)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}
