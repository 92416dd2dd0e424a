/** `FailedPodDelays`: computes how long the controller waits before it replaces a failed Pod of a DaemonSet. */

/**
 * The first failed Pod on a node is replaced immediately. The second failed Pod is replaced at least 1 s after the first replacement. The
 * delay doubles with each replacement, up to 15 minutes (k8s.io/kubernetes/cmd/kube-controller-manager/app: newDaemonSetController).
 */
const firstDelayMs = 1000
const maxDelayMs = 900_000

interface Delay {
  readonly scope: string
  readonly ms: number
  readonly since: number
}

/** The last replacement of a failed Pod for each DaemonSet and node (k8s.io/client-go/util/flowcontrol: Backoff). */
export class FailedPodDelays {
  readonly #delays = new Map<string, Delay>()

  /**
   * Decides whether a failed Pod may be replaced at the time `now`. Returns 0 and records the replacement, or returns the remaining delay
   * in milliseconds.
   *
   * The Pod is replaced immediately, and the next delay is 1 s, in these cases:
   *
   * - The Pod is the first failed Pod of the key.
   * - The scope has changed since the last replacement.
   * - The last replacement was more than 30 minutes ago.
   *
   * @param key identifies the DaemonSet and the node.
   * @param scope the UID and the observed generation of the DaemonSet.
   */
  replace(key: string, scope: string, now: number): number {
    const before = this.#delays.get(key)
    const passedMs = now - (before?.since ?? 0)
    const isRecent = before?.scope === scope && passedMs <= 2 * maxDelayMs
    if (isRecent && passedMs < before.ms) return before.ms - passedMs
    this.#delays.set(key, { scope, ms: isRecent ? Math.min(maxDelayMs, before.ms * 2) : firstDelayMs, since: now })
    return 0
  }

  /** Forgets the replacements whose keys have the prefix. */
  forget(prefix: string): void {
    for (const key of this.#delays.keys()) if (key.startsWith(prefix)) this.#delays.delete(key)
  }
}
