/** `Probe`: one simulated probe of one run of a container, and the result that its thresholds have confirmed. */
import type { ProbeSpec } from '../container-runtime.ts'

/** The time in which a probe fails: `from` is included, `until` is not. */
export interface Failing {
  readonly from: number
  readonly until: number
}

export interface ProbeOptions {
  readonly startedAt: number
  readonly now: number
  /** The initial result. It is valid until a threshold is reached. */
  readonly isSuccess: boolean
  readonly failing: Failing
  /**
   * The end of a delay. The probe fails before this time. The probe runs at this time even if the spec declares another time. One success
   * is then enough, even if the spec declares a higher success threshold.
   */
  readonly readyAt?: number | undefined
}

/** The defaults of the API, for a Pod to which no defaults were applied (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_Probe). */
const [defaultPeriodSeconds, defaultFailureThreshold, defaultSuccessThreshold] = [10, 3, 1]

/** The times and thresholds of a probe (k8s.io/kubernetes/pkg/kubelet/prober: worker.doProbe). */
export class Probe {
  /** The latest result that a threshold has confirmed, at first the initial result. */
  isSuccess: boolean
  /** The time of the next probe that fails or may change the result. Infinity when there is no such probe. */
  nextAt: number
  readonly #spec: ProbeSpec
  readonly #firstAt: number
  #failing: Failing
  #readyAt: number | undefined
  /** The number of equal outcomes in a row. */
  #streak = 0
  #succeeded = false

  constructor(spec: ProbeSpec, { startedAt, now, isSuccess, failing, readyAt }: ProbeOptions) {
    this.#spec = spec
    this.#firstAt = startedAt + (spec.initialDelaySeconds ?? 0) * 1000
    this.isSuccess = isSuccess
    this.#failing = failing
    this.#readyAt = readyAt
    this.nextAt = this.#notBefore(now)
  }

  /** Replaces the time in which the probe fails. The next probe runs at `at`, but not before the time of the first probe. */
  setFailing(failing: Failing, at: number): void {
    this.#failing = failing
    this.nextAt = this.#notBefore(at)
  }

  /** Replaces the end of the delay. If there is a new delay, the result at `at` depends only on whether the probe succeeds at `at`. */
  setReadyAt(readyAt: number | undefined, at: number): void {
    this.#readyAt = readyAt
    if (readyAt !== undefined) this.isSuccess = readyAt <= at && !this.#failsAt(at)
    this.nextAt = this.#notBefore(at)
  }

  /** Probes the container. `isConfirmed` is true if the outcome has reached its threshold. */
  run(at: number): { readonly succeeds: boolean; readonly isConfirmed: boolean } {
    const succeeds = !this.#failsAt(at)
    this.#streak = succeeds === this.#succeeded ? this.#streak + 1 : 1
    this.#succeeded = succeeds
    const { failureThreshold = defaultFailureThreshold, successThreshold = defaultSuccessThreshold } = this.#spec
    const isConfirmed = this.#streak >= (succeeds ? (this.#readyAt === undefined ? successThreshold : 1) : failureThreshold)
    if (isConfirmed) this.isSuccess = succeeds
    this.nextAt = this.#next(at, succeeds && isConfirmed)
    return { succeeds, isConfirmed }
  }

  /** Returns the time of the first probe, or `at` if that time has passed. */
  #notBefore(at: number): number {
    return Math.max(at, Math.min(this.#firstAt, this.#readyAt ?? Number.POSITIVE_INFINITY))
  }

  #failsAt(at: number): boolean {
    return at < (this.#readyAt ?? at) || (at >= this.#failing.from && at < this.#failing.until)
  }

  /** Returns the time of the next probe. Probes that only repeat a success are skipped, because they have no effect. */
  #next(at: number, isSettled: boolean): number {
    const periodMs = Math.max(1, this.#spec.periodSeconds ?? defaultPeriodSeconds) * 1000
    const next = at + periodMs
    if (this.#readyAt !== undefined && at < this.#readyAt) return Math.min(next, this.#readyAt)
    if (!isSettled || this.#failsAt(next)) return next
    const { from, until } = this.#failing
    const failsAt = at + Math.ceil((from - at) / periodMs) * periodMs
    return failsAt > at && failsAt < until ? failsAt : Number.POSITIVE_INFINITY
  }
}
