/** A minimal OpenTelemetry SDK. It records spans, propagates contexts through promises and reads the header `traceparent`. */
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type {
  Attributes,
  Context,
  Exception,
  Span,
  SpanContext,
  SpanKind,
  SpanOptions,
  SpanStatus,
  TextMapGetter,
} from '@opentelemetry/api'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

export interface RecordedSpan {
  readonly name: string
  readonly kind: SpanKind | undefined
  readonly spanId: string
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Attributes
  readonly exceptions: Exception[]
  status: SpanStatus | undefined
  ended: boolean
}

/** Registers the SDK for the rest of this process. `spans` are in the order of their start. */
export function registerTracing(): { readonly spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = []
  const storage = new AsyncLocalStorage<Context>()
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self, args) as ReturnType<typeof run>),
    bind: (_active, target) => target,
    enable: () => undefined as never,
    disable: () => undefined as never,
  })
  propagation.setGlobalPropagator({
    inject: () => undefined,
    fields: () => ['traceparent'],
    extract(parent: Context, carrier: unknown, getter: TextMapGetter) {
      const [, traceId, spanId] = /^00-(\w{32})-(\w{16})-01$/.exec(String(getter.get(carrier, 'traceparent'))) ?? []
      return traceId === undefined || spanId === undefined
        ? parent
        : trace.setSpanContext(parent, { traceId, spanId, traceFlags: 1, isRemote: true })
    },
  })
  const startSpan = (name: string, options: SpanOptions = {}, parent: Context = context.active()): Span => {
    const parentContext = options.root === true ? undefined : trace.getSpanContext(parent)
    const recorded: RecordedSpan = {
      name,
      kind: options.kind,
      spanId: randomBytes(8).toString('hex'),
      traceId: parentContext?.traceId ?? randomBytes(16).toString('hex'),
      parentSpanId: parentContext?.spanId,
      attributes: { ...options.attributes },
      exceptions: [],
      status: undefined,
      ended: false,
    }
    spans.push(recorded)
    return spanOf(recorded)
  }
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan,
      startActiveSpan(name: string, ...rest: unknown[]) {
        const run = rest.at(-1) as (span: Span) => never
        const [options, parent = context.active()] = rest.slice(0, -1) as [SpanOptions?, Context?]
        const span = startSpan(name, options, parent)
        return context.with(trace.setSpan(parent, span), () => run(span))
      },
    }),
  })
  return { spans }
}

function spanOf(recorded: RecordedSpan): Span {
  const { traceId, spanId } = recorded
  const identity: SpanContext = { traceId, spanId, traceFlags: 1 }
  const span: Span = {
    spanContext: () => identity,
    setAttribute: (key, value) => span.setAttributes({ [key]: value }),
    setAttributes(attributes) {
      Object.assign(recorded.attributes, attributes)
      return span
    },
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    setStatus(status) {
      recorded.status = status
      return span
    },
    updateName: () => span,
    end: () => void (recorded.ended = true),
    isRecording: () => !recorded.ended,
    recordException: (exception) => void recorded.exceptions.push(exception),
  }
  return span
}
