/** The metrics at `/metrics`, with the names, labels and buckets of kube-apiserver. */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { CounterMetric, GaugeMetric, HistogramMetric } from '../../telemetry/series.ts'
import type { NumberSeries } from '../../telemetry/series.ts'
import { memoized } from '../apimachinery/memoized.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { needsContainer } from './container-requests.ts'
import type { RequestInfo } from './request-info.ts'

const requestLabels = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component']
/** The buckets of `apiserver_request_duration_seconds` in seconds (k8s.io/apiserver/pkg/endpoints/metrics). */
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** The names of verbs in kube-apiserver's metrics (k8s.io/apiserver/pkg/endpoints/metrics: canonicalVerb, cleanVerb). */
const verbNames: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' }
const mutatingVerbs: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'])

/** A request that has started and has not ended yet. */
export interface RunningRequest {
  /** Ends the request, and counts the request. If the request is not a watch, also observes its duration. */
  end(code: number, seconds: number): void
}

export class RequestMetrics {
  readonly #registry = new Registry()
  readonly #total: CounterMetric
  readonly #durations: HistogramMetric
  readonly #inflight: Readonly<Record<'mutating' | 'readOnly', NumberSeries>>
  readonly #longrunning: GaugeMetric
  readonly #objects: GaugeMetric
  readonly #countObjects: () => ReadonlyMap<string, number>

  /** @param countObjects returns the number of stored objects of each type, keyed by `PLURAL.GROUP` */
  constructor(countObjects: () => ReadonlyMap<string, number>) {
    this.#countObjects = countObjects
    const registry = this.#registry
    this.#total = new CounterMetric(
      {
        name: 'apiserver_request_total',
        help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
        labelNames: [...requestLabels, 'code'],
      },
      registry,
    )
    this.#durations = new HistogramMetric(
      {
        name: 'apiserver_request_duration_seconds',
        help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
        labelNames: requestLabels,
      },
      durationBuckets,
      registry,
    )
    const inflight = new GaugeMetric(
      {
        name: 'apiserver_current_inflight_requests',
        help: 'Number of requests that this apiserver currently handles per request kind, without long-running requests.',
        labelNames: ['request_kind'],
      },
      registry,
    )
    this.#inflight = { mutating: inflight.with({ request_kind: 'mutating' }), readOnly: inflight.with({ request_kind: 'readOnly' }) }
    this.#longrunning = new GaugeMetric(
      {
        name: 'apiserver_longrunning_requests',
        help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component.',
        labelNames: requestLabels.filter((label) => label !== 'dry_run'),
      },
      registry,
    )
    this.#objects = new GaugeMetric(
      { name: 'apiserver_storage_objects', help: 'Number of stored objects split by kind.', labelNames: ['resource'] },
      registry,
    )
  }

  started(
    request: RequestInfo,
    served: ResourceInfo | undefined,
    { isDryRun, isApply }: { isDryRun: boolean; isApply: boolean },
  ): RunningRequest {
    const labels = labelsOf(request, served, isDryRun, isApply)
    const isLongRunning = labels.verb === 'WATCH'
    const running = isLongRunning
      ? this.#longrunning.with(labels)
      : this.#inflight[mutatingVerbs.has(labels.verb) ? 'mutating' : 'readOnly']
    running.value += 1
    return {
      end: (code, seconds) => {
        running.value -= 1
        this.#total.with({ ...labels, code: String(code) }).value += 1
        // A watch takes as long as the client watches, so its duration is not observed.
        if (!isLongRunning) this.#durations.with(labels).observe(seconds)
      },
    }
  }

  /** Returns all metrics, including the metrics of the process, in the text format of Prometheus. */
  async text(): Promise<string> {
    // As in kube-apiserver, a type that is no longer served has no series (k8s.io/apiserver/pkg/storage/etcd3/metrics: DeleteStoreStats).
    this.#objects.clear()
    for (const [resource, count] of this.#countObjects()) this.#objects.with({ resource }).value = count
    return (await Promise.all([this.#registry.metrics(), metricsOf(process).metrics()])).join('\n')
  }
}

/**
 * The metrics of this process. All clusters in the process share these metrics. Collecting metrics costs time, so the collection begins at
 * the first scrape.
 */
const metricsOf = memoized((_process: NodeJS.Process) => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
})

/**
 * Returns the labels of a request. For an unknown type or path, the labels are empty, so that clients cannot create an unlimited number of
 * series.
 */
function labelsOf(request: RequestInfo, served: ResourceInfo | undefined, isDryRun: boolean, isApply: boolean) {
  const verb = isApply ? 'APPLY' : (verbNames[request.verb] ?? request.verb.toUpperCase())
  const { subresource, path, isResource } = request
  const isServed = served !== undefined && (Object.hasOwn(served.subresources, subresource) || needsContainer(request))
  return {
    verb,
    dry_run: isDryRun ? 'All' : '',
    group: served?.group ?? '',
    version: served?.version ?? '',
    resource: served?.plural ?? '',
    subresource: !isResource ? knownPath(path) : isServed ? subresource : '',
    scope: served === undefined ? '' : scopeOf(request),
    component: 'apiserver',
  }
}

function knownPath(path: string): string {
  return /^\/(?:healthz|livez|readyz|version|metrics|api|apis|openapi\/v2|openapi\/v3)(?=\/|$)/.exec(path)?.[0] ?? ''
}

/** Returns the label `scope` (k8s.io/apiserver/pkg/endpoints/metrics: CleanScope). */
function scopeOf({ name, namespace, verb }: RequestInfo): string {
  if (name !== '' || verb === 'create') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}
