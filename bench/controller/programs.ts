/** Starts the compared operators, and reads the lines of JSON that they write. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { controllerRuntimeProgram, javaScriptOf, kubeRsProgram } from '../build.ts'
import { cpuSecondsOf, peakResidentMbOf, residentMbOf } from '../process-usage.ts'

export interface Program {
  readonly name: string
  /** The name of the user that sends the requests of the program. */
  readonly user: string
  /** Builds the program if necessary, and returns the command that starts the program. The caller appends arguments to the command. */
  command(): readonly string[]
  /**
   * The command for the part `noop` of the benchmark, which measures reconciles that do nothing. The default is the command that `command`
   * returns.
   */
  readonly noopCommand?: readonly string[]
}

export const proreus: Program = {
  name: 'Proreus',
  user: 'proreus',
  command: () => [process.execPath, javaScriptOf('controller/proreus.ts', 'controller/report.ts', 'app.ts')],
  noopCommand: [process.execPath, join(import.meta.dirname, 'noop.ts')],
}
export const controllerRuntime: Program = {
  name: 'controller-runtime',
  user: 'controller-runtime',
  command: () => [controllerRuntimeProgram()],
}
export const kubeRs: Program = { name: 'kube-rs', user: 'kube-rs', command: () => [kubeRsProgram()] }

/** A program that has been built, and the command that starts the program. */
export interface BuiltProgram extends Program {
  readonly built: readonly string[]
}

export function built(programs: readonly Program[]): BuiltProgram[] {
  return programs.map((program) => ({ ...program, built: program.command() }))
}

/** Milliseconds from SIGTERM to SIGKILL. A program that ends earlier gets no SIGKILL. */
const endMs = 15_000

/** A started program. */
export class RunningProgram {
  readonly startedAt = performance.now()
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(
    { built: [command, ...before] }: BuiltProgram,
    args: readonly (string | number)[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#child = spawn(command!, [...before, ...args.map(String)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]()
  }

  get #pid(): number {
    if (this.#child.pid === undefined || this.hasEnded()) throw new Error(`The program has ended with ${this.#child.exitCode}.`)
    return this.#child.pid
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.#pid)
  }

  residentMb(): number {
    return residentMbOf(this.#pid)
  }

  peakResidentMb(): number {
    return peakResidentMbOf(this.#pid)
  }

  /** Resolves to the next line of the program's output, parsed as JSON. */
  async result<T>(): Promise<T> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('The program has ended without a result.')
    return JSON.parse(value) as T
  }

  /** Writes a line to the standard input of the program. The program waits for this line, and then continues. */
  goOn(): void {
    this.#child.stdin!.write('\n')
  }

  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Terminates the program, and resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.hasEnded()) return
    this.terminate()
    const late = setTimeout(() => this.kill(), endMs)
    await once(this.#child, 'exit')
    clearTimeout(late)
  }
}
