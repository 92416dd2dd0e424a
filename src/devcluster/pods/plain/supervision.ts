/** `Supervision`: starts the processes of containers for the driver, and ends the processes of an earlier driver. */
import type { Clock } from '../../../runtime/clock.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { timedOut, within } from '../../../runtime/waiting.ts'
import { endProcesses, endsWithinMs, membersOf } from './end-processes.ts'
import type { DriverMessage, StartMessage, SupervisorMessage } from './messages.ts'
import { listProcesses, startTimeOf } from './process-list.ts'
import type { ProcessIdentity } from './process-record.ts'
import { ProcessRecord } from './process-record.ts'
import { SupervisedContainer } from './supervised-container.ts'
import { SupervisedProcess } from './supervised-process.ts'

export interface SupervisionOptions {
  /** The folder of the file that lists the running processes. */
  readonly stateFolder: string
  readonly clock?: Clock
  send(message: SupervisorMessage): void
}

interface Entry {
  readonly process: SupervisedProcess
  readonly container: SupervisedContainer
  readonly isFirst: boolean
}

/** The exit code of a process that has been killed: 128 plus the number of SIGKILL. */
const killedCode = 137

export class Supervision {
  readonly #clock: Clock
  readonly #send: (message: SupervisorMessage) => void
  readonly #record: ProcessRecord
  readonly #own: ProcessIdentity
  readonly #owner: ProcessIdentity
  /** The running containers. The key of a container is the `id` in the message that has started its first process. */
  readonly #containers = new Map<number, SupervisedContainer>()
  readonly #entries = new Map<number, Entry>()
  #isClosed = false

  constructor(options: SupervisionOptions) {
    this.#clock = options.clock ?? systemClock
    this.#send = (message) => options.send(message)
    this.#record = new ProcessRecord(options.stateFolder)
    this.#own = identify(process.pid)
    this.#owner = identify(process.ppid)
  }

  /**
   * Ends the processes of an earlier driver that are still running.
   *
   * @throws when another driver uses the folder, or the folder cannot be written
   */
  async endLeftovers(): Promise<void> {
    const record = this.#record.read()
    if (record !== undefined && isRunning(record.owner) && isRunning(record.supervisor))
      throw new Error(`the process ${record.owner.pid} runs Pods with the same state folder`)
    const leftovers = record === undefined ? [] : [record.supervisor, ...record.processes]
    const started = new Map(leftovers.map(({ pid, startTime }) => [pid, startTime]))
    const prefix = `${this.#record.folderId}/`
    await endProcesses(this.#clock, () => membersOf(listProcesses(), { started, hasMarker: (marker) => marker.startsWith(prefix) }))
    this.#recordProcesses()
  }

  receive(message: DriverMessage): void {
    if (message.type === 'start') {
      void this.#start(message)
      return
    }
    const entry = this.#entries.get(message.id)
    switch (message.type) {
      case 'signal':
        return entry?.process.signal(message.name)
      case 'resize':
        return entry?.process.resize(message.size)
      case 'kill':
        if (entry !== undefined) void this.#kill(entry, message.id)
    }
  }

  /**
   * Kills all processes of all containers. Resolves when the processes have ended, or after about 2 seconds even if some processes still
   * run.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#containers.values()].map((container) => container.end()))
    this.#record.remove()
  }

  async #start({ id, container: first, ...options }: StartMessage): Promise<void> {
    const isFirst = first === undefined
    const container = isFirst ? this.#addContainer(id) : this.#containers.get(first)
    let process: SupervisedProcess
    try {
      if (container === undefined || container.hasEnded || this.#isClosed) throw new Error('the container has ended')
      process = await SupervisedProcess.start({ ...options, marker: container.marker, onProcess: (pid) => container.add(pid) })
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      if (isFirst) await this.#endContainer(id)
      this.#send({ type: 'failed', id, message, ...(code !== undefined && { code }) })
      return
    }
    const entry = { process, container, isFirst }
    this.#entries.set(id, entry)
    this.#send({ type: 'started', id })
    const exitCode = await process.exited
    container.replace(process.pids)
    if (isFirst) await this.#endContainer(id)
    this.#exited(id, exitCode)
  }

  #addContainer(id: number): SupervisedContainer {
    const marker = `${this.#record.folderId}/${id}`
    const container = new SupervisedContainer({ clock: this.#clock, marker, onChange: () => this.#update() })
    this.#containers.set(id, container)
    return container
  }

  async #endContainer(id: number): Promise<void> {
    await this.#containers.get(id)?.end()
    this.#containers.delete(id)
    this.#update()
  }

  async #kill({ process, container, isFirst }: Entry, id: number): Promise<void> {
    await (isFirst ? container.end() : container.kill(process.pids))
    // Proreus cannot kill a process that has changed its user, e.g. with sudo. After `endsWithinMs` milliseconds, such a process is
    // reported as ended, although it still runs.
    if ((await within(this.#clock, endsWithinMs, process.exited)) === timedOut) this.#exited(id, killedCode)
  }

  /** Reports the end of a process. Further calls for the same process have no effect. */
  #exited(id: number, exitCode: number): void {
    if (this.#entries.delete(id)) this.#send({ type: 'exited', id, exitCode })
  }

  #recordProcesses(): void {
    const processes = [...this.#containers.values()].flatMap(({ identities }) => identities)
    this.#record.write({ owner: this.#owner, supervisor: this.#own, processes })
  }

  #update(): void {
    if (this.#isClosed) return
    try {
      this.#recordProcesses()
    } catch {
      // If the file cannot be written, e.g. because the disk is full, the containers continue to run. The file keeps its last content.
    }
  }
}

function identify(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) ?? '' }
}

function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime
}
