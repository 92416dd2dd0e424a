/** `BackOff`: the delays between the attempts of the kubelet to restart a container, or to pull an image. */

/** The delays of the kubelet (k8s.io/kubernetes/pkg/kubelet: initialCrashLoopBackOff, MaxCrashLoopBackOff, MaxImageBackOff). */
const initialMs = 10_000
const maxMs = 300_000
/**
 * The delay expires this long after the latest call of `next`. If a failure follows after the delay has expired, the next attempt is not
 * delayed, and the delay is set to 10 s.
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

  /**
   * Records an attempt at `now` after a failure at `failedAt`. If this is the first attempt, or if the delay has expired, sets the delay to
   * 10 s. Otherwise doubles the delay, up to 300 s.
   */
  next(failedAt: number, now: number): void {
    this.#delayMs = this.#hasExpired(failedAt) ? initialMs : Math.min(this.#delayMs * 2, maxMs)
    this.#updatedAt = now
  }

  #hasExpired(failedAt: number): boolean {
    return failedAt - this.#updatedAt > expiresMs
  }
}
