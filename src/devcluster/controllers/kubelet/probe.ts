/** `Probe`: one probe of one run of a container, and the result that its thresholds have confirmed. */
import type { ContainerSpec } from './simulated-container.ts'

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]
export type ProbeSpec = NonNullable<ContainerSpec['readinessProbe']>

/** The time in which a probe fails: `from` is included, `until` is not. */
export interface Failing {
  readonly from: number
  readonly until: number
}

export interface ProbeOptions {
  readonly startedAt: number
  readonly now: number
  /** The result until a threshold is reached. */
  readonly isSuccess: boolean
  readonly failing: Failing
  /**
   * The end of a delay. Until then, the probe fails. At this time the probe runs in any case, and its first success counts, whatever the
   * spec declares.
   */
  readonly readyAt?: number | undefined
}

/** The default of the API for a Pod that no defaults were applied to (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_Probe). */
const [defaultPeriodSeconds, defaultFailureThreshold, defaultSuccessThreshold] = [10, 3, 1]

/** The times and thresholds of a probe (k8s.io/kubernetes/pkg/kubelet/prober: worker.doProbe). */
export class Probe {
  /** The result that a threshold has confirmed. */
  isSuccess: boolean
  /** The time of the next probe that may change the result or that fails. Infinity when there is none. */
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

  /** Replaces the time in which the probe fails. The next probe is due at `at`. */
  setFailing(failing: Failing, at: number): void {
    this.#failing = failing
    this.nextAt = this.#notBefore(at)
  }

  /** Replaces the end of the delay. The result at `at` is the one of the new delay. */
  setReadyAt(readyAt: number | undefined, at: number): void {
    this.#readyAt = readyAt
    if (readyAt !== undefined) this.isSuccess = readyAt <= at && !this.#failsAt(at)
    this.nextAt = this.#notBefore(at)
  }

  /** Probes the container. */
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

  /** Returns the time of the next probe. Probes that only repeat a success are left out, because nothing shows them. */
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
