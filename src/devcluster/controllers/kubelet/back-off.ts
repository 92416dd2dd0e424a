/** `BackOff`: the delays between the attempts of the kubelet to restart a container, or to pull an image. */

/**
 * The first and the longest delay, in milliseconds (k8s.io/kubernetes/pkg/kubelet: initialCrashLoopBackOff, MaxCrashLoopBackOff,
 * MaxImageBackOff).
 */
const initialMs = 10_000
const maxMs = 300_000
/**
 * Time in milliseconds. If more than this time passes between the latest call of `next` and a failure of the container or pull, the failure
 * counts as the first failure: the next attempt is not delayed, and `next` sets the delay to 10 s.
 */
const expiresMs = 600_000

/** The delays of one container or image: 10 s, doubled with each attempt, at most 300 s (k8s.io/client-go/util/flowcontrol: Backoff). */
export class BackOff {
  #delayMs = 0
  #updatedAt = Number.NEGATIVE_INFINITY

  /** The current delay in milliseconds; 0 before the first call of `next`. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Returns the earliest time of the next attempt after a failure at `failedAt`. */
  until(failedAt: number): number {
    return this.#hasExpired(failedAt) ? failedAt : failedAt + this.#delayMs
  }

  /**
   * Called at `now` when a container that ended at `failedAt` is restarted, or when a pull has failed. The first call sets the delay to 10
   * s. If the delay had already expired at `failedAt`, the call also sets the delay to 10 s. Each other call doubles the delay, up to 300
   * s.
   */
  next(failedAt: number, now: number): void {
    this.#delayMs = this.#hasExpired(failedAt) ? initialMs : Math.min(this.#delayMs * 2, maxMs)
    this.#updatedAt = now
  }

  #hasExpired(failedAt: number): boolean {
    return failedAt - this.#updatedAt > expiresMs
  }
}
