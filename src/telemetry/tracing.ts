/**
 * Traces with OpenTelemetry. Proreus depends only on the API package of OpenTelemetry. To create traces, users register an SDK before
 * Proreus starts, e.g. with `node --import ./tracing.js`.
 */
import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { messageOf } from '../api/errors.ts'
import { version } from '../api/version.ts'

export type { Attributes, Span, Tracer }

/**
 * The property of `globalThis` in which OpenTelemetry's API package stores what an SDK registers. All copies of the package use this
 * property (`@opentelemetry/api`: global-utils).
 */
const registered = Symbol.for('opentelemetry.js.api.1')

let loaded: typeof OpenTelemetry | undefined

/**
 * Returns OpenTelemetry's API package. The package has 100 files. It is loaded on first use, because most processes have no SDK and never
 * need it.
 */
export function openTelemetry(): typeof OpenTelemetry {
  loaded ??= createRequire(import.meta.url)('@opentelemetry/api') as typeof OpenTelemetry
  return loaded
}

/**
 * The provider in OpenTelemetry's API package, which delegates to the provider of an SDK. If no SDK is registered, `getDelegateTracer`
 * returns undefined, but `getTracer` returns a tracer without effect.
 */
interface DelegatingProvider {
  getDelegateTracer?(name: string, version: string): Tracer | undefined
}

/**
 * Returns the tracer of the registered SDK. If no SDK is registered, returns undefined, and no spans are created. Each controller and each
 * webhook calls this function once, when the controller or webhook is created. If an SDK is registered later, the controller or webhook
 * does not use the SDK.
 */
export function registeredTracer(): Tracer | undefined {
  if (!(registered in globalThis)) return undefined
  const provider = openTelemetry().trace.getTracerProvider()
  const { getDelegateTracer } = provider as DelegatingProvider
  return getDelegateTracer === undefined ? provider.getTracer('proreus', version) : getDelegateTracer.call(provider, 'proreus', version)
}

/** Marks a span as failed, and records the error. */
export function markFailed(span: Span, error: unknown): void {
  const message = messageOf(error)
  span.recordException(error instanceof Error ? error : message)
  span.setStatus({ code: openTelemetry().SpanStatusCode.ERROR, message })
}
