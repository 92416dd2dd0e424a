import { Counter } from 'prom-client'
import t from 'tap'
import type { ReconcileResult } from '../../src/telemetry/metrics.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { boundsOf, changes } from '../support/telemetry/metric-changes.ts'

const lines = async (metrics: Metrics): Promise<string[]> => (await metrics.registry.metrics()).split('\n')

t.test('a controller has all of its series from the start', async (t) => {
  const metrics = new Metrics()
  metrics.controller('mypod')
  const text = await lines(metrics)
  for (const result of ['error', 'requeue_after', 'requeue', 'success']) {
    t.ok(text.includes(`controller_runtime_reconcile_total{controller="mypod",result="${result}"} 0`), result)
  }
  for (const name of [
    'reconcile_errors_total',
    'terminal_reconcile_errors_total',
    'reconcile_panics_total',
    'reconcile_timeouts_total',
    'active_workers',
  ]) {
    t.ok(text.includes(`controller_runtime_${name}{controller="mypod"} 0`), name)
  }
})

t.test('reconciles are counted and timed', async (t) => {
  const metrics = new Metrics()
  const controller = metrics.controller('c')
  controller.reconciled('success', 0.02)
  controller.reconciled('error', 70)
  controller.failedTerminally()
  controller.panicked()
  controller.timedOut()
  controller.activeWorkers(2)
  controller.maxWorkers(4)
  const text = await lines(metrics)
  t.ok(text.includes('controller_runtime_reconcile_total{controller="c",result="success"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_errors_total{controller="c"} 1'))
  t.ok(text.includes('controller_runtime_terminal_reconcile_errors_total{controller="c"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_panics_total{controller="c"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_timeouts_total{controller="c"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_time_seconds_bucket{le="0.025",controller="c"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_time_seconds_bucket{le="60",controller="c"} 1'))
  t.ok(text.includes('controller_runtime_reconcile_time_seconds_count{controller="c"} 2'))
  t.equal(text.filter((line) => line.startsWith('controller_runtime_reconcile_time_seconds_bucket')).length, 41, '40 buckets and +Inf')
  t.ok(text.includes('controller_runtime_active_workers{controller="c"} 2'))
  t.ok(text.includes('controller_runtime_max_concurrent_reconciles{controller="c"} 4'))
})

t.test('each report of a controller changes its own series only', async (t) => {
  const metrics = new Metrics()
  const other = metrics.controller('other')
  const controller = metrics.controller('c')
  const name = (rest: string): string => `controller_runtime_${rest}`
  const timed = (sum: number, count: number): string[] => [
    name(`reconcile_time_seconds_sum{controller="c"} ${sum}`),
    name(`reconcile_time_seconds_count{controller="c"} ${count}`),
  ]
  const results: ReconcileResult[] = ['success', 'requeue', 'requeue_after', 'error']
  for (const [index, result] of results.entries())
    t.strictSame(
      await changes(metrics, () => controller.reconciled(result, 2)),
      [
        name(`reconcile_total{controller="c",result="${result}"} 1`),
        ...(result === 'error' ? [name('reconcile_errors_total{controller="c"} 1')] : []),
        ...timed(2 * (index + 1), index + 1),
      ],
      result,
    )
  const cases: [() => void, string][] = [
    [() => controller.failedTerminally(), 'terminal_reconcile_errors_total'],
    [() => controller.panicked(), 'reconcile_panics_total'],
    [() => controller.timedOut(), 'reconcile_timeouts_total'],
    [() => controller.activeWorkers(1), 'active_workers'],
    [() => controller.maxWorkers(1), 'max_concurrent_reconciles'],
  ]
  for (const [act, metric] of cases) t.strictSame(await changes(metrics, act), [name(`${metric}{controller="c"} 1`)])
  t.strictSame(await changes(metrics, () => other.activeWorkers(3)), [name('active_workers{controller="other"} 3')])
})

t.test('the buckets are those of controller-runtime', async (t) => {
  const metrics = new Metrics()
  metrics.controller('c')
  const queue = metrics.queue('q')
  queue.waited(1)
  queue.worked(1)
  metrics.clientRequest({ code: 200, method: 'GET', host: 'h', seconds: 1, verb: 'get' })
  const upTo = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => Number((from + index * step).toFixed(3)))
  t.strictSame(
    await boundsOf(metrics, 'controller_runtime_reconcile_time_seconds'),
    [0.005, 0.01, 0.025, ...upTo(0.05, 0.5, 0.05), ...upTo(0.6, 1, 0.1), ...upTo(1.25, 2, 0.25), ...upTo(2.5, 5, 0.5), 6, 7, 8, 9, 10]
      .concat([15, 20, 25, 30, 40, 50, 60, Infinity]), // prettier-ignore
  )
  const decades = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`))
  for (const name of ['workqueue_queue_duration_seconds', 'workqueue_work_duration_seconds'])
    t.strictSame(await boundsOf(metrics, name), [...decades, Infinity])
  t.strictSame(
    await boundsOf(metrics, 'rest_client_request_duration_seconds'),
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, Infinity],
    'the buckets of client-go',
  )
})

t.test('each report of a queue changes its own series only', async (t) => {
  const metrics = new Metrics()
  const labels = 'name="q",controller="q"'
  const queue = metrics.queue('q')
  const timed = (name: string): string[] => [`${name}_sum{${labels}} 2`, `${name}_count{${labels}} 1`]
  const cases: [() => void, string[]][] = [
    [() => queue.added(), [`workqueue_adds_total{${labels}} 1`]],
    [() => queue.retried(), [`workqueue_retries_total{${labels}} 1`]],
    [() => queue.depth(4), [`workqueue_depth{${labels},priority="0"} 4`]],
    [() => queue.depth(5, 10), [`workqueue_depth{${labels},priority="10"} 5`]],
    [() => queue.waited(2), timed('workqueue_queue_duration_seconds')],
    [() => queue.worked(2), timed('workqueue_work_duration_seconds')],
    [
      () => queue.observeRunning(() => [2, 7, 3]),
      [`workqueue_unfinished_work_seconds{${labels}} 12`, `workqueue_longest_running_processor_seconds{${labels}} 7`],
    ],
    [
      () => metrics.clientRequest({ code: 404, method: 'DELETE', host: 'h', seconds: 2, verb: 'deletecollection' }),
      [
        'rest_client_requests_total{code="404",method="DELETE",host="h"} 1',
        'rest_client_request_duration_seconds_sum{verb="deletecollection",host="h"} 2',
        'rest_client_request_duration_seconds_count{verb="deletecollection",host="h"} 1',
      ],
    ],
  ]
  for (const [act, expected] of cases) t.strictSame(await changes(metrics, act), expected)
})

t.test('a queue has its counters and its depth from the start', async (t) => {
  const metrics = new Metrics()
  metrics.queue('q')
  const text = await lines(metrics)
  for (const name of ['workqueue_adds_total', 'workqueue_retries_total']) t.ok(text.includes(`${name}{name="q",controller="q"} 0`), name)
  t.ok(text.includes('workqueue_depth{name="q",controller="q",priority="0"} 0'))
})

t.test('a queue reports depth by priority and, when read, the work in progress', async (t) => {
  const metrics = new Metrics()
  const queue = metrics.queue('q')
  let running = [1, 2.5]
  queue.observeRunning(() => running)
  queue.added()
  queue.retried()
  queue.depth(3, -100)
  queue.waited(0.5)
  queue.worked(2)
  const text = await lines(metrics)
  const labels = '{name="q",controller="q"}'
  t.ok(text.includes('workqueue_depth{name="q",controller="q",priority="-100"} 3'))
  t.ok(text.includes('workqueue_depth{name="q",controller="q",priority="0"} 0'))
  t.ok(text.includes(`workqueue_adds_total${labels} 1`))
  t.ok(text.includes(`workqueue_retries_total${labels} 1`))
  t.ok(text.includes('workqueue_queue_duration_seconds_bucket{le="1",name="q",controller="q"} 1'))
  t.ok(text.includes(`workqueue_work_duration_seconds_count${labels} 1`))
  t.ok(text.includes(`workqueue_unfinished_work_seconds${labels} 3.5`))
  t.ok(text.includes(`workqueue_longest_running_processor_seconds${labels} 2.5`))
  running = []
  t.ok((await lines(metrics)).includes(`workqueue_unfinished_work_seconds${labels} 0`))
})

t.test('requests to the API server are counted like in client-go', async (t) => {
  const metrics = new Metrics()
  metrics.clientRequest({ code: 200, method: 'GET', host: 'a:6443', seconds: 0.01, verb: 'list' })
  metrics.clientRequest({ code: 'error', method: 'GET', host: 'a:6443', seconds: 0.01, verb: 'list' })
  const text = await lines(metrics)
  t.ok(text.includes('rest_client_requests_total{code="200",method="GET",host="a:6443"} 1'))
  t.ok(text.includes('rest_client_requests_total{code="<error>",method="GET",host="a:6443"} 1'))
  t.ok(text.includes('rest_client_request_duration_seconds_count{verb="list",host="a:6443"} 2'))
})

t.test('retries and sizes of requests are counted like in client-go', async (t) => {
  const metrics = new Metrics()
  const report = { method: 'POST', host: 'a:6443', seconds: 0.01, verb: 'create' }
  metrics.clientRequest({ ...report, code: 429, isRetry: false, requestBytes: 100, responseBytes: 5000 })
  metrics.clientRequest({ ...report, code: 201, isRetry: true, requestBytes: 100, responseBytes: 300 })
  metrics.clientRequest({ ...report, code: 'error', isRetry: true, requestBytes: 100 })
  const text = await lines(metrics)
  const labels = 'verb="create",host="a:6443"'
  t.ok(text.includes(`rest_client_request_retries_total{code="201",${labels}} 1`))
  t.ok(text.includes(`rest_client_request_retries_total{code="<error>",${labels}} 1`))
  t.notOk(text.some((line) => line.startsWith('rest_client_request_retries_total{code="429"')))
  t.ok(text.includes(`rest_client_request_size_bytes_sum{${labels}} 300`))
  t.ok(text.includes(`rest_client_response_size_bytes_count{${labels}} 2`))
  t.ok(text.includes(`rest_client_response_size_bytes_sum{${labels}} 5300`))
  const bounds = [64, 256, 512, 1024, ...[4, 16, 64, 256, 1024, 4096, 16_384].map((kib) => kib * 1024), Infinity]
  for (const name of ['rest_client_request_size_bytes', 'rest_client_response_size_bytes'])
    t.strictSame(await boundsOf(metrics, name), bounds)
})

t.test('two Metrics are independent', async (t) => {
  const one = new Metrics()
  const other = new Metrics()
  one.controller('c').reconciled('success', 1)
  t.notMatch(await other.registry.metrics(), /controller="c"/)
})

t.test('metrics of the program are served in the same registry', async (t) => {
  const metrics = new Metrics()
  const registers = [metrics.registry]
  new Counter({ name: 'greetings_total', help: 'greetings', labelNames: ['language'], registers }).inc({ language: 'en' })
  t.ok((await lines(metrics)).includes('greetings_total{language="en"} 1'))
  t.throws(() => new Counter({ name: 'proreus_webhook_reviews_total', help: 'a name that is taken', registers }), /already been registered/)
})

t.test('process metrics are opt-in', async (t) => {
  const metrics = new Metrics()
  metrics.collectProcess()
  const text = await metrics.registry.metrics()
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
    t.match(text, new RegExp(`^${name} [0-9]`, 'm'), name)
})

t.test('the cache reports for each resource whether it is up to date', async (t) => {
  const metrics = new Metrics()
  t.notOk((await lines(metrics)).some((line) => line.startsWith('proreus_cache_up_to_date{')))
  const status: { type: string; version: string; view?: string; synced: boolean; lastError?: string }[] = [
    { type: 'pods', version: 'v1', synced: true },
    { type: 'pods', version: 'v1', view: 'labels app=web', synced: false },
    { type: 'nodes', version: 'v1', synced: false },
    { type: 'things.example.com', version: 'v2', synced: true, lastError: 'forbidden' },
  ]
  metrics.observeCache(() => status)
  const cached = async (): Promise<string[]> => (await lines(metrics)).filter((line) => line.startsWith('proreus_cache_up_to_date{'))
  t.strictSame(await cached(), [
    'proreus_cache_up_to_date{resource="pods",version="v1",view=""} 1',
    'proreus_cache_up_to_date{resource="pods",version="v1",view="labels app=web"} 0',
    'proreus_cache_up_to_date{resource="nodes",version="v1",view=""} 0',
    'proreus_cache_up_to_date{resource="things.example.com",version="v2",view=""} 0',
  ])
  status.splice(1, 2, { type: 'nodes', version: 'v1', synced: true })
  const later = await cached()
  t.ok(later.includes('proreus_cache_up_to_date{resource="nodes",version="v1",view=""} 1'))
  t.equal(later.length, 3, 'a view that is no longer watched is not shown')
})
