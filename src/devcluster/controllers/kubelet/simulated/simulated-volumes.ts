/** `SimulatedVolumes`: the volumes of a simulated Pod. The volumes are ready when the ConfigMaps and Secrets to which they refer exist. */
import type { Clock, Timer } from '../../../../runtime/clock.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import type { RuntimeEvent } from '../container-runtime.ts'
import type { ReferenceChecks } from './reference-checks.ts'

export interface SimulatedVolumesOptions {
  readonly checks: ReferenceChecks | undefined
  readonly clock: Clock
  readonly now: number
  /** Returns the Pod as it is now. */
  pod(): ReadonlyPod
  wake(): void
}

/**
 * The first delay and the longest delay between two checks. Each delay is twice the previous delay
 * (k8s.io/kubernetes/pkg/util/goroutinemap/exponentialbackoff).
 */
const [firstDelayMs, maxDelayMs] = [500, 122_000]

export class SimulatedVolumes {
  /** The time at which all volumes are ready. Infinity until this time is known. */
  readyAt: number
  readonly #options: SimulatedVolumesOptions
  readonly #events: RuntimeEvent[] = []
  #delayMs = firstDelayMs
  #retry: Timer | undefined
  #hasEnded = false

  constructor(options: SimulatedVolumesOptions) {
    this.#options = options
    const checking = options.checks?.volumes(options.pod())
    this.readyAt = checking === undefined ? options.now : Number.POSITIVE_INFINITY
    if (checking !== undefined) void this.#finish(checking)
  }

  takeEvents(): readonly RuntimeEvent[] {
    return this.#events.splice(0)
  }

  /** Ends the retries, because the Pod has ended. */
  end(): void {
    this.#hasEnded = true
    this.#retry?.cancel()
  }

  async #finish(checking: Promise<readonly string[]>): Promise<void> {
    const { clock, checks, pod, wake } = this.#options
    // If the check itself fails, for example because the API server does not respond, the error is recorded, and the check is repeated.
    const messages = await checking.catch((error: unknown) => [String(error)])
    if (this.#hasEnded) return
    if (messages.length === 0) this.readyAt = clock.now()
    else {
      for (const message of messages) this.#events.push({ type: 'Warning', reason: 'FailedMount', message })
      this.#retry = clock.after(this.#delayMs, () => void this.#finish(checks?.volumes(pod()) ?? Promise.resolve([])))
      this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs)
    }
    wake()
  }
}
