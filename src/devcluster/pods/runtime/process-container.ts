/** `ProcessContainer`: one container of a Pod. Each run of the container is a process of this machine. */
import type { ContainerHost, ContainerRun, ContainerSpec, ContainerTask, Operation } from '../../controllers/kubelet/container-runtime.ts'
import type { ContainerLogs } from '../logs/container-logs.ts'
import { logsOf } from './pod-context.ts'
import type { ProcessPod } from './process-pod.ts'
import { ProcessRun } from './process-run.ts'

export class ProcessContainer implements ContainerTask {
  spec: ContainerSpec
  readonly host: ContainerHost
  /** The latest run. */
  run: ProcessRun | undefined
  /** The logs of all runs of the container. */
  readonly logs: Promise<ContainerLogs>
  readonly #pod: ProcessPod

  constructor(pod: ProcessPod, spec: ContainerSpec, host: ContainerHost) {
    this.#pod = pod
    this.logs = logsOf(pod.context, pod.pod.metadata.uid, spec.name)
    // When the logs cannot be opened, a run that uses them reports the error. This handler prevents an unhandled rejection.
    this.logs.catch(() => undefined)
    this.spec = spec
    this.host = host
  }

  /** Resolves when the latest run has ended. The container then writes no more files. */
  async finish(): Promise<void> {
    await Promise.allSettled([this.logs, this.run?.finished])
  }

  respec(spec: ContainerSpec): void {
    this.spec = spec
  }

  hasImage(): boolean {
    return this.#imageProblem === undefined
  }

  /**
   * Checks the image, but pulls nothing. The operation fails when `Images.problemOf` finds a problem, for example that the program does not
   * exist.
   */
  pull(at: number): Operation {
    const problem = this.#imageProblem
    return { endsAt: at, error: problem === undefined ? undefined : { reason: 'ErrImagePull', message: problem } }
  }

  start(_at: number, restarts: number): ContainerRun {
    this.run = new ProcessRun(this.#pod, this, restarts)
    return this.run
  }

  /** Returns undefined, because no run can be continued: the processes end together with the embedded cluster. */
  resume(): undefined {
    return undefined
  }

  get #imageProblem(): string | undefined {
    const { images, driver } = this.#pod.context
    return images.problemOf(this.spec, driver)
  }
}
