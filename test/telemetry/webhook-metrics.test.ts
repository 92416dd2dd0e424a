import t from 'tap'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { boundsOf, changes } from '../support/telemetry/metric-changes.ts'

const lines = async (metrics: Metrics): Promise<string[]> => (await metrics.registry.metrics()).split('\n')
const reviewed = { group: 'example.com', kind: 'Widget', operations: ['CREATE', 'UPDATE'] }

t.test('a webhook has its series from the start, with zero', async (t) => {
  const metrics = new Metrics()
  metrics.webhook('/validate-x', reviewed)
  const text = await lines(metrics)
  for (const series of [
    'controller_runtime_webhook_requests_total{webhook="/validate-x",code="200"} 0',
    'controller_runtime_webhook_requests_total{webhook="/validate-x",code="500"} 0',
    'controller_runtime_webhook_requests_in_flight{webhook="/validate-x"} 0',
    'controller_runtime_webhook_latency_seconds_bucket{le="+Inf",webhook="/validate-x"} 0',
    'controller_runtime_webhook_panics_total 0',
    'proreus_webhook_deadline_overruns_total{webhook="/validate-x"} 0',
    'proreus_webhook_refused_total{webhook="/validate-x",code="413"} 0',
    'proreus_webhook_refused_total{webhook="/validate-x",code="429"} 0',
    'proreus_webhook_warnings_total{webhook="/validate-x"} 0',
    'proreus_webhook_review_duration_seconds_count{webhook="/validate-x",outcome="allowed"} 0',
    'proreus_webhook_in_flight_bytes 0',
  ]) {
    t.ok(text.includes(series), series)
  }
  for (const operation of ['CREATE', 'UPDATE']) {
    for (const outcome of ['allowed', 'denied', 'errored', 'timed_out', 'abandoned']) {
      const labels = `webhook="/validate-x",group="example.com",kind="Widget",operation="${operation}",outcome="${outcome}"`
      t.ok(text.includes(`proreus_webhook_reviews_total{${labels}} 0`), labels)
    }
  }
  t.notOk(text.some((line) => line.includes('operation="DELETE"')))
})

t.test('requests are counted by status, timed, and in flight meanwhile', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/validate-x', reviewed)
  webhook.started(900)
  t.ok((await lines(metrics)).includes('controller_runtime_webhook_requests_in_flight{webhook="/validate-x"} 1'))
  webhook.answered(200)
  webhook.ended(0.0005)
  webhook.started(NaN)
  webhook.ended(0.02)
  webhook.refused(413)
  webhook.refused(429, 200)
  const text = await lines(metrics)
  for (const series of [
    'controller_runtime_webhook_requests_in_flight{webhook="/validate-x"} 0',
    'controller_runtime_webhook_requests_total{webhook="/validate-x",code="200"} 2',
    'controller_runtime_webhook_requests_total{webhook="/validate-x",code="413"} 1',
    'proreus_webhook_refused_total{webhook="/validate-x",code="413"} 1',
    'proreus_webhook_refused_total{webhook="/validate-x",code="429"} 1',
    'controller_runtime_webhook_latency_seconds_bucket{le="0.0001",webhook="/validate-x"} 0',
    'controller_runtime_webhook_latency_seconds_bucket{le="0.001",webhook="/validate-x"} 1',
    'controller_runtime_webhook_latency_seconds_bucket{le="0.1",webhook="/validate-x"} 2',
    'controller_runtime_webhook_latency_seconds_bucket{le="+Inf",webhook="/validate-x"} 2',
    'controller_runtime_webhook_latency_seconds_sum{webhook="/validate-x"} 0.0205',
    'controller_runtime_webhook_latency_seconds_count{webhook="/validate-x"} 2',
    'proreus_webhook_request_bytes_bucket{le="1024",webhook="/validate-x"} 1',
    'proreus_webhook_request_bytes_count{webhook="/validate-x"} 1',
  ]) {
    t.ok(text.includes(series), series)
  }
  t.equal(text.filter((line) => line.startsWith('controller_runtime_webhook_latency_seconds_bucket')).length, 13, '12 buckets and +Inf')
})

t.test('reviews are counted and timed by outcome', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/mutate-x', reviewed)
  webhook.reviewed('CREATE', 'allowed', 0.0002)
  webhook.reviewed('CREATE', 'denied', 0.3)
  webhook.reviewed('DELETE', 'timed_out', 40)
  webhook.overran()
  webhook.panicked()
  webhook.patched(0, 0)
  webhook.patched(3, 200)
  webhook.warned(2)
  const text = await lines(metrics)
  const kind = 'webhook="/mutate-x",group="example.com",kind="Widget"'
  for (const series of [
    `proreus_webhook_reviews_total{${kind},operation="CREATE",outcome="allowed"} 1`,
    `proreus_webhook_reviews_total{${kind},operation="CREATE",outcome="denied"} 1`,
    `proreus_webhook_reviews_total{${kind},operation="DELETE",outcome="timed_out"} 1`,
    'proreus_webhook_review_duration_seconds_bucket{le="0.0001",webhook="/mutate-x",outcome="allowed"} 0',
    'proreus_webhook_review_duration_seconds_bucket{le="0.00025",webhook="/mutate-x",outcome="allowed"} 1',
    'proreus_webhook_review_duration_seconds_bucket{le="30",webhook="/mutate-x",outcome="timed_out"} 0',
    'proreus_webhook_review_duration_seconds_bucket{le="+Inf",webhook="/mutate-x",outcome="timed_out"} 1',
    'proreus_webhook_deadline_overruns_total{webhook="/mutate-x"} 1',
    'proreus_webhook_patch_operations_bucket{le="0",webhook="/mutate-x"} 1',
    'proreus_webhook_patch_operations_sum{webhook="/mutate-x"} 3',
    'proreus_webhook_patch_bytes_bucket{le="256",webhook="/mutate-x"} 1',
    'proreus_webhook_patch_bytes_count{webhook="/mutate-x"} 1',
    'proreus_webhook_warnings_total{webhook="/mutate-x"} 2',
    'controller_runtime_webhook_panics_total 1',
  ]) {
    t.ok(text.includes(series), series)
  }
})

t.test('each report of a webhook changes its own series only', async (t) => {
  const metrics = new Metrics()
  const other = metrics.webhook('/other', reviewed)
  const webhook = metrics.webhook('/x', reviewed)
  const path = 'webhook="/x"'
  const observed = (name: string, sum: number, labels = path): string[] => [`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} 1`]
  const review = (operation: string, outcome: string, kind = 'group="example.com",kind="Widget"'): string =>
    `proreus_webhook_reviews_total{${path},${kind},operation="${operation}",outcome="${outcome}"}`
  const outcomes = ['denied', 'errored', 'timed_out', 'abandoned'] as const
  const cases: [() => void, string[]][] = [
    [
      () => webhook.started(0),
      [`controller_runtime_webhook_requests_in_flight{${path}} 1`, `proreus_webhook_request_bytes_count{${path}} 1`],
    ],
    [() => webhook.started(NaN), [`controller_runtime_webhook_requests_in_flight{${path}} 2`]],
    [
      () => webhook.ended(2),
      [...observed('controller_runtime_webhook_latency_seconds', 2), `controller_runtime_webhook_requests_in_flight{${path}} 1`],
    ],
    [() => webhook.answered(500), [`controller_runtime_webhook_requests_total{${path},code="500"} 1`]],
    [() => webhook.answered(200), [`controller_runtime_webhook_requests_total{${path},code="200"} 1`]],
    [
      () => webhook.refused(429),
      [`controller_runtime_webhook_requests_total{${path},code="429"} 1`, `proreus_webhook_refused_total{${path},code="429"} 1`],
    ],
    [
      () => webhook.refused(415, 200),
      [`controller_runtime_webhook_requests_total{${path},code="200"} 2`, `proreus_webhook_refused_total{${path},code="415"} 1`],
    ],
    [
      () => webhook.reviewed('UPDATE', 'allowed', 2),
      [`${review('UPDATE', 'allowed')} 1`, ...observed('proreus_webhook_review_duration_seconds', 2, `${path},outcome="allowed"`)],
    ],
    ...outcomes.map((outcome): [() => void, string[]] => [
      () => webhook.reviewed('CREATE', outcome, 3),
      [`${review('CREATE', outcome)} 1`, ...observed('proreus_webhook_review_duration_seconds', 3, `${path},outcome="${outcome}"`)],
    ]),
    [() => webhook.overran(), [`proreus_webhook_deadline_overruns_total{${path}} 1`]],
    [() => webhook.patched(0, 2), [`proreus_webhook_patch_operations_sum{${path}} 0`, `proreus_webhook_patch_operations_count{${path}} 1`]],
    [
      () => webhook.patched(3, 70),
      [
        `proreus_webhook_patch_operations_sum{${path}} 3`,
        `proreus_webhook_patch_operations_count{${path}} 2`,
        ...observed('proreus_webhook_patch_bytes', 70),
      ],
    ],
    [() => webhook.warned(3), [`proreus_webhook_warnings_total{${path}} 3`]],
    [() => webhook.panicked(), ['controller_runtime_webhook_panics_total 1']],
    [() => other.panicked(), ['controller_runtime_webhook_panics_total 2']],
  ]
  for (const [act, expected] of cases) t.strictSame(await changes(metrics, act), expected, String(act))
})

t.test('an unexpected operation, and a webhook without a kind, are counted', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/x')
  const labels = (outcome: string): string => `webhook="/x",group="",kind="",operation="DELETE",outcome="${outcome}"`
  t.strictSame(await changes(metrics, () => webhook.reviewed('DELETE', 'allowed', 1)), [
    `proreus_webhook_reviews_total{${labels('allowed')}} 1`,
    ...['denied', 'errored', 'timed_out', 'abandoned'].map((outcome) => `proreus_webhook_reviews_total{${labels(outcome)}} 0`),
    'proreus_webhook_review_duration_seconds_sum{webhook="/x",outcome="allowed"} 1',
    'proreus_webhook_review_duration_seconds_count{webhook="/x",outcome="allowed"} 1',
  ])
})

t.test('the buckets suit the measured values', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/x', reviewed)
  webhook.patched(1, 1)
  const mebi = 2 ** 20
  const kibi = (...powers: number[]): number[] => powers.map((power) => 2 ** power)
  const cases: [string, number[]][] = [
    ['controller_runtime_webhook_latency_seconds', Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`))],
    [
      'proreus_webhook_review_duration_seconds',
      [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ],
    ['proreus_webhook_request_bytes', [...kibi(10, 12, 14, 16, 18), mebi, 2 * mebi, 4 * mebi, 7 * mebi, 32 * mebi, 128 * mebi]],
    ['proreus_webhook_patch_operations', [0, 1, 2, 5, 10, 25, 100, 1000]],
    ['proreus_webhook_patch_bytes', kibi(6, 8, 10, 12, 14, 16, 18, 20)],
  ]
  for (const [name, bounds] of cases) t.strictSame(await boundsOf(metrics, name), [...bounds, Infinity], name)
})

t.test('the same path is the same webhook', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/validate-x', reviewed)
  t.equal(metrics.webhook('/validate-x'), webhook)
  t.not(metrics.webhook('/validate-y'), webhook)
})

t.test('bytes in flight are read on collection', async (t) => {
  const metrics = new Metrics()
  let bytes = 10
  metrics.observeBytesInFlight(() => bytes, 1000)
  t.ok((await lines(metrics)).includes('proreus_webhook_in_flight_bytes 10'))
  t.ok((await lines(metrics)).includes('proreus_webhook_in_flight_bytes_limit 1000'))
  bytes = 0
  t.ok((await lines(metrics)).includes('proreus_webhook_in_flight_bytes 0'))
})

t.test('a reset of the registry resets all series, and they keep counting', async (t) => {
  const metrics = new Metrics()
  const webhook = metrics.webhook('/validate-x', reviewed)
  webhook.answered(200)
  webhook.ended(1)
  metrics.registry.resetMetrics()
  webhook.answered(200)
  webhook.ended(1)
  const text = await lines(metrics)
  t.ok(text.includes('controller_runtime_webhook_requests_total{webhook="/validate-x",code="200"} 1'))
  t.ok(text.includes('controller_runtime_webhook_latency_seconds_count{webhook="/validate-x"} 1'))
})

t.test('values of labels are escaped', async (t) => {
  const metrics = new Metrics()
  metrics.webhook('/a"b\\c\nd')
  t.match(await metrics.registry.metrics(), 'controller_runtime_webhook_requests_in_flight{webhook="/a\\"b\\\\c\\nd"} 0')
})
