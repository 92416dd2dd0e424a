import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import t from 'tap'
import { runController } from '../../src/controller/run-controller.ts'
import { defineController } from '../../src/controller/builder.ts'
import type { ReconcileContext, Result } from '../../src/controller/reconciler.ts'
import { traced } from '../../src/controller/traced-reconciler.ts'
import { registeredTracer } from '../../src/telemetry/tracing.ts'
import { controllerWorld, objectOf, thing } from '../support/controller/fakes.ts'
import { registerTracing } from '../support/telemetry/tracing.ts'

const untouched = async (): Promise<Result> => undefined
t.equal(traced('thing', thing, untouched), untouched, 'without an SDK the reconciler is unchanged')
const { spans } = registerTracing()
t.beforeEach(() => void spans.splice(0))

const reconcileContext = { reconcileID: 'r-1' } as ReconcileContext

t.test('each reconcile is a trace of its own', async (t) => {
  const reconcile = traced('thing', thing, async () => {
    await Promise.resolve()
    registeredTracer()!.startSpan('asking').end()
    return { requeueAfterMs: 10 }
  })
  const around = registeredTracer()!
  const result = await around.startActiveSpan('start', () => reconcile({ namespace: 'ns', name: 'a' }, reconcileContext))
  t.strictSame(result, { requeueAfterMs: 10 })
  const [, span, inner] = spans
  t.match(span, {
    name: 'reconcile thing',
    kind: SpanKind.INTERNAL,
    parentSpanId: undefined,
    attributes: {
      'k8s.resource.group': 'example.com',
      'k8s.resource.version': 'v1',
      'k8s.resource.kind': 'Thing',
      'k8s.namespace.name': 'ns',
      'k8s.resource.name': 'a',
      'reconcile.controller': 'thing',
      'reconcile.id': 'r-1',
      'reconcile.result': 'requeue_after',
    },
    status: undefined,
    ended: true,
  })
  t.strictSame(
    { ...span?.attributes },
    {
      'k8s.resource.group': 'example.com',
      'k8s.resource.version': 'v1',
      'k8s.resource.kind': 'Thing',
      'k8s.namespace.name': 'ns',
      'k8s.resource.name': 'a',
      'reconcile.controller': 'thing',
      'reconcile.id': 'r-1',
      'reconcile.result': 'requeue_after',
    },
  )
  t.equal(inner?.parentSpanId, span?.spanId, 'spans of the reconciler are children')
})

t.test('the outcome is an attribute of the span', async (t) => {
  const cases: [Result, string][] = [
    [undefined, 'success'],
    [{ requeue: true }, 'requeue'],
  ]
  for (const [result, name] of cases) {
    await traced('thing', thing, async () => result)({ name: 'a' }, reconcileContext)
    t.equal(spans.at(-1)?.attributes['reconcile.result'], name)
    t.notOk('k8s.namespace.name' in spans.at(-1)!.attributes)
  }
  const error = new Error('oops')
  await t.rejects(traced('thing', thing, () => Promise.reject(error))({ name: 'a' }, reconcileContext), error)
  t.match(spans.at(-1), {
    attributes: { 'reconcile.result': 'error' },
    exceptions: [error],
    status: { code: SpanStatusCode.ERROR, message: 'oops' },
    ended: true,
  })
})

t.test('a controller traces its reconciles', async (t) => {
  const { cache, clock, environment, stop } = controllerWorld()
  const definition = defineController(thing, { reconcile: untouched })
  const informer = cache.of(thing)
  informer.set(objectOf(thing, 'a'))
  const done = runController(definition, environment, stop.signal)
  informer.sync()
  await clock.advance(0)
  stop.abort()
  await done
  t.match(spans, [{ name: 'reconcile thing', attributes: { 'k8s.resource.name': 'a', 'reconcile.result': 'success' }, ended: true }])
})
