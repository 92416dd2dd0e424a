/**
 * `ProcessProbes`: runs the startup, liveness and readiness probes of a container whose processes run on this machine. Each restart of the
 * container creates a new `ProcessProbes`.
 */
import type { Clock } from '../../../runtime/clock.ts'
import type {
  ContainerSpec,
  ProbeKind,
  Probes,
  ProbesOptions,
  ProbeSpec,
  RuntimeEvent,
} from '../../controllers/kubelet/container-runtime.ts'
import { probeKinds } from '../../controllers/kubelet/container-runtime.ts'
import type { ProbeOutcome } from './probe-outcome.ts'
import { ProbeError } from './probe-outcome.ts'
import type { ProbeTarget } from './probe-target.ts'
import { ProbeWorker } from './probe-worker.ts'
import { runProbe } from './run-probe.ts'

export interface ProcessProbesOptions extends ProbesOptions {
  readonly container: ContainerSpec
  readonly target: ProbeTarget
  readonly clock: Clock
  /**
   * Called when a run of a probe has ended. The kubelet must then call `step`. Until `step` has processed the run, `due` is the time at
   * which the run ended.
   */
  wake(): void
  /**
   * Called with the Event for a run of a probe in two cases:
   *
   * - The run succeeds with a warning.
   * - The run ends with an error. Such a run counts neither as a success nor as a failure of the probe.
   *
   * If the probe fails, `onFailure` is called instead.
   */
  record(event: RuntimeEvent): void
}

/**
 * Each probe has its own timer (k8s.io/kubernetes/pkg/kubelet/prober). When a run has ended, `step` applies the outcome of the run and
 * schedules the next run. The first run has no random delay, because a kubelet uses such a delay only shortly after its own start.
 */
export class ProcessProbes implements Probes {
  isStarted: boolean
  readonly #options: ProcessProbesOptions
  readonly #workers = new Map<ProbeKind, ProbeWorker>()

  constructor(options: ProcessProbesOptions) {
    this.#options = options
    const { container, known, clock, startedAt, target, wake } = options
    this.isStarted = known?.isStarted ?? container.startupProbe === undefined
    for (const kind of probeKinds) {
      const spec = specOf(container, kind)
      if (spec === undefined) continue
      const isSuccess = kind === 'liveness' || (kind === 'readiness' && known?.isReady === true)
      const run = (timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome> =>
        runProbe(spec, { container, target, clock, timeoutMs, signal })
      this.#workers.set(kind, new ProbeWorker(spec, { clock, startedAt, isSuccess, run, onEnd: wake }))
    }
    for (const kind of this.#active) this.#workers.get(kind)?.begin()
  }

  /** A container without a readiness probe is ready as soon as it has started. */
  get isReady(): boolean {
    return this.isStarted && this.#workers.get('readiness')?.isSuccess !== false
  }

  get due(): number {
    return Math.min(...[...this.#workers.values()].map(({ due }) => due))
  }

  step(at: number): ProbeKind | undefined {
    for (const [kind, worker] of this.#workers) {
      const report = worker.due <= at ? worker.take() : undefined
      if (report === undefined) continue
      const { outcome, isConfirmed } = report
      this.#report(kind, outcome)
      if (!isConfirmed || kind === 'readiness') continue
      if (!worker.isSuccess) {
        this.stopKilling()
        return kind
      }
      if (kind === 'startup') this.#start()
    }
    return undefined
  }

  stopKilling(): void {
    this.#workers.get('startup')?.end()
    this.#workers.get('liveness')?.end()
  }

  end(): void {
    for (const worker of this.#workers.values()) worker.end()
  }

  /**
   * The kinds of probes that run now. Until the startup probe has succeeded, only the startup probe runs. Afterwards, only the liveness and
   * readiness probes run.
   */
  get #active(): readonly ProbeKind[] {
    return this.isStarted ? ['liveness', 'readiness'] : ['startup']
  }

  /**
   * Begins the liveness and readiness probes after the startup probe has succeeded. Both probes run immediately, or after their initial
   * delays. The kubelet also runs the readiness probe immediately (k8s.io/kubernetes/pkg/kubelet/prober: UpdatePodStatus), but the liveness
   * probe only when the next period of the liveness probe begins.
   */
  #start(): void {
    this.isStarted = true
    this.#workers.get('startup')?.end()
    for (const kind of this.#active) this.#workers.get(kind)?.begin()
  }

  /**
   * Reports the outcome of one run of a probe (k8s.io/kubernetes/pkg/kubelet/prober: prober.probe). If the probe has failed, calls
   * `onFailure`. If the run ended with an error or a warning, records an Event.
   */
  #report(kind: ProbeKind, outcome: ProbeOutcome | ProbeError): void {
    const { onFailure, record } = this.#options
    const title = titles[kind]
    if (outcome instanceof ProbeError) {
      const message = `${title} probe errored and resulted in ${outcome.state} state: ${outcome.message}`
      record({ type: 'Warning', reason: 'Unhealthy', message })
    } else if (outcome.kind === 'warning') {
      record({ type: 'Warning', reason: 'ProbeWarning', message: `${title} probe warning: ${outcome.output}` })
    } else if (outcome.kind === 'failure') onFailure(kind, outcome.output)
  }
}

const titles: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' }

function specOf(container: ContainerSpec, kind: ProbeKind): ProbeSpec | undefined {
  switch (kind) {
    case 'startup':
      return container.startupProbe
    case 'liveness':
      return container.livenessProbe
    case 'readiness':
      return container.readinessProbe
  }
}
