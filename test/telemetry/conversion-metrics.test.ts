import t from 'tap'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { boundsOf, changes } from '../support/telemetry/metric-changes.ts'

t.test('conversions are counted and timed by kind, with zero from the start', async (t) => {
  const metrics = new Metrics()
  const labels = 'kind="Thing.example.com"'
  const nothing = { answered: () => undefined, converted: () => undefined, unkept: () => undefined }
  let kind: ReturnType<typeof metrics.conversion.kind> = nothing
  t.strictSame(await changes(metrics, () => (kind = metrics.conversion.kind('Thing.example.com'))), [
    `proreus_conversion_requests_total{${labels},result="success"} 0`,
    `proreus_conversion_requests_total{${labels},result="failure"} 0`,
    `proreus_conversion_objects_total{${labels},result="success"} 0`,
    `proreus_conversion_objects_total{${labels},result="failure"} 0`,
    `proreus_conversion_seconds_sum{${labels}} 0`,
    `proreus_conversion_seconds_count{${labels}} 0`,
  ])
  t.strictSame(await changes(metrics, () => kind.answered('failure', 0.25)), [
    `proreus_conversion_requests_total{${labels},result="failure"} 1`,
    `proreus_conversion_seconds_sum{${labels}} 0.25`,
    `proreus_conversion_seconds_count{${labels}} 1`,
  ])
  t.strictSame(await changes(metrics, () => kind.converted('success')), [`proreus_conversion_objects_total{${labels},result="success"} 1`])
  t.strictSame(await changes(metrics, () => kind.answered('success', 0.5)), [
    `proreus_conversion_requests_total{${labels},result="success"} 1`,
    `proreus_conversion_seconds_sum{${labels}} 0.75`,
    `proreus_conversion_seconds_count{${labels}} 2`,
  ])
  t.strictSame(await changes(metrics, () => kind.converted('failure')), [`proreus_conversion_objects_total{${labels},result="failure"} 1`])
  t.strictSame(await changes(metrics, () => kind.unkept('two words and more')), [
    `proreus_conversion_unkept_total{${labels},reason="two_words_and_more"} 1`,
  ])
  t.strictSame(await changes(metrics, () => metrics.conversion.panicked()), ['controller_runtime_conversion_webhook_panics_total 1'])
  t.strictSame(await boundsOf(metrics, 'proreus_conversion_seconds'), [
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    5,
    10,
    30,
    Infinity,
  ])
})
