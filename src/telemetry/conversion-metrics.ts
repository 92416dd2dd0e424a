/** The metrics of conversion webhooks. */
import type { Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'

export type ConversionResult = 'success' | 'failure'

/** The metrics of the conversion webhook for one kind. */
export interface KindConversionMetrics {
  /** Counts the response to a ConversionReview, and observes the duration of the request. */
  answered(result: ConversionResult, seconds: number): void
  /** Counts one object of a ConversionReview. The result is `success` if it was converted, and `failure` if its conversion failed. */
  converted(result: ConversionResult): void
  /**
   * Counts a failure to preserve the fields of an object in a conversion. If the target version lacks fields of the source version, the
   * annotation `conversion.GROUP/VERSION` stores these fields. A later conversion to the source version restores them. `reason` states why
   * the fields were not stored in the annotation, or why they were not restored.
   */
  unkept(reason: string): void
}

/**
 * Upper bounds of the histogram buckets in seconds. The first bound is intended for the conversion of a single object. The last bound is
 * the API server's timeout for the conversion of a list.
 */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics of the conversion webhooks of one process. */
export class ConversionMetrics {
  readonly #requests: Counter<'kind' | 'result'>
  readonly #objects: Counter<'kind' | 'result'>
  readonly #unkept: Counter<'kind' | 'reason'>
  readonly #time: Histogram<'kind'>
  readonly #panics: Counter

  constructor(registry: Registry) {
    const registers = [registry]
    this.#requests = new Counter({
      name: 'proreus_conversion_requests_total',
      help: 'Total number of conversion requests by kind and result',
      labelNames: ['kind', 'result'],
      registers,
    })
    this.#objects = new Counter({
      name: 'proreus_conversion_objects_total',
      help: 'Total number of converted objects by kind and result',
      labelNames: ['kind', 'result'],
      registers,
    })
    this.#unkept = new Counter({
      name: 'proreus_conversion_unkept_total',
      help: 'Total number of conversions that lost or did not restore what a version cannot express, by kind and reason',
      labelNames: ['kind', 'reason'],
      registers,
    })
    this.#time = new Histogram({
      name: 'proreus_conversion_seconds',
      help: 'Length of time per conversion request by kind',
      labelNames: ['kind'],
      buckets,
      registers,
    })
    // This metric has no labels, as in controller-runtime.
    this.#panics = new Counter({
      name: 'controller_runtime_conversion_webhook_panics_total',
      help: 'Total number of conversion webhook panics',
      registers,
    })
  }

  /** Counts a ConversionReview in which a converter threw an error. */
  panicked(): void {
    this.#panics.inc()
  }

  /**
   * Returns the metrics of one kind. Creates the time series of the kind's requests and objects with the value zero. `kind` has the form
   * `Kind.group`.
   */
  kind(kind: string): KindConversionMetrics {
    for (const result of ['success', 'failure'] as const) {
      this.#requests.inc({ kind, result }, 0)
      this.#objects.inc({ kind, result }, 0)
    }
    this.#time.zero({ kind })
    return {
      answered: (result, seconds) => {
        this.#requests.inc({ kind, result })
        this.#time.observe({ kind }, seconds)
      },
      converted: (result) => this.#objects.inc({ kind, result }),
      unkept: (reason) => this.#unkept.inc({ kind, reason: reason.replaceAll(' ', '_') }),
    }
  }
}
