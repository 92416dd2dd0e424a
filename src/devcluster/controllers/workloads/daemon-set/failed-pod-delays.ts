/** `FailedPodDelays`: computes how long failed Pods of DaemonSets stay before they are replaced. */

/** The delay is 1 s after the first failure on a node, and doubles up to 15 minutes (k8s.io/kubernetes/cmd/kube-controller-manager/app: newDaemonSetController). */
const firstDelayMs = 1000
const maxDelayMs = 900_000

interface Delay {
  readonly scope: string
  readonly ms: number
  readonly since: number
}

/** The failures on nodes (k8s.io/client-go/util/flowcontrol: Backoff). */
export class FailedPodDelays {
  readonly #delays = new Map<string, Delay>()

  /**
   * Records that a failed Pod is replaced now. Returns 0, or the time in milliseconds until it may be replaced.
   *
   * @param key the DaemonSet and the node.
   * @param scope the state of the DaemonSet. The delays begin anew in another state, and after a long time without failures.
   */
  replace(key: string, scope: string, now: number): number {
    const before = this.#delays.get(key)
    const passedMs = now - (before?.since ?? 0)
    const isRecent = before?.scope === scope && passedMs <= 2 * maxDelayMs
    if (isRecent && passedMs < before.ms) return before.ms - passedMs
    this.#delays.set(key, { scope, ms: isRecent ? Math.min(maxDelayMs, before.ms * 2) : firstDelayMs, since: now })
    return 0
  }

  /** Forgets all failures whose keys have the prefix. */
  forget(prefix: string): void {
    for (const key of this.#delays.keys()) if (key.startsWith(prefix)) this.#delays.delete(key)
  }
}
