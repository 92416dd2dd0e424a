/**
 * Metrics for code that runs very often. Callers look up a series by its labels once, and then only change a number. In contrast, the
 * metrics of prom-client build a string of the labels for every observation. prom-client's registry also renders the metrics of this file.
 */
import type { Metric, Registry } from 'prom-client'

export type Labels = Readonly<Record<string, string>>

/** One series of a counter or gauge. */
export class NumberSeries {
  value = 0

  clear(): void {
    this.value = 0
  }
}

/** One series of a histogram: the number of observed values in each bucket. */
export class HistogramSeries {
  readonly #bounds: readonly number[]
  /** The number of values in each bucket. The numbers are not cumulative. The last number counts the values above all bounds. */
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

/** The name, help text and label names of a metric. */
export interface SeriesOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** One line of the Prometheus exposition format, in the form that prom-client's registry expects. */
interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A metric with all its series. prom-client's registry calls `get` and `reset`. */
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
   * Returns the series with these labels. If the series does not exist, creates it with the value zero. Callers should keep the returned
   * series instead of calling this method for every request.
   */
  with(labels: Labels): Series {
    const key = this.labelNames.map((name) => labels[name]).join('\0')
    const known = this.#series.get(key)
    if (known !== undefined) return known.series
    const series = this.create()
    this.#series.set(key, { labels, series })
    return series
  }

  /** Returns all samples; prom-client's registry calls this method to render the metric. */
  get(): Promise<object> {
    const { name, help, type, aggregator } = this
    const values = [...this.#series.values()].flatMap(({ labels, series }) => this.samples(labels, series))
    return Promise.resolve({ name, help, type, aggregator, values })
  }

  /** Sets all series to zero; prom-client's registry calls this method to reset the metric. */
  reset(): void {
    for (const { series } of this.#series.values()) series.clear()
  }

  /** Removes all series. A caller can still update a removed series, but `get` no longer returns the samples of that series. */
  clear(): void {
    this.#series.clear()
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

  /** @param bounds upper bounds of the buckets in ascending order, without `+Inf` */
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
