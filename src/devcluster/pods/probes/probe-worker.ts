/**
 * `ProbeWorker`: schedules the runs of one probe, and applies the thresholds of the probe (k8s.io/kubernetes/pkg/kubelet/prober: worker).
 */
import type { Clock, Timer } from '../../../runtime/clock.ts'
import type { ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { ProbeError } from './probe-outcome.ts'
import type { ProbeOutcome } from './probe-outcome.ts'

export interface ProbeWorkerOptions {
  readonly clock: Clock
  /** The time at which the container was started, in milliseconds since 1970. */
  readonly startedAt: number
  /** The assumed result of the probe until a threshold is reached for the first time. */
  readonly isSuccess: boolean
  /** Runs the probe once. Rejects with a `ProbeError` for a run without an outcome. */
  run(timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome>
  /**
   * Called when a run of the probe has ended. The property `due` of the worker is then the time at which the run ended. The next call of
   * `take` returns the report about the run, and resets `due` to Infinity.
   */
  onEnd(): void
}

/** A report about a run that has ended. */
export interface ProbeReport {
  readonly outcome: ProbeOutcome | ProbeError
  /** True when the number of equal outcomes in a row has reached the threshold. The outcome is then the result of the probe. */
  readonly isConfirmed: boolean
}

/** The defaults of the API (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_Probe). */
const [defaultTimeoutSeconds, defaultPeriodSeconds, defaultFailureThreshold, defaultSuccessThreshold] = [1, 10, 3, 1]

export class ProbeWorker {
  /** The result of the probe. Changes only when a threshold is reached. */
  isSuccess: boolean
  readonly #spec: ProbeSpec
  readonly #options: ProbeWorkerOptions
  /** The time of the next run, in milliseconds of `clock.monotonicNow()`. */
  #nextAt = 0
  #timer: Timer | undefined
  #running: AbortController | undefined
  #ended: { readonly outcome: ProbeOutcome | ProbeError; readonly at: number } | undefined
  /** The number of consecutive equal outcomes. */
  #streak = 0
  #succeeded: boolean | undefined

  constructor(spec: ProbeSpec, options: ProbeWorkerOptions) {
    this.#spec = spec
    this.#options = options
    this.isSuccess = options.isSuccess
  }

  /** Starts to run the probe: at once, or when the initial delay has passed. */
  begin(): void {
    const { clock, startedAt } = this.#options
    const delayMs = startedAt + (this.#spec.initialDelaySeconds ?? 0) * 1000 - clock.now()
    this.#nextAt = clock.monotonicNow() + Math.max(0, delayMs)
    this.#wait()
  }

  /** The end time of the run that `take` will return, in milliseconds since 1970. Infinity if `take` would return undefined. */
  get due(): number {
    return this.#ended?.at ?? Number.POSITIVE_INFINITY
  }

  /** Returns the run that has ended, and schedules the next run. If no run has ended, returns undefined. */
  take(): ProbeReport | undefined {
    if (this.#ended === undefined) return undefined
    const { outcome } = this.#ended
    this.#ended = undefined
    this.#wait()
    // A `ProbeError` means that the run has no outcome. Like the kubelet, the worker does not count such a run for the thresholds.
    return { outcome, isConfirmed: !(outcome instanceof ProbeError) && this.#confirms(outcome.kind !== 'failure') }
  }

  /** Cancels the timer and aborts the current run. If a run has ended and `take` has not yet returned its result, the result is dropped. */
  end(): void {
    this.#timer?.cancel()
    this.#running?.abort()
    this.#timer = undefined
    this.#running = undefined
    this.#ended = undefined
  }

  #confirms(succeeded: boolean): boolean {
    this.#streak = succeeded === this.#succeeded ? this.#streak + 1 : 1
    this.#succeeded = succeeded
    const { failureThreshold = defaultFailureThreshold, successThreshold = defaultSuccessThreshold } = this.#spec
    if (this.#streak < (succeeded ? successThreshold : failureThreshold)) return false
    this.isSuccess = succeeded
    return true
  }

  #wait(): void {
    const { clock } = this.#options
    this.#timer = clock.after(this.#nextAt - clock.monotonicNow(), () => void this.#run())
  }

  /**
   * Runs the probe once. If the run takes longer than the period, the next run begins as soon as `take` has returned the report about this
   * run. Later runs begin at the regular times again, that is, at multiples of the period after the first run. A `Ticker` in Go has the
   * same behaviour.
   */
  async #run(): Promise<void> {
    const { clock, run, onEnd } = this.#options
    const { timeoutSeconds, periodSeconds } = this.#spec
    const periodMs = Math.max(1, periodSeconds ?? defaultPeriodSeconds) * 1000
    const periods = Math.floor((clock.monotonicNow() - this.#nextAt) / periodMs)
    this.#nextAt += (Math.max(0, periods) + 1) * periodMs
    const running = new AbortController()
    this.#running = running
    const outcome = await run(Math.max(1, timeoutSeconds ?? defaultTimeoutSeconds) * 1000, running.signal).catch(probeError)
    if (running.signal.aborted) return
    this.#running = undefined
    this.#ended = { outcome, at: clock.now() }
    onEnd()
  }
}

/** Returns a `ProbeError` for every error, because an unexpected error of a probe must not end this process. */
function probeError(error: unknown): ProbeError {
  if (error instanceof ProbeError) return error
  return new ProbeError(error instanceof Error ? error.message : String(error), { cause: error })
}
