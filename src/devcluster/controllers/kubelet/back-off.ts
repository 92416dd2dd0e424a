/** `BackOff`: the delays between the attempts of the kubelet to restart a container, or to pull an image. */

/**
 * The first and the longest delay, in milliseconds (k8s.io/kubernetes/pkg/kubelet: initialCrashLoopBackOff, MaxCrashLoopBackOff,
 * MaxImageBackOff).
 */
const initialMs = 10_000
const maxMs = 300_000
/**
 * Time in milliseconds after which earlier failures no longer count. If `failedAt` is more than this time after the latest call of `next`:
 *
 * - `until` returns `failedAt`, that is, the next attempt has no delay.
 * - `next` sets the delay to 10 s.
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
   * Updates the delay. Called at the time `now` when a container is restarted, when a pull has failed, or when an image that must not be
   * pulled is missing.
   *
   * - If this is the first call, the delay is set to 10 s.
   * - If more than `expiresMs` have passed between the previous call and `failedAt`, the delay is set to 10 s again.
   * - Otherwise, the delay is doubled, up to 300 s.
   *
   * @param failedAt the time at which the back-off began: for a container, the end of a run; for an image, the same time as `now`.
   */
  next(failedAt: number, now: number): void {
    this.#delayMs = this.#hasExpired(failedAt) ? initialMs : Math.min(this.#delayMs * 2, maxMs)
    this.#updatedAt = now
  }

  #hasExpired(failedAt: number): boolean {
    return failedAt - this.#updatedAt > expiresMs
  }
}
