/** `ContainerLogs`: the logs of the latest two runs of a container. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../runtime/clock.ts'
import type { LogLimits } from './container-log.ts'
import { ContainerLog, logFileName, parseLogFileName } from './container-log.ts'
import { pathComponent } from '../volumes/state-folders.ts'

export interface ContainerLogsOptions extends LogLimits {
  /** The folder for the files of the cluster. */
  readonly stateFolder: string
  readonly podUid: string
  readonly container: string
  /**
   * Called when output could not be read or written, or a log file could not be closed (see `ContainerLogOptions`). By default, these
   * errors are ignored.
   */
  readonly onProblem?: (error: Error) => void
  readonly clock?: Clock
}

/**
 * The number of runs whose logs are kept. The kubelet keeps one ended container in addition to the running container
 * (k8s.io/kubernetes/pkg/kubelet/container: GCPolicy.MaxPerPodContainer).
 */
const keptRuns = 2

export class ContainerLogs {
  readonly #folder: string
  readonly #options: ContainerLogsOptions
  /** The runs, the oldest first. */
  readonly #runs: ContainerLog[] = []

  private constructor(folder: string, options: ContainerLogsOptions) {
    this.#folder = folder
    this.#options = options
  }

  /** Finds the existing logs of a container. These logs are from runs that ended before Proreus started. */
  static async open(options: ContainerLogsOptions): Promise<ContainerLogs> {
    const folder = join(podLogFolder(options.stateFolder, options.podUid), pathComponent(options.container))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const logs = new ContainerLogs(folder, options)
    const runs = new Map<number, number[]>()
    for (const name of await readdir(folder)) {
      const parsed = parseLogFileName(name)
      if (parsed !== undefined) runs.set(parsed.run, [...(runs.get(parsed.run) ?? []), parsed.file])
    }
    for (const [run, files] of [...runs].sort(([a], [b]) => a - b)) {
      logs.#runs.push(new ContainerLog({ ...options, folder, run, files: { first: Math.min(...files), last: Math.max(...files) } }))
    }
    return logs
  }

  /** The log of the latest run. */
  get latest(): ContainerLog | undefined {
    return this.#runs.at(-1)
  }

  /** The log of the run that preceded the latest run. */
  get previous(): ContainerLog | undefined {
    return this.#runs.at(-2)
  }

  /** Begins the log of a new run. Of the existing logs, keeps only the log with the highest run number below `run`. */
  async start(run: number): Promise<ContainerLog> {
    const earlier = this.#runs.filter((log) => log.run < run)
    const kept = earlier.slice(1 - keptRuns)
    for (const log of this.#runs.filter((one) => !kept.includes(one))) await this.#remove(log)
    const log = new ContainerLog({ ...this.#options, folder: this.#folder, run })
    this.#runs.splice(0, this.#runs.length, ...kept, log)
    return log
  }

  async #remove({ run, state: { first, last } }: ContainerLog): Promise<void> {
    for (let file = first; file <= last; file += 1) await rm(join(this.#folder, logFileName(run, file)), { force: true })
  }
}

/** Removes the logs of a Pod. */
export function removePodLogs(stateFolder: string, podUid: string): Promise<void> {
  return rm(podLogFolder(stateFolder, podUid), { recursive: true, force: true })
}

function podLogFolder(stateFolder: string, podUid: string): string {
  return join(stateFolder, 'logs', pathComponent(podUid))
}
