/** Records an OpenTelemetry span for each reconcile when tracing is enabled. */
import type { ResourceType } from '../api/group-version-kind.ts'
import type { Attributes } from '../telemetry/tracing.ts'
import type { Reconciler, ReconcileRequest, Result } from './reconciler.ts'
import { requeueOf } from './reconciler.ts'
import { markFailed, openTelemetry, registeredTracer } from '../telemetry/tracing.ts'

/**
 * Returns a reconciler that calls `reconcile`, and records each call as a span in a new trace. Without an OpenTelemetry SDK, returns
 * `reconcile` itself.
 */
export function traced(controller: string, { group, version, kind }: ResourceType, reconcile: Reconciler): Reconciler {
  const tracer = registeredTracer()
  if (tracer === undefined) return reconcile
  const kindOfSpan = openTelemetry().SpanKind.INTERNAL
  const resource = { 'k8s.resource.group': group, 'k8s.resource.version': version, 'k8s.resource.kind': kind }
  return (request, reconcileContext) => {
    const attributes = {
      ...resource,
      ...attributesOf(request),
      'reconcile.controller': controller,
      'reconcile.id': reconcileContext.reconcileID,
    }
    // The worker may run in the async context of an event for another object. With `root: true`, the span gets no parent from that context.
    return tracer.startActiveSpan(`reconcile ${controller}`, { kind: kindOfSpan, root: true, attributes }, async (span) => {
      try {
        const result = await reconcile(request, reconcileContext)
        span.setAttributes({ 'reconcile.result': nameOf(result) })
        return result
      } catch (error) {
        span.setAttributes({ 'reconcile.result': 'error' })
        markFailed(span, error)
        throw error
      } finally {
        span.end()
      }
    })
  }
}

function attributesOf({ namespace, name }: ReconcileRequest): Attributes {
  return { ...(namespace === undefined ? {} : { 'k8s.namespace.name': namespace }), 'k8s.resource.name': name }
}

/** Returns the span attribute `reconcile.result`. The label `result` of `controller_runtime_reconcile_total` has the same value. */
function nameOf(result: Result): string {
  const requeue = requeueOf(result)
  return typeof requeue === 'number' ? 'requeue_after' : requeue
}
