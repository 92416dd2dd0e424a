/**
 * The metrics of a process. Names, labels and buckets are those of controller-runtime, so existing dashboards and alerts work unchanged.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { ConversionMetrics } from './conversion-metrics.ts'
import type { RequestReport } from './request-report.ts'
import type { NumberSeries } from './series.ts'
import { CounterMetric, GaugeMetric, HistogramMetric } from './series.ts'
import type { ReviewedKind } from './webhook-metrics.ts'
import { WebhookMetrics, WebhookMetricSet } from './webhook-metrics.ts'

export type { ReviewedKind, ReviewOutcome, WebhookMetrics } from './webhook-metrics.ts'

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after'

/** The metrics of a controller's reconciles. */
export interface ControllerMetrics {
  /** Counts a finished reconcile by its result, and observes its duration. */
  reconciled(result: ReconcileResult, seconds: number): void
  /** Counts a reconcile that failed with a `TerminalError`. `reconciled('error', …)` is also called. */
  failedTerminally(): void
  /**
   * Counts a reconcile that threw a programming error, such as a `TypeError`. For such a reconcile, the caller also calls
   * `reconciled('error', …)`. Also counts a reconcile whose outcome could not be reported.
   */
  panicked(): void
  /** Counts a reconcile that exceeded its time limit. */
  timedOut(): void
  activeWorkers(count: number): void
  maxWorkers(count: number): void
}

/** The metrics of a work queue. */
export interface QueueMetrics {
  /** Counts a key that became ready to be processed. */
  added(): void
  /**
   * Sets the number of waiting keys that have this priority. A waiting key waits for a worker, or until a worker has finished the same key.
   *
   * @param priority the value of the label `priority`. Default: 0. The value is a number for a single priority, and a string for a series
   *   that several priorities share.
   */
  depth(count: number, priority?: number | string): void
  /** Counts a key that was added with a delay, for example for a retry. */
  retried(): void
  /** Observes the time that a ready key waited for a worker. */
  waited(seconds: number): void
  /** Observes the time for which a worker processed a key. */
  worked(seconds: number): void
  /**
   * Registers `seconds`, which each scrape calls. `seconds` returns one number for each key that a worker is processing: the seconds since
   * the worker started to process the key.
   */
  observeRunning(seconds: () => readonly number[]): void
}

/** The metrics of leader election. */
export interface LeaderElectionMetrics {
  /** Sets whether this replica is the leader. */
  leading(leads: boolean): void
  /** Counts a slow renewal: the leader had to read the Lease before it could renew the Lease. */
  slowpath(): void
}

/** Upper bounds of the histogram buckets for the duration of a reconcile, in seconds. controller-runtime uses the same bounds. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
/** Upper bounds of histogram buckets in seconds: powers of ten from 10 ns to 1000 s. */
const decades = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]
const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

/** Upper bounds of the histogram buckets for the sizes of requests and responses, in bytes. client-go uses the same bounds. */
const sizeBuckets = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

const results: readonly ReconcileResult[] = ['error', 'requeue_after', 'requeue', 'success']

/** The state of one type in the cache. */
interface CachedType {
  /** The type as `plural.group`. */
  readonly type: string
  readonly version: string
  /** Describes the objects and fields that a `cacheView` selects. Absent when the cache stores the whole type. */
  readonly view?: string
  readonly synced: boolean
  readonly lastError?: string
}

/** The metrics of one process. Operators can register further metrics in `registry`. */
export class Metrics {
  readonly registry = new Registry()
  /** @internal */
  readonly conversion = new ConversionMetrics(this.registry)

  readonly #reconciles = this.#counter('controller_runtime_reconcile_total', 'Total number of reconciliations per controller', [
    'controller',
    'result',
  ])
  readonly #reconcileErrors = this.#counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
    ['controller'],
  )
  readonly #terminalErrors = this.#counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
    ['controller'],
  )
  readonly #panics = this.#counter('controller_runtime_reconcile_panics_total', 'Total number of reconciliation panics per controller', [
    'controller',
  ])
  readonly #timeouts = this.#counter(
    'controller_runtime_reconcile_timeouts_total',
    'Total number of reconciliation timeouts per controller',
    ['controller'],
  )
  readonly #reconcileTime = this.#histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation per controller',
    ['controller'],
    reconcileBuckets,
  )
  readonly #maxWorkers = this.#gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles per controller',
    ['controller'],
  )
  readonly #activeWorkers = this.#gauge('controller_runtime_active_workers', 'Number of currently used workers per controller', [
    'controller',
  ])

  readonly #depth = this.#gauge('workqueue_depth', 'Current depth of workqueue by workqueue and priority', [
    'name',
    'controller',
    'priority',
  ])
  readonly #adds = this.#counter('workqueue_adds_total', 'Total number of adds handled by workqueue', ['name', 'controller'])
  readonly #queueTime = this.#histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested',
    ['name', 'controller'],
    decades,
  )
  readonly #workTime = this.#histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes.',
    ['name', 'controller'],
    decades,
  )
  readonly #retries = this.#counter('workqueue_retries_total', 'Total number of retries handled by workqueue', ['name', 'controller'])

  readonly #webhookSet = new WebhookMetricSet(this.registry)
  readonly #webhooks = new Map<string, WebhookMetrics>()

  readonly #clientRequests = this.#counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host.',
    ['code', 'method', 'host'],
  )
  readonly #clientTime = this.#histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    ['verb', 'host'],
    requestBuckets,
  )
  readonly #clientRetries = this.#counter(
    'rest_client_request_retries_total',
    'Number of request retries, partitioned by status code, verb, and host.',
    ['code', 'verb', 'host'],
  )
  readonly #clientRequestSize = this.#histogram(
    'rest_client_request_size_bytes',
    'Request size in bytes. Broken down by verb and host.',
    ['verb', 'host'],
    sizeBuckets,
  )
  readonly #clientResponseSize = this.#histogram(
    'rest_client_response_size_bytes',
    'Response size in bytes. Broken down by verb and host.',
    ['verb', 'host'],
    sizeBuckets,
  )

  readonly #leads = this.#gauge(
    'leader_election_master_status',
    'Whether this replica is the leader of the lease: 1, or 0 while it stands by',
    ['name'],
  )
  readonly #leaseReads = this.#counter(
    'leader_election_slowpath_total',
    'Number of renewals for which the leader had to read the Lease first, because it had changed',
    ['name'],
  )

  readonly #running = new Map<string, () => readonly number[]>()

  readonly #bytesLimit = this.#gauge(
    'proreus_webhook_in_flight_bytes_limit',
    'How many bytes of requests may be held before further ones are refused with 429',
    [],
  )
  #bytesInFlight: () => number = () => 0
  #cachedTypes: () => readonly CachedType[] = () => []

  constructor() {
    const cachedTypes = (): readonly CachedType[] => this.#cachedTypes()
    new Gauge({
      name: 'proreus_cache_up_to_date',
      help: 'Whether the objects of a resource are listed and watched: 1, or 0 before the first list and while requests fail',
      labelNames: ['resource', 'version', 'view'],
      registers: [this.registry],
      collect() {
        this.reset()
        for (const { type, version, view = '', synced, lastError } of cachedTypes())
          this.set({ resource: type, version, view }, synced && lastError === undefined ? 1 : 0)
      },
    })
    const bytesInFlight = (): number => this.#bytesInFlight()
    new Gauge({
      name: 'proreus_webhook_in_flight_bytes',
      help: 'Bytes of requests that are being read or reviewed',
      registers: [this.registry],
      collect() {
        this.set(bytesInFlight())
      },
    })
    this.#runningGauge(
      'workqueue_unfinished_work_seconds',
      'How many seconds of work has been done that is in progress and has not been observed by work_duration.',
      (ages) => ages.reduce((sum, age) => sum + age, 0),
    )
    this.#runningGauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
      (ages) => ages.reduce((longest, age) => Math.max(longest, age), 0),
    )
  }

  /** Adds prom-client's default metrics of the process and of Node.js: memory, CPU, event loop, garbage collection. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  /** Returns the metrics of one controller, and creates their series with the value zero. @internal */
  controller(name: string): ControllerMetrics {
    const controller = { controller: name }
    const reconciles = Object.fromEntries(
      results.map((result) => [result, this.#reconciles.with({ controller: name, result })]),
    ) as Readonly<Record<ReconcileResult, NumberSeries>>
    const errors = this.#reconcileErrors.with(controller)
    const terminalErrors = this.#terminalErrors.with(controller)
    const panics = this.#panics.with(controller)
    const timeouts = this.#timeouts.with(controller)
    const time = this.#reconcileTime.with(controller)
    const active = this.#activeWorkers.with(controller)
    active.value = 0
    return {
      reconciled: (result, seconds) => {
        reconciles[result].value += 1
        if (result === 'error') errors.value += 1
        time.observe(seconds)
      },
      failedTerminally: () => void (terminalErrors.value += 1),
      panicked: () => void (panics.value += 1),
      timedOut: () => void (timeouts.value += 1),
      activeWorkers: (count) => void (active.value = count),
      maxWorkers: (count) => void (this.#maxWorkers.with(controller).value = count),
    }
  }

  /** Returns the metrics of leader election, and creates their series with the value zero. `name` is the name of the Lease. @internal */
  leaderElection(name: string): LeaderElectionMetrics {
    const leads = this.#leads.with({ name })
    const reads = this.#leaseReads.with({ name })
    leads.value = 0
    return {
      leading: (leading) => void (leads.value = leading ? 1 : 0),
      slowpath: () => void (reads.value += 1),
    }
  }

  /** Returns the metrics of one controller's work queue, and creates their series with the value zero. @internal */
  queue(name: string): QueueMetrics {
    const queue = { name, controller: name }
    const adds = this.#adds.with(queue)
    const retries = this.#retries.with(queue)
    const queueTime = this.#queueTime.with(queue)
    const workTime = this.#workTime.with(queue)
    const depths = new Map<number | string, NumberSeries>()
    const depthOf = (priority: number | string): NumberSeries => {
      let depth = depths.get(priority)
      if (depth === undefined) depths.set(priority, (depth = this.#depth.with({ ...queue, priority: String(priority) })))
      return depth
    }
    depthOf(0).value = 0
    return {
      added: () => void (adds.value += 1),
      depth: (count, priority = 0) => void (depthOf(priority).value = count),
      retried: () => void (retries.value += 1),
      waited: (seconds) => queueTime.observe(seconds),
      worked: (seconds) => workTime.observe(seconds),
      observeRunning: (seconds) => void this.#running.set(name, seconds),
    }
  }

  /**
   * Returns the metrics of the webhook at `path`. `reviewed` is the kind that the webhook reviews. It is absent for the conversion
   * webhook. The first call for a path creates the series with the value zero. Later calls for this path ignore `reviewed`.
   * @internal
   */
  webhook(path: string, reviewed?: ReviewedKind): WebhookMetrics {
    const known = this.#webhooks.get(path)
    if (known !== undefined) return known
    const webhook = new WebhookMetrics(this.#webhookSet, path, reviewed)
    this.#webhooks.set(path, webhook)
    return webhook
  }

  /**
   * Registers `read`, which each scrape calls. `read` returns the number of bytes of requests in flight, and `limit` is the maximum of this
   * number.
   * @internal
   */
  observeBytesInFlight(read: () => number, limit: number): void {
    this.#bytesInFlight = read
    this.#bytesLimit.with({}).value = limit
  }

  /**
   * Registers the function `status`. Each scrape calls `status` to get the states of the types in the cache.
   * @internal
   */
  observeCache(status: () => readonly CachedType[]): void {
    this.#cachedTypes = status
  }

  /**
   * Counts one request to the API server.
   * @internal
   */
  clientRequest(request: RequestReport): void {
    const { method, host, verb, seconds, isRetry, requestBytes, responseBytes } = request
    const code = request.code === 'error' ? '<error>' : String(request.code)
    this.#clientRequests.with({ code, method, host }).value += 1
    this.#clientTime.with({ verb, host }).observe(seconds)
    // Each attempt after the first attempt is a retry, as in client-go. The label `code` contains the status code of the response to the
    // retry.
    if (isRetry === true) this.#clientRetries.with({ code, verb, host }).value += 1
    if (requestBytes !== undefined) this.#clientRequestSize.with({ verb, host }).observe(requestBytes)
    if (responseBytes !== undefined) this.#clientResponseSize.with({ verb, host }).observe(responseBytes)
  }

  #counter(name: string, help: string, labelNames: readonly string[]): CounterMetric {
    return new CounterMetric({ name, help, labelNames }, this.registry)
  }

  #gauge(name: string, help: string, labelNames: readonly string[]): GaugeMetric {
    return new GaugeMetric({ name, help, labelNames }, this.registry)
  }

  #histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): HistogramMetric {
    return new HistogramMetric({ name, help, labelNames }, buckets, this.registry)
  }

  /**
   * Adds a gauge with one series for each work queue. At each scrape, `summary` computes the value of a series from `ages`. `ages` contains
   * one number for each key that a worker is processing: the seconds since the worker started to process the key.
   */
  #runningGauge(name: string, help: string, summary: (ages: readonly number[]) => number): void {
    const running = this.#running
    new Gauge({
      name,
      help,
      labelNames: ['name', 'controller'],
      registers: [this.registry],
      collect() {
        for (const [queue, ages] of running) this.set({ name: queue, controller: queue }, summary(ages()))
      },
    })
  }
}
