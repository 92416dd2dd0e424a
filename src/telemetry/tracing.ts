/**
 * Traces with OpenTelemetry. Proreus depends only on the API package of OpenTelemetry. To create traces, register an SDK before Proreus
 * starts, e.g. with `node --import ./tracing.js`.
 */
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'

export type { Attributes, Span, Tracer }

/**
 * The provider in OpenTelemetry's API package, which delegates to the provider of an SDK. If no SDK is registered, `getDelegateTracer`
 * returns undefined, whereas `getTracer` returns a tracer without effect.
 */
interface DelegatingProvider {
  getDelegateTracer?(name: string, version: string): Tracer | undefined
}

/**
 * Returns the tracer of the registered SDK; undefined if no SDK is registered, and then no spans are created. Each controller and each
 * webhook calls this function only once, when it is created. An SDK that is registered later therefore has no effect on it.
 */
export function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  const { getDelegateTracer } = provider as DelegatingProvider
  return getDelegateTracer === undefined ? provider.getTracer('proreus', version) : getDelegateTracer.call(provider, 'proreus', version)
}

/** Marks a span as failed, and records the error. */
export function markFailed(span: Span, error: unknown): void {
  const message = messageOf(error)
  span.recordException(error instanceof Error ? error : message)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}
