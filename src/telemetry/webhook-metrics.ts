/** The metrics of webhooks: the metrics of controller-runtime, and additional metrics for decisions, sizes and deadlines. */
import type { Registry } from 'prom-client'
import type { HistogramSeries, Labels, NumberSeries } from './series.ts'
import { CounterMetric, GaugeMetric, HistogramMetric } from './series.ts'

/**
 * The outcome of a review. `denied`: the schema or a handler denied the request. `errored`: a handler threw an error. `timed_out`: the
 * handlers did not decide before the deadline. `abandoned`: the API server closed the connection before the handlers decided.
 */
export type ReviewOutcome = 'allowed' | 'denied' | 'errored' | 'timed_out' | 'abandoned'

/** The kind of the objects that a webhook reviews. The group and the kind are labels of the metrics. */
export interface ReviewedKind {
  readonly group: string
  readonly kind: string
  /** The operations in the webhook's rules. The series of these operations are created when the process starts. */
  readonly operations: readonly string[]
}

/** controller-runtime's upper bounds of histogram buckets in seconds: powers of ten from 10 ns to 1000 s. */
const latencyBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]
/**
 * Upper bounds of histogram buckets in seconds, from the duration of a review without handlers to the API server's maximum webhook timeout,
 * 30 s.
 */
const durationBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/**
 * Upper bounds of histogram buckets in bytes. An AdmissionReview has at most about 7 MiB: two objects of the API server's maximum size, and
 * the other fields. Larger bodies are ConversionReviews of lists.
 */
const requestBuckets = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 2 << 20, 4 << 20, 7 << 20, 32 << 20, 128 << 20]
const operationBuckets = [0, 1, 2, 5, 10, 25, 100, 1000]
const patchBuckets = [64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20]

const webhookOnly = ['webhook']

/** The metrics of all webhooks of a process. */
export class WebhookMetricSet {
  readonly requests: CounterMetric
  readonly latency: HistogramMetric
  readonly inFlight: GaugeMetric
  readonly panics: NumberSeries
  readonly reviews: CounterMetric
  readonly duration: HistogramMetric
  readonly overruns: CounterMetric
  readonly refused: CounterMetric
  readonly requestBytes: HistogramMetric
  readonly patchOperations: HistogramMetric
  readonly patchBytes: HistogramMetric
  readonly warnings: CounterMetric

  constructor(registry: Registry) {
    const counter = (name: string, help: string, labelNames = webhookOnly): CounterMetric =>
      new CounterMetric({ name, help, labelNames }, registry)
    const histogram = (name: string, help: string, bounds: readonly number[], labelNames = webhookOnly): HistogramMetric =>
      new HistogramMetric({ name, help, labelNames }, bounds, registry)

    const requests = 'Total number of admission requests by HTTP status code.'
    this.requests = counter('controller_runtime_webhook_requests_total', requests, ['webhook', 'code'])
    const latency = 'Histogram of the latency of processing admission requests'
    this.latency = histogram('controller_runtime_webhook_latency_seconds', latency, latencyBuckets)
    const inFlight = 'Current number of admission requests being served.'
    this.inFlight = new GaugeMetric(
      { name: 'controller_runtime_webhook_requests_in_flight', help: inFlight, labelNames: webhookOnly },
      registry,
    )
    this.panics = counter('controller_runtime_webhook_panics_total', 'Total number of webhook panics', []).with({})
    const reviews = 'Total number of reviews by how they ended: allowed, denied, errored, timed_out or abandoned'
    this.reviews = counter('proreus_webhook_reviews_total', reviews, ['webhook', 'group', 'kind', 'operation', 'outcome'])
    const duration = 'How long reviews take from the decoded body to the decision, by how they ended'
    this.duration = histogram('proreus_webhook_review_duration_seconds', duration, durationBuckets, ['webhook', 'outcome'])
    const overruns = 'Total number of reviews that took longer than their deadline, whether it cut them off or they answered too late'
    this.overruns = counter('proreus_webhook_deadline_overruns_total', overruns)
    const refused =
      'Total number of requests that were not reviewed, by why: 400 no review, 413 too large, 415 no JSON, 429 too much at a time'
    this.refused = counter('proreus_webhook_refused_total', refused, ['webhook', 'code'])
    this.requestBytes = histogram('proreus_webhook_request_bytes', 'Sizes of the bodies of requests', requestBuckets)
    const operations = 'How many operations the patches of allowed objects have; 0: nothing was to change'
    this.patchOperations = histogram('proreus_webhook_patch_operations', operations, operationBuckets)
    this.patchBytes = histogram('proreus_webhook_patch_bytes', 'Sizes of patches as JSON, of those with operations', patchBuckets)
    this.warnings = counter('proreus_webhook_warnings_total', 'Total number of warnings returned to users')
  }
}

/** The metrics of the webhook at one path. Counting a successful request looks up no labels and builds no string. */
export class WebhookMetrics {
  readonly #set: WebhookMetricSet
  readonly #webhook: Labels
  readonly #reviewed: ReviewedKind | undefined
  readonly #ok: NumberSeries
  readonly #inFlight: NumberSeries
  readonly #latency: HistogramSeries
  readonly #requestBytes: HistogramSeries
  readonly #overruns: NumberSeries
  readonly #warnings: NumberSeries
  readonly #reviews = new Map<string, Readonly<Record<ReviewOutcome, NumberSeries>>>()
  readonly #durations: Partial<Record<ReviewOutcome, HistogramSeries>> = {}
  #patchOperations: HistogramSeries | undefined
  #patchBytes: HistogramSeries | undefined

  constructor(set: WebhookMetricSet, path: string, reviewed?: ReviewedKind) {
    const webhook = { webhook: path }
    this.#set = set
    this.#webhook = webhook
    this.#reviewed = reviewed
    this.#ok = set.requests.with({ ...webhook, code: '200' })
    set.requests.with({ ...webhook, code: '500' })
    this.#inFlight = set.inFlight.with(webhook)
    this.#latency = set.latency.with(webhook)
    this.#requestBytes = set.requestBytes.with(webhook)
    for (const code of ['413', '429']) set.refused.with({ ...webhook, code })
    this.#overruns = set.overruns.with(webhook)
    this.#warnings = set.warnings.with(webhook)
    if (reviewed === undefined) return
    for (const operation of reviewed.operations) this.#reviewsOf(operation)
    // Each series needs memory for seventeen buckets. Therefore, only the series for `allowed` is created here. The series for another
    // outcome is created when this outcome first occurs.
    this.#durations.allowed = set.duration.with({ ...webhook, outcome: 'allowed' })
  }

  /** Counts the start of a request, and observes the size of its body in bytes. Pass NaN if the size is unknown. */
  started(bytes: number): void {
    this.#inFlight.value += 1
    if (bytes >= 0) this.#requestBytes.observe(bytes)
  }

  /** Counts the end of a request, and observes its latency. Some requests end without a response. */
  ended(seconds: number): void {
    this.#inFlight.value -= 1
    this.#latency.observe(seconds)
  }

  /** Counts a response by its HTTP status code. */
  answered(code: number): void {
    const series = code === 200 ? this.#ok : this.#set.requests.with({ ...this.#webhook, code: String(code) })
    series.value += 1
  }

  /**
   * Counts a request that is refused without a review. Two metrics count the request.
   *
   * @param code the HTTP status code in `proreus_webhook_refused_total`.
   * @param status the HTTP status code in `controller_runtime_webhook_requests_total`. Default: `code`.
   */
  refused(code: number, status: number = code): void {
    this.#set.refused.with({ ...this.#webhook, code: String(code) }).value += 1
    this.answered(status)
  }

  /** Counts a finished review by its outcome, and observes its duration. */
  reviewed(operation: string, outcome: ReviewOutcome, seconds: number): void {
    const reviews = this.#reviews.get(operation) ?? this.#reviewsOf(operation)
    reviews[outcome].value += 1
    const duration = (this.#durations[outcome] ??= this.#set.duration.with({ ...this.#webhook, outcome }))
    duration.observe(seconds)
  }

  /** Counts a review that has exceeded its deadline. */
  overran(): void {
    this.#overruns.value += 1
  }

  /** Observes the number of operations and the size in bytes of a mutating webhook's patch. */
  patched(operations: number, bytes: number): void {
    this.#patchOperations ??= this.#set.patchOperations.with(this.#webhook)
    this.#patchOperations.observe(operations)
    if (operations === 0) return
    this.#patchBytes ??= this.#set.patchBytes.with(this.#webhook)
    this.#patchBytes.observe(bytes)
  }

  /** Counts the warnings in a response. */
  warned(count: number): void {
    this.#warnings.value += count
  }

  /** Counts an error that a handler threw. */
  panicked(): void {
    this.#set.panics.value += 1
  }

  #reviewsOf(operation: string): Readonly<Record<ReviewOutcome, NumberSeries>> {
    const { group = '', kind = '' } = this.#reviewed ?? {}
    const seriesOf = (outcome: ReviewOutcome): NumberSeries => this.#set.reviews.with({ ...this.#webhook, group, kind, operation, outcome })
    const reviews = {
      allowed: seriesOf('allowed'),
      denied: seriesOf('denied'),
      errored: seriesOf('errored'),
      timed_out: seriesOf('timed_out'),
      abandoned: seriesOf('abandoned'),
    }
    this.#reviews.set(operation, reviews)
    return reviews
  }
}
