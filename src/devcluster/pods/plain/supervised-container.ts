/** `SupervisedContainer`: finds and kills the processes of a container. The supervisor uses this class. */
import type { Clock } from '../../../runtime/clock.ts'
import { endProcesses, membersOf } from './end-processes.ts'
import type { ProcessIdentity } from './process-record.ts'
import { listProcesses, startTimeOf } from './process-list.ts'

export interface SupervisedContainerOptions {
  readonly clock: Clock
  /** The value of `markerVariable` in all processes of the container. */
  readonly marker: string
  /** Called when `identities` has changed. */
  onChange(): void
}

export class SupervisedContainer {
  readonly marker: string
  readonly #clock: Clock
  readonly #onChange: () => void
  /** The start times of the processes in `identities`, keyed by pid. */
  readonly #started = new Map<number, string>()
  #end: Promise<void> | undefined

  constructor({ clock, marker, onChange }: SupervisedContainerOptions) {
    this.#clock = clock
    this.marker = marker
    this.#onChange = onChange
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /**
   * The processes that the supervisor has started in the container. All other processes of the container are found as descendants of these.
   */
  get identities(): readonly ProcessIdentity[] {
    return [...this.#started].map(([pid, startTime]) => ({ pid, startTime }))
  }

  /** Called when the supervisor has started a process in the container. */
  add(pid: number): void {
    const startTime = startTimeOf(pid)
    if (startTime === undefined) return
    this.#started.set(pid, startTime)
    this.#onChange()
  }

  /**
   * Called when a program that the supervisor started in the container has ended. Removes the processes with the given pids from
   * `identities`, because these processes have ended. If an ended process has led a process group, adds the processes that still run in
   * this group to `identities`. If these processes were not in `identities`, the supervisor might not find them later.
   *
   * @param pids the pid of the program. For a program with a terminal, the pids of script(1) and of the program.
   */
  replace(pids: readonly number[]): void {
    for (const pid of pids) this.#started.delete(pid)
    for (const { pid, group, startTime } of listProcesses()) if (pids.includes(group)) this.#started.set(pid, startTime)
    this.#onChange()
  }

  /**
   * Kills the processes with the given pids, their descendants and their process groups. Resolves when none of these processes runs, or
   * after about 2 seconds, as `endProcesses` does.
   */
  kill(pids: readonly number[]): Promise<void> {
    const started = new Map([...this.#started].filter(([pid]) => pids.includes(pid)))
    return endProcesses(this.#clock, () => membersOf(listProcesses(), { started, hasMarker: () => false }))
  }

  /** Kills all processes of the container. Resolves when `endProcesses` resolves. */
  end(): Promise<void> {
    this.#end ??= endProcesses(this.#clock, () =>
      membersOf(listProcesses(), { started: this.#started, hasMarker: (marker) => marker === this.marker }),
    )
    return this.#end
  }
}
