/** `SimulatedProbes`: the startup, liveness and readiness probes of one run of a container. */
import type { ContainerSpec, ProbeKind, Probes, ProbesOptions, ProbeSpec } from '../container-runtime.ts'
import { probeKinds } from '../container-runtime.ts'
import type { Failing } from './probe.ts'
import { Probe } from './probe.ts'
import { simulatedOutput } from './probe-failure.ts'
import type { ContainerPlan, FailingTimes } from './simulation.ts'

export interface SimulatedProbesOptions extends ProbesOptions {
  readonly podIP: string
}

export class SimulatedProbes implements Probes {
  /** True when the startup probe has succeeded, or when the container has no startup probe. */
  isStarted: boolean
  #spec: ContainerSpec
  #plan: ContainerPlan
  #isKilled = false
  readonly #options: SimulatedProbesOptions
  readonly #probes = new Map<ProbeKind, Probe>()

  constructor(spec: ContainerSpec, plan: ContainerPlan, options: SimulatedProbesOptions) {
    this.#spec = spec
    this.#plan = plan
    this.#options = options
    const { startedAt, now, known } = options
    this.isStarted = known?.isStarted ?? spec.startupProbe === undefined
    for (const kind of probeKinds) {
      const declared = specOf(spec, kind)
      if (declared === undefined) continue
      const isSuccess = kind === 'liveness' || (kind === 'readiness' && known?.isReady === true)
      const failing = failingFrom(plan.probes[kind], startedAt)
      this.#probes.set(kind, new Probe(declared, { startedAt, now, isSuccess, failing, readyAt: this.#readyAt(kind) }))
    }
  }

  get isReady(): boolean {
    return this.isStarted && this.#probes.get('readiness')?.isSuccess === true
  }

  /** The time at which a probe runs next. Runs that would only repeat a confirmed success are skipped. Infinity when no run remains. */
  get due(): number {
    return Math.min(...this.#active.map((kind) => this.#probes.get(kind)?.nextAt ?? Number.POSITIVE_INFINITY))
  }

  /** Runs the probes that are due at `at`. If the container must be stopped because of a failed probe, returns the kind of this probe. */
  step(at: number): ProbeKind | undefined {
    for (const kind of this.#active) {
      const probe = this.#probes.get(kind)
      if (probe === undefined || probe.nextAt > at) continue
      const { succeeds, isConfirmed } = probe.run(at)
      if (!succeeds) this.#options.onFailure(kind, simulatedOutput(specOf(this.#spec, kind)!, this.#spec, this.#options.podIP))
      if (!isConfirmed || kind === 'readiness') continue
      if (!succeeds) {
        this.#isKilled = true
        return kind
      }
      if (kind === 'startup') this.#start(at)
    }
    return undefined
  }

  /** Ends the startup and liveness probes, because the container is being stopped. */
  stopKilling(): void {
    this.#isKilled = true
  }

  end(): void {
    // Simulated probes run only in `step`, so there is no running probe to abort.
  }

  /**
   * Replaces the plan at the time `at`. A value that differs between the two plans changes the probes as follows:
   *
   * - The failing period of a probe: the probe gets the new period (see `Probe.setFailing`). If the new period begins before `at`, the
   *   period is moved: it begins at `at` and has the same length.
   * - `readyMs`: the readiness probe gets the new time (see `Probe.setReadyAt`).
   */
  replan(plan: ContainerPlan, at: number): void {
    const before = this.#plan
    this.#plan = plan
    for (const [kind, probe] of this.#probes) {
      const times = plan.probes[kind]
      if (JSON.stringify(times) === JSON.stringify(before.probes[kind])) continue
      const { from, until } = failingFrom(times, this.#options.startedAt)
      const delay = Math.max(0, at - from)
      probe.setFailing({ from: from + delay, until: until + delay }, at)
    }
    if (plan.readyMs !== before.readyMs) this.#probes.get('readiness')?.setReadyAt(this.#readyAt('readiness'), at)
  }

  /** The kinds of probes that run now. The liveness and readiness probes begin after the startup probe has succeeded. */
  get #active(): readonly ProbeKind[] {
    if (!this.isStarted) return this.#isKilled ? [] : ['startup']
    return this.#isKilled ? ['readiness'] : ['liveness', 'readiness']
  }

  #start(at: number): void {
    this.isStarted = true
    for (const probe of this.#probes.values()) probe.nextAt = Math.max(probe.nextAt, at)
  }

  /**
   * Returns the earliest time at which the container can be ready. For the startup probe and the liveness probe, the result is undefined.
   * For the readiness probe, the result is
   *
   * - with `readyMs` in the plan: `readyMs` milliseconds after the start of the container,
   * - without `readyMs`, if the container declares no readiness probe: the start of the container,
   * - without `readyMs`, if the container declares a readiness probe: undefined.
   */
  #readyAt(kind: ProbeKind): number | undefined {
    if (kind !== 'readiness') return undefined
    const { readyMs = this.#spec.readinessProbe === undefined ? 0 : undefined } = this.#plan
    return readyMs === undefined ? undefined : this.#options.startedAt + readyMs
  }
}

/**
 * Returns the spec of a probe. If the container declares no readiness probe, returns an empty spec for the readiness probe, because
 * annotations can make any container unready.
 */
export function specOf(spec: ContainerSpec, kind: ProbeKind): ProbeSpec | undefined {
  switch (kind) {
    case 'startup':
      return spec.startupProbe
    case 'liveness':
      return spec.livenessProbe
    case 'readiness':
      return spec.readinessProbe ?? {}
  }
}

function failingFrom({ afterMs, forMs }: FailingTimes, startedAt: number): Failing {
  return { from: startedAt + afterMs, until: startedAt + afterMs + forMs }
}
