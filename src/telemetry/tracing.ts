/**
 * Traces with OpenTelemetry. Proreus depends only on its API package: for traces, register an SDK before Proreus starts, e.g. with `node
 * --import ./tracing.js`.
 */
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'

export type { Attributes, Span, Tracer }

/**
 * The provider of the API package, which delegates to an SDK. Without an SDK `getDelegateTracer` returns undefined, whereas `getTracer`
 * would return a tracer without effect.
 */
interface DelegatingProvider {
  getDelegateTracer?(name: string, version: string): Tracer | undefined
}

/** Returns the tracer of the registered SDK, or undefined. It is called once, at startup; without an SDK no spans are created. */
export function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  const { getDelegateTracer } = provider as DelegatingProvider
  return getDelegateTracer === undefined ? provider.getTracer('proreus', version) : getDelegateTracer.call(provider, 'proreus', version)
}

/** Marks a span as failed, with the error if there is one. */
export function markFailed(span: Span, error: unknown): void {
  const message = messageOf(error)
  span.recordException(error instanceof Error ? error : message)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}
