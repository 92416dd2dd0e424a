/** `startProcess`: runs a script that starts a process of a container, and connects the streams of the process. */
import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { Duplex, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ContainerStartError } from '../driver.ts'
import type { StartReport } from './control-channel.ts'
import { ControlChannel } from './control-channel.ts'
import { OutputPipes } from './output-pipes.ts'
import type { ProcessScript } from './process-scripts.ts'
import { startProgram } from './programs.ts'

export interface StartOptions {
  /** A command prefix. A command after this prefix runs in the namespaces of the Pod or of the container. */
  readonly enter: readonly string[]
  readonly script: ProcessScript
  /**
   * The lists that Proreus sends to the script through the control channel, in the order in which the script reads them. One list contains
   * the command that the script runs, with its arguments.
   */
  readonly lists: readonly (readonly string[])[]
  readonly tty: boolean
  readonly stdin: boolean
  /** The path of the pipes of the process, without the suffixes `.stdout` and `.stderr`. */
  readonly pipes: string
  /** If the signal aborts before the script has started the program, the script ends. */
  readonly signal?: AbortSignal | undefined
}

export interface StartedProcess {
  readonly stdin?: Writable
  readonly stdout: Readable
  readonly stderr?: Readable
  readonly report: StartReport
  readonly exited: Promise<number>
}

/**
 * Runs a command whose stdin is a pipe. The stdin of the shell is a socket, and a program cannot open a socket by a path such as
 * /dev/stdin. `cat` copies the data from the socket to the pipe, and ends when Proreus closes the socket. The shell does not wait for
 * `cat`.
 */
const pipeStdin = `
exec 4<&0
(cat <&4 2>/dev/null 3<&- 4<&- &) | {
  chmod 666 /dev/stdin
  exec "$@" 4<&-
}`

/**
 * Starts the process of a container.
 *
 * @throws {ContainerStartError} when the start has failed or was aborted. If a command that prepares the start has failed, such as `mount`,
 *   the error has the message of this command.
 */
export async function startProcess(options: StartOptions): Promise<StartedProcess> {
  const { lists, tty, stdin: hasStdin, pipes, signal } = options
  const output = tty ? undefined : await OutputPipes.open(pipes)
  const child = await spawnScript(options, output).catch((error: unknown) => {
    output?.destroy()
    throw new ContainerStartError('the process could not be started', { cause: error })
  })
  const exited = exitCodeOf(child)
  for (const stream of [child.stdin, child.stdout]) stream?.on('error', () => undefined)
  const control = new ControlChannel(child.stdio[3] as Duplex)
  for (const list of lists) control.send(list)
  const abort = (): void => control.close()
  signal?.addEventListener('abort', abort)
  if (signal?.aborted === true) abort()
  const report = await control.started
  signal?.removeEventListener('abort', abort)
  const { stdin } = child
  const { stdout, stderr } = output ?? { stdout: child.stdout }
  if (typeof report !== 'string' && stdout !== null && signal?.aborted !== true) {
    control.proceed()
    void exited.then(() => stdin?.destroy())
    return { report, exited, stdout, ...(stderr !== undefined && { stderr }), ...(hasStdin && stdin !== null && { stdin }) }
  }
  control.close()
  stdin?.destroy()
  await exited
  const errors = typeof report === 'string' ? report : ''
  // If the script has reported no error, the usual cause is that a program in `enter` has failed. The programs in `enter` run before the
  // script, and write the reason for a failure to stderr.
  const reason = errors === '' && stderr !== undefined ? (await text(stderr)).trim() : errors
  output?.destroy()
  throw new ContainerStartError(reason === '' ? 'the process ended before it was started' : reason)
}

async function spawnScript({ enter, script, stdin }: StartOptions, output: OutputPipes | undefined): Promise<ChildProcess> {
  const command = [...enter, 'sh', '-c', script.script]
  try {
    if (output === undefined) return await startProgram(command, [...terminalStdio, 'pipe'], script.environment)
    if (!stdin) return await startProgram(command, ['ignore', ...output.fds, 'pipe'], script.environment)
    return await startProgram(['sh', '-c', pipeStdin, 'sh', ...command], ['pipe', ...output.fds, 'pipe'], script.environment)
  } finally {
    output?.closeTheirs()
  }
}

/**
 * The stdin of script(1) is always a pipe, even if the container process has no stdin. If the stdin of script(1) ended, the container
 * process would receive an end of file from the terminal.
 */
const terminalStdio = ['pipe', 'pipe', 'ignore'] as const

/** Resolves with the exit code. If a signal has killed the process, the exit code is 128 plus the number of the signal. */
function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
  })
}
