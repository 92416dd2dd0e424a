import t from 'tap'
import { Registry } from 'prom-client'
import { CounterMetric, HistogramMetric, HistogramSeries } from '../../src/telemetry/series.ts'

t.test('a value is in the bucket with the least upper bound', (t) => {
  const series = new HistogramSeries([1, 10])
  for (const value of [0, 1, 1.01, 10, 10.01, 1000]) series.observe(value)
  t.strictSame([[...series.counts], series.sum], [[2, 2, 2], 1022.02]) // prettier-ignore
  series.clear()
  t.strictSame([[...series.counts], series.sum], [[0, 0, 0], 0]) // prettier-ignore
  t.end()
})

t.test('a metric is rendered in the Prometheus format, with cumulative buckets', async (t) => {
  const registry = new Registry()
  const histogram = new HistogramMetric({ name: 'h', help: 'of h', labelNames: ['a', 'b'] }, [1, 10], registry)
  const labels = { a: 'x', b: 'y' }
  histogram.with(labels).observe(5)
  histogram.with({ b: 'y', a: 'x' }).observe(0.5)
  t.equal(histogram.with(labels), histogram.with({ ...labels }))
  const counter = new CounterMetric({ name: 'c_total', help: 'of c', labelNames: ['a', 'b'] }, registry)
  counter.with({ a: 'x', b: 'y' }).value += 2
  counter.with({ a: 'y', b: 'x' })
  t.equal(
    await registry.metrics(),
    `# HELP h of h
# TYPE h histogram
h_bucket{le="1",a="x",b="y"} 1
h_bucket{le="10",a="x",b="y"} 2
h_bucket{le="+Inf",a="x",b="y"} 2
h_sum{a="x",b="y"} 5.5
h_count{a="x",b="y"} 2

# HELP c_total of c
# TYPE c_total counter
c_total{a="x",b="y"} 2
c_total{a="y",b="x"} 0
`,
  )
})
