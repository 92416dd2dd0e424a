/** `SupervisedProcess`: a process that the supervisor has started, in a separate process group and session. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import type { Duplex, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TerminalSize } from '../driver.ts'
import { sendSignal } from './end-processes.ts'
import type { PipePaths, Program, StartMessage } from './messages.ts'
import { openEndOfProcess } from './named-pipes.ts'
import { markerVariable, startTimeOf } from './process-list.ts'
import type { TerminalReport } from './terminal.ts'
import { controlDescriptor, resizeTerminal, terminalCommand } from './terminal.ts'

export interface StartOptions extends Pick<StartMessage, 'program' | 'folder' | 'pipes' | 'tty'> {
  /** The value of `markerVariable` in the environment of the process. */
  readonly marker: string
  /**
   * This function is called with the pid of the first process of the group as soon as the first process exists. With `tty`, the first
   * process is script(1), and the program runs in a child of script(1). In this case, the function is called a second time, with the pid of
   * the child.
   */
  onProcess(pid: number): void
}

export class SupervisedProcess {
  /** Resolves with the exit code. If a signal has ended the process, the code is 128 plus the number of the signal. */
  readonly exited: Promise<number>
  /** The first process of the group: the program, or script(1) with the program as its child. */
  readonly #child: ChildProcess
  readonly #terminal: (TerminalReport & { readonly startTime: string | undefined }) | undefined
  #isResizing = false
  #nextSize: TerminalSize | undefined

  /** Rejects when the process could not be started. */
  static async start(options: StartOptions): Promise<SupervisedProcess> {
    const { program, marker, tty } = options
    const marked: Program = { ...program, environment: [...program.environment, [markerVariable, marker]] }
    return tty ? startWithTerminal({ ...options, program: marked }) : startDirectly({ ...options, program: marked })
  }

  constructor(child: ChildProcess, exited: Promise<number>, terminal?: TerminalReport) {
    this.#child = child
    this.exited = exited
    this.#terminal = terminal && { ...terminal, startTime: startTimeOf(terminal.pid) }
  }

  /** The pids of the first process of the group and of the process that has the terminal. */
  get pids(): readonly number[] {
    const { pid } = this.#child
    return [pid, this.#terminal?.pid].filter((one) => one !== undefined)
  }

  /** Sends a signal to the program. If the program has ended, does nothing. */
  signal(name: NodeJS.Signals): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const { pid } = this.#terminal ?? this.#child
    // The program may end before script(1) ends. Another process may then have the pid of the program.
    if (this.#terminal !== undefined && startTimeOf(this.#terminal.pid) !== this.#terminal.startTime) return
    if (pid !== undefined) sendSignal(pid, name)
  }

  /**
   * Sets the size of the terminal. If several calls occur while the terminal changes its size, only the size of the last of these calls is
   * set.
   */
  resize(size: TerminalSize): void {
    if (this.#terminal === undefined) return
    this.#nextSize = size
    if (!this.#isResizing) void this.#resize(this.#terminal.path)
  }

  async #resize(path: string): Promise<void> {
    this.#isResizing = true
    while (this.#nextSize !== undefined) {
      const size = this.#nextSize
      this.#nextSize = undefined
      await resizeTerminal(path, size)
    }
    this.#isResizing = false
  }
}

async function startDirectly({ program, folder, pipes, onProcess }: StartOptions): Promise<SupervisedProcess> {
  const { child, exited } = await startGroup(program, { folder, pipes, others: [], onProcess })
  return new SupervisedProcess(child, exited)
}

async function startWithTerminal({ program, folder, pipes, marker, onProcess }: StartOptions): Promise<SupervisedProcess> {
  const { words, environment } = terminalCommand()
  const variables = { ...environment, PATH: process.env['PATH'] ?? '', [markerVariable]: marker }
  const script: Program = { file: words[0], args: words, environment: Object.entries(variables) }
  const { child, exited } = await startGroup(script, { folder, pipes, others: ['pipe', 'pipe'], onProcess })
  const problem = text(child.stderr as Readable).catch(() => '')
  const report = await exchange(child.stdio[controlDescriptor] as Duplex, program)
  if (report === undefined) throw new Error(`script(1) could not open a terminal: ${(await problem).trim()}`)
  onProcess(report.pid)
  return new SupervisedProcess(child, exited, report)
}

/**
 * Sends the program to `terminal-program.ts`. Resolves with the report from `terminal-program.ts`. If the process ends without a report,
 * resolves with undefined.
 */
async function exchange(control: Duplex, program: Program): Promise<TerminalReport | undefined> {
  control.on('error', () => undefined)
  control.end(JSON.stringify(program))
  try {
    for await (const line of createInterface({ input: control })) return JSON.parse(line) as TerminalReport
    return undefined
  } finally {
    control.destroy()
  }
}

interface GroupOptions {
  readonly folder: string
  readonly pipes: PipePaths
  /**
   * Additional pipes, which have no name in the file system. Their file descriptors follow those of the named pipes. A process with a
   * terminal has two additional pipes: stderr, for which there is no named pipe, and `controlDescriptor`.
   */
  readonly others: readonly 'pipe'[]
  onProcess(pid: number): void
}

/** Starts a program in a separate session. */
async function startGroup(
  { file, args, environment }: Program,
  { folder, pipes, others, onProcess }: GroupOptions,
): Promise<{ readonly child: ChildProcess; readonly exited: Promise<number> }> {
  const ends: (number | 'ignore')[] = []
  try {
    ends.push(openEndOfProcess(pipes.stdin, 'read'), openEndOfProcess(pipes.stdout, 'write'))
    if (pipes.stderr !== undefined) ends.push(openEndOfProcess(pipes.stderr, 'write'))
    const child = spawn(file, args.slice(1), {
      argv0: args[0] ?? file,
      cwd: folder,
      env: Object.fromEntries(environment),
      detached: true,
      stdio: [...ends, ...others],
    })
    const exited = new Promise<number>((resolve) => {
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]))
    })
    if (child.pid !== undefined) onProcess(child.pid)
    // If the program could not be started, the event `error` makes `once` reject.
    await once(child, 'spawn')
    child.on('error', () => undefined)
    return { child, exited }
  } finally {
    for (const fd of ends) if (fd !== 'ignore') closeSync(fd)
  }
}
