/** `VolumeLoop`: creates the volumes of a Pod, tries again until they are ready, and then keeps them up to date. */
import type { Clock } from '../../../runtime/clock.ts'
import { aborted, sleep } from '../../../runtime/waiting.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { PodVolumes, VolumeError } from '../volumes/pod-volumes.ts'

export interface VolumeLoopOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Returns the current Pod. */
  pod(): ReadonlyPod
  /** Called when all volumes are ready for the first time. */
  onReady(): void
  onErrors(errors: readonly VolumeError[]): void
}

/**
 * The first delay and the maximum delay between two attempts, in milliseconds (k8s.io/kubernetes/pkg/util/goroutinemap/exponentialbackoff).
 */
const [firstDelayMs, maxDelayMs] = [500, 122_000]
const maxTimerMs = 60_000

export class VolumeLoop {
  readonly #volumes: PodVolumes
  readonly #options: VolumeLoopOptions
  /** Aborted to end the current wait. */
  #wake = new AbortController()
  /** Resolves when the loop has ended. The loop ends when its signal is aborted. */
  readonly ended: Promise<void>

  constructor(volumes: PodVolumes, options: VolumeLoopOptions) {
    this.#volumes = volumes
    this.#options = options
    this.ended = this.#run()
  }

  /** Called when the Pod has changed, or when an API object in a volume of the Pod has changed. */
  changed(): void {
    this.#wake.abort()
  }

  async #run(): Promise<void> {
    const { signal, pod, onReady, onErrors } = this.#options
    let isReady = false
    let delayMs = firstDelayMs
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const errors = await this.#volumes.sync(pod())
      if (signal.aborted) return
      if (errors.length > 0) onErrors(errors)
      else if (!isReady) {
        isReady = true
        onReady()
      }
      await this.#waitUntil(errors.length > 0 ? this.#retryAt(delayMs) : this.#volumes.refreshAt)
      delayMs = errors.length > 0 ? Math.min(delayMs * 2, maxDelayMs) : firstDelayMs
    }
  }

  /** Returns the time of the next attempt after an error: the end of the delay, or the next renewal of a token, whichever is earlier. */
  #retryAt(delayMs: number): number {
    const now = this.#options.clock.now()
    const { refreshAt } = this.#volumes
    // If `refreshAt` is not later than now, a retry at `refreshAt` would take place without a pause. In this case, the retry takes place
    // after `delayMs`.
    return refreshAt > now ? Math.min(now + delayMs, refreshAt) : now + delayMs
  }

  /**
   * Resolves at the time `at`, after a change, or when the loop has to end. If `at` is Infinity, there is no time limit.
   *
   * While the machine is suspended, the clock advances, but timers do not. A long timer would therefore end much too late. The function
   * uses timers of at most `maxTimerMs`, and reads the clock after each timer.
   */
  async #waitUntil(at: number): Promise<void> {
    const { clock, signal } = this.#options
    const either = AbortSignal.any([signal, this.#wake.signal])
    if (!Number.isFinite(at)) return aborted(either)
    while (!either.aborted && clock.now() < at) await sleep(clock, Math.min(maxTimerMs, at - clock.now()), either).catch(() => undefined)
  }
}
