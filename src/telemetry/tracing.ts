/**
 * Traces by OpenTelemetry. Proreus depends on its API package only: a process that wants traces loads and registers an SDK before Proreus
 * starts, e.g. with `node --import ./tracing.js`.
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

/** Returns the tracer of the registered SDK, or undefined. Called once, at start, so that no spans are created without an SDK. */
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
