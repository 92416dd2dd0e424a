/** `EvictionPace`: limits how often the eviction manager of a kubelet evicts Pods. */

/**
 * The eviction manager checks its node every 10 s (k8s.io/kubernetes/pkg/kubelet: evictionMonitoringPeriod). Each check evicts at most one
 * Pod (k8s.io/kubernetes/pkg/kubelet/eviction: managerImpl.synchronize).
 */
const periodMs = 10_000

/** The pace of the evictions on one node. */
export class EvictionPace {
  #earliest = Number.NEGATIVE_INFINITY

  /** The earliest time of the next eviction. */
  get earliest(): number {
    return this.#earliest
  }

  /** Called when a Pod is evicted. */
  evicted(at: number): void {
    this.#earliest = at + periodMs
  }
}
