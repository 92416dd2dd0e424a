/** `KilledOwner`: a process that runs containers (owner.ts). A test kills this process. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const program = join(import.meta.dirname, 'owner.ts')

export class KilledOwner {
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #errors: Promise<string>

  /**
   * Starts the process.
   *
   * @param scripts the scripts of the containers. A container whose script begins with `tty ` has a terminal.
   * @param before the command prefix that runs the process as another user
   */
  constructor(folder: string, scripts: readonly string[], before: readonly string[] = []) {
    const [words = '', ...args] = [...before, process.execPath, program, folder, JSON.stringify(scripts)]
    this.#folder = folder
    this.#child = spawn(words, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: undefined }, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#errors = text(this.#child.stderr!)
  }

  /** Resolves when the containers have started. If the process ends before that, rejects with the stderr of the process. */
  async ready(): Promise<void> {
    const ended = once(this.#child, 'exit').then(() => this.#errors)
    const result = await Promise.race([ended, once(this.#child.stdout!, 'data')])
    if (typeof result === 'string') throw new Error(`the containers have not started: ${result}`)
  }

  /** The pid of the driver's supervisor. The supervisor kills the containers when the owner process has ended. */
  get supervisor(): number {
    return supervisorOf(this.#folder)
  }

  /** Kills the process. Resolves when the process has ended. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** Returns the pid of the driver's supervisor, which is stored in `processes.json` in the driver's state folder. */
export function supervisorOf(folder: string): number {
  const { supervisor } = JSON.parse(readFileSync(join(folder, 'processes.json'), 'utf8')) as { supervisor: { pid: number } }
  return supervisor.pid
}
