/**
 * `QueueDepths`: counts the ready and held keys of a work queue for each priority. A ready key waits for a worker. A held key waits until
 * the worker that is processing the same key has finished. The metric `workqueue_depth` reports the counts.
 */
import type { QueueMetrics } from '../telemetry/metrics.ts'

/**
 * Maximum number of priorities that have a separate metric series. All further priorities share one series. The limit is needed because a
 * reconciler may return any priority. The maximum and the label of the shared series are the same as in controller-runtime.
 */
const maxPriorities = 25
const otherPriorities = 'exceeded_cardinality_limit'

export class QueueDepths {
  readonly #metrics: QueueMetrics | undefined
  readonly #depths = new Map<number | typeof otherPriorities, number>()

  constructor(metrics: QueueMetrics | undefined) {
    this.#metrics = metrics
  }

  /** Adds `change` to the number of ready and held keys with this priority. */
  count(priority: number, change: 1 | -1): void {
    const label = this.#depths.has(priority) || this.#depths.size < maxPriorities ? priority : otherPriorities
    const depth = (this.#depths.get(label) ?? 0) + change
    this.#depths.set(label, depth)
    this.#metrics?.depth(depth, label)
  }

  /** Reports 0 for all priorities. */
  clear(): void {
    for (const label of this.#depths.keys()) this.#metrics?.depth(0, label)
  }
}
