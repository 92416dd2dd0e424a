/** The trace span of one review. Its children are the spans that handlers create. */
import type { Context } from '@opentelemetry/api'
import type { IncomingHttpHeaders } from 'node:http'
import type { Span, Tracer } from '../telemetry/tracing.ts'
import { markFailed, openTelemetry } from '../telemetry/tracing.ts'
import type { Decision } from './decide-review.ts'
import type { AdmissionRequest } from './review/admission-review.ts'

export class ReviewSpan {
  readonly #span: Span
  readonly #context: Context

  /**
   * Starts the span. If an HTTP instrumentation has already created a span for the request, that span is the parent. If there is no such
   * span, the parent is the span in the API server's `traceparent` header.
   */
  constructor(tracer: Tracer, path: string, headers: IncomingHttpHeaders) {
    const { context, propagation, SpanKind, trace } = openTelemetry()
    const active = context.active()
    const inHttpSpan = trace.getSpan(active) !== undefined
    const parent = inHttpSpan ? active : propagation.extract(active, headers)
    const kind = inHttpSpan ? SpanKind.INTERNAL : SpanKind.SERVER
    this.#span = tracer.startSpan(`admission ${path}`, { kind, attributes: { 'http.route': path } }, parent)
    this.#context = trace.setSpan(parent, this.#span)
  }

  /**
   * Runs the review with this span as the active span. Therefore, requests to the API server and log lines of the review belong to the
   * trace.
   */
  run<T>(review: () => T): T {
    return openTelemetry().context.with(this.#context, review)
  }

  /** Sets the attributes of the request. This is possible only after the body has been decoded. */
  requested({ uid, kind, namespace, name, subResource, operation, dryRun }: AdmissionRequest): void {
    this.#span.setAttributes({
      'k8s.resource.group': kind.group,
      'k8s.resource.version': kind.version,
      'k8s.resource.kind': kind.kind,
      ...(namespace === '' ? {} : { 'k8s.namespace.name': namespace }),
      'k8s.resource.name': name,
      ...(subResource === '' ? {} : { 'k8s.resource.subresource': subResource }),
      'admission.uid': uid,
      'admission.operation': operation,
      'admission.dry_run': dryRun,
    })
  }

  /**
   * Sets the attributes of the outcome. The span is marked as failed if the review failed or timed out, but not if the request was denied.
   */
  decided({ outcome, response, written, error }: Decision): void {
    const { allowed, status } = response
    const patch = written?.patch
    this.#span.setAttributes({
      'admission.allowed': allowed,
      'admission.code': status?.code ?? 200,
      ...(status?.reason === undefined ? {} : { 'admission.reason': status.reason }),
      ...(patch === undefined ? {} : { 'admission.patch.operations': patch.operations }),
    })
    if (outcome === 'errored' || outcome === 'timed_out') this.failed(error ?? status?.message)
  }

  failed(error: unknown): void {
    markFailed(this.#span, error)
  }

  end(): void {
    this.#span.end()
  }
}
