/** `ContainerProbes`: the startup, liveness and readiness probes of one run of a container. */
import type { Failing, ProbeKind, ProbeSpec } from './probe.ts'
import { Probe, probeKinds } from './probe.ts'
import type { ContainerSpec } from './simulated-container.ts'
import type { ContainerPlan, FailingTimes } from './simulation.ts'

export interface ContainerProbesOptions {
  readonly startedAt: number
  readonly now: number
  /** The state of a container that already ran when the kubelet began. */
  readonly known?: { readonly isStarted: boolean; readonly isReady: boolean }
  /** Is called for each probe that fails. */
  onFailure(kind: ProbeKind, spec: ProbeSpec): void
}

export class ContainerProbes {
  /** True when the startup probe has succeeded, or when there is none. */
  isStarted: boolean
  #spec: ContainerSpec
  #plan: ContainerPlan
  #isKilled = false
  readonly #options: ContainerProbesOptions
  readonly #probes = new Map<ProbeKind, Probe>()

  constructor(spec: ContainerSpec, plan: ContainerPlan, options: ContainerProbesOptions) {
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

  /** The time of the next probe that has an effect. Infinity when there is none. */
  get due(): number {
    return Math.min(...this.#active.map((kind) => this.#probes.get(kind)?.nextAt ?? Number.POSITIVE_INFINITY))
  }

  /** Runs the probes that are due at `at`. Returns the probe for whose failure the container has to be killed. */
  step(at: number): ProbeKind | undefined {
    for (const kind of this.#active) {
      const probe = this.#probes.get(kind)
      if (probe === undefined || probe.nextAt > at) continue
      const { succeeds, isConfirmed } = probe.run(at)
      if (!succeeds) this.#options.onFailure(kind, specOf(this.#spec, kind)!)
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

  /** Replaces the plan. A probe whose times have changed runs at `at`. */
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

  /** The kinds of probes that run now. The startup probe delays the others. */
  get #active(): readonly ProbeKind[] {
    if (!this.isStarted) return this.#isKilled ? [] : ['startup']
    return this.#isKilled ? ['readiness'] : ['liveness', 'readiness']
  }

  #start(at: number): void {
    this.isStarted = true
    for (const probe of this.#probes.values()) probe.nextAt = Math.max(probe.nextAt, at)
  }

  /** Returns the end of the ready delay. A container that declares no readiness probe is ready at its start unless a delay is planned. */
  #readyAt(kind: ProbeKind): number | undefined {
    if (kind !== 'readiness') return undefined
    const { readyMs = this.#spec.readinessProbe === undefined ? 0 : undefined } = this.#plan
    return readyMs === undefined ? undefined : this.#options.startedAt + readyMs
  }
}

/** Returns the spec of a probe. Each container has a readiness probe, because annotations can make any container unready. */
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
