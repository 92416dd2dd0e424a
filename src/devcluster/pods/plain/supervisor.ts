/**
 * `Supervisor`: controls the supervisor, which is a separate process that starts the processes of containers. The class `Supervisor` runs
 * in the process of the driver.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProreusError } from '../../../api/errors.ts'
import { ContainerStartError, type TerminalSize } from '../driver.ts'
import type { DriverMessage, StartMessage, SupervisorMessage } from './messages.ts'

/** A process that the supervisor has started. */
export interface StartedProcess {
  readonly id: number
  /** Resolves with the exit code. If the supervisor ends first, resolves with 137. Never rejects. */
  readonly exited: Promise<number>
}

interface Pending {
  readonly started: PromiseWithResolvers<void>
  readonly exited: PromiseWithResolvers<number>
}

/** The error message for a process that cannot be started because the supervisor has ended. */
export const containerEnded = 'the container has ended'

/** The exit code of a process that has been killed: 128 plus the number of SIGKILL. */
const killedCode = 137

export class Supervisor {
  /** Resolves when the process of the supervisor has ended. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<void>()
  readonly #pending = new Map<number, Pending>()
  #count = 0
  #hasEnded = false

  /**
   * Starts the process of the supervisor. Resolves when the supervisor has ended the processes of an earlier driver.
   *
   * @throws {ProreusError} `PRO_STATE_FILE` when the state folder cannot be used
   */
  static async start(stateFolder: string): Promise<Supervisor> {
    const supervisor = new Supervisor(stateFolder)
    await supervisor.#ready.promise
    return supervisor
  }

  private constructor(stateFolder: string) {
    const script = fileURLToPath(new URL(`./plain-supervisor${extname(import.meta.url)}`, import.meta.url))
    this.#child = spawn(process.execPath, [script, stateFolder], {
      // In a separate session, the process does not receive the signals of the terminal in which Proreus runs.
      detached: true,
      // NODE_OPTIONS is meant for the process of Proreus, e.g. for a debugger. It must not apply to the supervisor.
      env: { ...process.env, NODE_OPTIONS: undefined },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child.on('message', (message) => this.#receive(message as SupervisorMessage))
    this.ended = this.#watch()
  }

  /** True when the supervisor has ended, and the exit of each of its processes has been reported. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** @throws {ContainerStartError} when the process could not be started */
  async start(options: Omit<StartMessage, 'type' | 'id'>): Promise<StartedProcess> {
    if (this.#hasEnded) throw new ContainerStartError(containerEnded)
    const id = this.#count++
    const pending: Pending = { started: Promise.withResolvers(), exited: Promise.withResolvers() }
    this.#pending.set(id, pending)
    this.#send({ type: 'start', id, ...options })
    await pending.started.promise
    return { id, exited: pending.exited.promise }
  }

  signal(id: number, name: NodeJS.Signals): void {
    this.#sendTo(id, { type: 'signal', id, name })
  }

  kill(id: number): void {
    this.#sendTo(id, { type: 'kill', id })
  }

  resize(id: number, size: TerminalSize): void {
    this.#sendTo(id, { type: 'resize', id, size })
  }

  /** Disconnects the supervisor, which then ends all processes. Resolves when the supervisor has ended. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
  }

  /** Resolves when the process of the supervisor has ended. */
  async #watch(): Promise<void> {
    // Messages of the supervisor may arrive after the event `exit`, but not after the event `disconnect`.
    const disconnected = new Promise((resolve) => this.#child.on('disconnect', resolve))
    const cause = await new Promise<Error>((resolve) => {
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) resolve(error)
      })
      this.#child.on('exit', (code, signal) => {
        const end = new Error(`the supervisor of the Pods has ended with ${signal ?? `exit code ${code}`}`)
        void disconnected.then(() => resolve(end))
      })
    })
    this.#endAll(cause)
  }

  #sendTo(id: number, message: DriverMessage): void {
    if (this.#pending.has(id)) this.#send(message)
  }

  #send(message: DriverMessage): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #receive(message: SupervisorMessage): void {
    switch (message.type) {
      case 'ready':
        this.#ready.resolve()
        break
      case 'refused':
        this.#ready.reject(new ProreusError('PRO_STATE_FILE', `Pods cannot run as processes: ${message.message}`))
        break
      case 'started':
        this.#pending.get(message.id)?.started.resolve()
        break
      case 'failed': {
        const { code, message: text } = message
        const cause = Object.assign(new Error(text), code !== undefined && { code })
        this.#pending.get(message.id)?.started.reject(new ContainerStartError(`the process could not be started: ${text}`, { cause }))
        this.#pending.delete(message.id)
        break
      }
      case 'exited':
        this.#pending.get(message.id)?.exited.resolve(message.exitCode)
        this.#pending.delete(message.id)
    }
  }

  #endAll(cause: Error): void {
    this.#hasEnded = true
    this.#ready.reject(new ProreusError('PRO_STATE_FILE', `Pods cannot run as processes: ${cause.message}`, { cause }))
    for (const { started, exited } of this.#pending.values()) {
      started.reject(new ContainerStartError('the process could not be started', { cause }))
      exited.resolve(killedCode)
    }
    this.#pending.clear()
  }
}
