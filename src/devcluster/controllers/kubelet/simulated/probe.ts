/** `Probe`: one simulated probe of one run of a container. */
import type { ProbeSpec } from '../container-runtime.ts'

/** The period in which a probe fails. `from` is inclusive and `until` is exclusive. Both are in milliseconds since 1970. */
export interface Failing {
  readonly from: number
  readonly until: number
}

export interface ProbeOptions {
  readonly startedAt: number
  readonly now: number
  /** The initial result of the probe. The result changes when the number of consecutive successes or failures reaches the threshold. */
  readonly isSuccess: boolean
  readonly failing: Failing
  /**
   * The earliest time at which the container can be ready. For example, the annotation `ready-delay` sets this time. Before this time, the
   * probe fails. At this time, the probe runs even if its period is not over, and one success is enough even if its success threshold is
   * higher.
   */
  readonly readyAt?: number | undefined
}

/** The defaults for fields that a probe does not declare (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_Probe). */
const [defaultPeriodSeconds, defaultFailureThreshold, defaultSuccessThreshold] = [10, 3, 1]

/** Decides when a probe runs next and when the result of the probe changes (k8s.io/kubernetes/pkg/kubelet/prober: worker.doProbe). */
export class Probe {
  /** The current result of the probe. The result can change when an outcome reaches its threshold, and when `setReadyAt` is called. */
  isSuccess: boolean
  /**
   * The time of the next run. Runs that would only repeat a confirmed success are skipped. Infinity when all later runs would be skipped.
   */
  nextAt: number
  readonly #spec: ProbeSpec
  readonly #firstAt: number
  #failing: Failing
  #readyAt: number | undefined
  /** The number of consecutive runs that had the same outcome as the latest run. The latest run is included. */
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

  /**
   * Replaces the time range in which the probe fails, and sets the time of the next run. If the first run of the probe is due after `at`,
   * the next run is this first run, and its time does not change. Otherwise, the next run is at `at`.
   */
  setFailing(failing: Failing, at: number): void {
    this.#failing = failing
    this.nextAt = this.#notBefore(at)
  }

  /**
   * Replaces `readyAt`. If the new value is defined, the result of the probe changes at once: the result becomes a success if a run at the
   * time `at` would succeed, and a failure if this run would fail. The thresholds of the probe do not apply to this change.
   */
  setReadyAt(readyAt: number | undefined, at: number): void {
    this.#readyAt = readyAt
    if (readyAt !== undefined) this.isSuccess = readyAt <= at && !this.#failsAt(at)
    this.nextAt = this.#notBefore(at)
  }

  /**
   * Runs the probe at the time `at`. `isConfirmed` is true if the number of consecutive runs with this outcome has reached the threshold of
   * the outcome.
   */
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

  /** Returns the time of the first run, or `at` if the first run was due before `at`. */
  #notBefore(at: number): number {
    return Math.max(at, Math.min(this.#firstAt, this.#readyAt ?? Number.POSITIVE_INFINITY))
  }

  #failsAt(at: number): boolean {
    return at < (this.#readyAt ?? at) || (at >= this.#failing.from && at < this.#failing.until)
  }

  /** Returns the time of the next run. Runs that only repeat a confirmed success are skipped, because they have no effect. */
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
