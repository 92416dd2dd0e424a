/**
 * Metrics for hot paths: a series is looked up by its labels once, and is then a plain object with a number. prom-client's own metrics
 * would build a string of the labels for every count. prom-client renders these metrics, too.
 */
import type { Metric, Registry } from 'prom-client'

export type Labels = Readonly<Record<string, string>>

/** A number to increment or set. */
export class NumberSeries {
  value = 0

  clear(): void {
    this.value = 0
  }
}

/** The number of observed values in each bucket. */
export class HistogramSeries {
  readonly #bounds: readonly number[]
  /** One count for each bound, not cumulative; the last one is for values above all bounds. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1
    this.counts[bucket]! += 1
    this.sum += value
  }

  clear(): void {
    this.counts.fill(0)
    this.sum = 0
  }
}

/** The description of a metric for Prometheus. */
export interface SeriesOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** One line of the exposition, as prom-client renders it. */
interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A metric and its series, with the methods that prom-client's registry calls. */
abstract class SeriesMetric<Series extends { clear(): void }> implements SeriesOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  readonly aggregator = 'sum'
  abstract readonly type: 'counter' | 'gauge' | 'histogram'
  readonly #series = new Map<string, { readonly labels: Labels; readonly series: Series }>()

  constructor({ name, help, labelNames }: SeriesOptions, registry: Registry) {
    this.name = name
    this.help = help
    this.labelNames = labelNames
    registry.registerMetric(this as unknown as Metric<string>)
  }

  /**
   * Returns the series of these labels; a new one is created with the value zero. Call it once and keep the result, rather than for every
   * request.
   */
  with(labels: Labels): Series {
    const key = this.labelNames.map((name) => labels[name]).join('\0')
    const known = this.#series.get(key)
    if (known !== undefined) return known.series
    const series = this.create()
    this.#series.set(key, { labels, series })
    return series
  }

  /** Called by prom-client to render the metric. */
  get(): Promise<object> {
    const { name, help, type, aggregator } = this
    const values = [...this.#series.values()].flatMap(({ labels, series }) => this.samples(labels, series))
    return Promise.resolve({ name, help, type, aggregator, values })
  }

  /** Called by prom-client to reset the metric. */
  reset(): void {
    for (const { series } of this.#series.values()) series.clear()
  }

  protected abstract create(): Series
  protected abstract samples(labels: Labels, series: Series): readonly Sample[]
}

abstract class NumberMetric extends SeriesMetric<NumberSeries> {
  protected create(): NumberSeries {
    return new NumberSeries()
  }

  protected samples(labels: Labels, { value }: NumberSeries): readonly Sample[] {
    return [{ labels, value }]
  }
}

export class CounterMetric extends NumberMetric {
  readonly type = 'counter'
}

export class GaugeMetric extends NumberMetric {
  readonly type = 'gauge'
}

export class HistogramMetric extends SeriesMetric<HistogramSeries> {
  readonly type = 'histogram'
  readonly #bounds: readonly number[]

  /** @param bounds upper bounds of the buckets, ascending, without `+Inf` */
  constructor(options: SeriesOptions, bounds: readonly number[], registry: Registry) {
    super(options, registry)
    this.#bounds = bounds
  }

  protected create(): HistogramSeries {
    return new HistogramSeries(this.#bounds)
  }

  protected samples(labels: Labels, { counts, sum }: HistogramSeries): readonly Sample[] {
    const samples: Sample[] = []
    let count = 0
    for (const [index, bound] of [...this.#bounds, '+Inf'].entries()) {
      count += counts[index]!
      samples.push({ metricName: `${this.name}_bucket`, labels: { le: bound, ...labels }, value: count })
    }
    samples.push({ metricName: `${this.name}_sum`, labels, value: sum }, { metricName: `${this.name}_count`, labels, value: count })
    return samples
  }
}
