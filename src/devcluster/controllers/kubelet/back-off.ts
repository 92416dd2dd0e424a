/** `BackOff`: the delays between the attempts of the kubelet to restart a container, or to pull an image. */

/** The delays of the kubelet (k8s.io/kubernetes/pkg/kubelet: initialCrashLoopBackOff, MaxCrashLoopBackOff, MaxImageBackOff). */
const initialMs = 10_000
const maxMs = 300_000
/**
 * If a container or a pull fails more than this long after the latest attempt, the next attempt is made at once, and the delays start from
 * 10 s again.
 */
const expiresMs = 600_000

/** The delays of one container or image: 10 s, doubled with each attempt, at most 300 s (k8s.io/client-go/util/flowcontrol: Backoff). */
export class BackOff {
  #delayMs = 0
  #updatedAt = Number.NEGATIVE_INFINITY

  /** The current delay in milliseconds; 0 before the first attempt. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Returns the earliest time of the next attempt after a failure at `failedAt`. */
  until(failedAt: number): number {
    return this.#hasExpired(failedAt) ? failedAt : failedAt + this.#delayMs
  }

  /** Records an attempt at `now`, after a failure at `failedAt`, and doubles the delay. After the first attempt, the delay is 10 s. */
  next(failedAt: number, now: number): void {
    this.#delayMs = this.#hasExpired(failedAt) ? initialMs : Math.min(this.#delayMs * 2, maxMs)
    this.#updatedAt = now
  }

  #hasExpired(failedAt: number): boolean {
    return failedAt - this.#updatedAt > expiresMs
  }
}
