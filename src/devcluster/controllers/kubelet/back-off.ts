/** `BackOff`: the delays between the attempts of the kubelet to restart a container, or to pull an image. */

/** The delays of the kubelet (k8s.io/kubernetes/pkg/kubelet: initialCrashLoopBackOff, MaxCrashLoopBackOff, MaxImageBackOff). */
const initialMs = 10_000
const maxMs = 300_000
/** An attempt this long after the previous one begins with the initial delay again. */
const expiresMs = 600_000

/** The delays of one container or image: 10 s, doubled with each attempt, at most 300 s (k8s.io/client-go/util/flowcontrol: Backoff). */
export class BackOff {
  #delayMs = 0
  #updatedAt = Number.NEGATIVE_INFINITY

  /** The current delay in milliseconds; 0 before the first attempt. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Returns the time until which no attempt is made after a failure at `failedAt`. */
  until(failedAt: number): number {
    return this.#hasExpired(failedAt) ? failedAt : failedAt + this.#delayMs
  }

  /** Records an attempt at `now`, after a failure at `failedAt`. The next delay is twice as long. */
  next(failedAt: number, now: number): void {
    this.#delayMs = this.#hasExpired(failedAt) ? initialMs : Math.min(this.#delayMs * 2, maxMs)
    this.#updatedAt = now
  }

  #hasExpired(failedAt: number): boolean {
    return failedAt - this.#updatedAt > expiresMs
  }
}
