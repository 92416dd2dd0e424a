import { Counter } from 'prom-client'
import t from 'tap'
import { Metrics } from '../../src/telemetry/metrics.ts'

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

t.test('requests to the API server are counted as client-go counts them', async (t) => {
  const metrics = new Metrics()
  metrics.clientRequest({ code: 200, method: 'GET', host: 'a:6443', seconds: 0.01, verb: 'list' })
  metrics.clientRequest({ code: 'error', method: 'GET', host: 'a:6443', seconds: 0.01, verb: 'list' })
  const text = await lines(metrics)
  t.ok(text.includes('rest_client_requests_total{code="200",method="GET",host="a:6443"} 1'))
  t.ok(text.includes('rest_client_requests_total{code="<error>",method="GET",host="a:6443"} 1'))
  t.ok(text.includes('rest_client_request_duration_seconds_count{verb="list",host="a:6443"} 2'))
})

t.test('two sets of metrics know nothing of each other', async (t) => {
  const one = new Metrics()
  const other = new Metrics()
  one.controller('c').reconciled('success', 1)
  t.notMatch(await other.registry.metrics(), /controller="c"/)
})

t.test('metrics of others are served beside', async (t) => {
  const metrics = new Metrics()
  const registers = [metrics.registry]
  new Counter({ name: 'greetings_total', help: 'greetings', labelNames: ['language'], registers }).inc({ language: 'en' })
  t.ok((await lines(metrics)).includes('greetings_total{language="en"} 1'))
  t.throws(() => new Counter({ name: 'proreus_webhook_reviews_total', help: 'a name that is taken', registers }), /already been registered/)
})

t.test('the process reports about itself when asked to', async (t) => {
  const metrics = new Metrics()
  metrics.collectProcess()
  t.match(await metrics.registry.metrics(), /process_resident_memory_bytes/)
})
