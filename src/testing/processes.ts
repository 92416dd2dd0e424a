/** Child processes that share a working directory. They are killed when this process ends for any reason. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

/**
 * The script of the watchdog, which kills process groups when this Node.js process ends or is killed. The lines `add PID` and `drop PID` on
 * the standard input change the list of these process groups.
 *
 * When the standard input ends, the script kills the process groups and removes the working directory. The removal is retried, because a
 * process that is ending may still write files.
 */
const watchdogScript = `
trap '' HUP INT TERM
pids=' '
while read -r op pid; do
  case $op in
    add) pids="$pids $pid " ;;
    drop) case $pids in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }" ;; esac ;;
  esac
done
for pid in $pids; do kill -s KILL -- "-$pid" 2>/dev/null; done
tries=0
until rm -rf "$1" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || exit 1
  sleep 0.1
done
`

/**
 * The shell script that starts a binary. The script waits for the line `go`. The method `start` sends this line after the watchdog has
 * received the process id of the script. The command `exec` then replaces the script with the binary in the same process. If this Node.js
 * process ends before `start` sends the line, the binary is never started.
 */
const starterScript = 'read -r go || exit 1; exec "$@" </dev/null'

/** Maximum number of lines of output that `lastOutput` returns and that a log message contains. */
const toldLines = 15

/** A child process that was started. */
export interface StartedProgram {
  readonly name: string
  readonly pid: number
  hasEnded(): boolean
  /** Returns everything that the process has written to standard output and standard error so far. */
  output(): string
  /** Returns the last lines of the output, for error messages. */
  lastOutput(): string
  /** Kills the process and its children. Resolves when the process has ended. */
  kill(): Promise<void>
}

export class Processes {
  /** The working directory of the processes. The directory is removed when the processes are stopped. */
  readonly directory: string
  readonly #watchdog: ChildProcess
  readonly #children: ChildProcess[] = []
  readonly #logger: Logger
  #stopped: Promise<void> | undefined

  private constructor(directory: string, logger: Logger) {
    this.directory = directory
    this.#logger = logger
    // `detached` starts the watchdog in a separate session, so that Ctrl-C in the terminal does not end the watchdog. Ctrl-C ends this
    // process. The standard input of the watchdog then ends, and the watchdog kills the process groups.
    this.#watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'proreus-watchdog', directory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    })
    this.#watchdog.on('error', (error) => logger.error({ err: error }, 'the watchdog of the started programs failed'))
    this.#watchdog.stdin!.on('error', () => undefined) // the watchdog has ended; its event `exit` reports that
    this.#watchdog.on('exit', () => {
      if (this.#stopped === undefined) logger.error('the watchdog of the started programs is gone')
    })
    this.#watchdog.unref()
    unrefStream(this.#watchdog.stdin)
  }

  /** Creates the working directory, and starts the watchdog. */
  static async create(logger: Logger): Promise<Processes> {
    return new Processes(await mkdtemp(join(tmpdir(), 'proreus-')), logger)
  }

  /** Starts a binary in the working directory. The binary's output is written to the file `${name}.log` in this directory. */
  async start(name: string, path: string, args: readonly string[]): Promise<StartedProgram> {
    if (this.#stopped !== undefined) throw new ProreusError('PRO_ABORTED', `${name} is not started: the others are being stopped.`)
    const log = join(this.directory, `${name}.log`)
    const output = (): string => readFileSync(log, 'utf8')
    const descriptor = openSync(log, 'a', 0o600)
    const child = spawn('/bin/sh', ['-c', starterScript, name, path, ...args], {
      detached: true,
      cwd: this.directory,
      // The binary does not inherit the user's environment variables. They may contain the path of a kubeconfig or the address of a proxy.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.directory, TMPDIR: this.directory },
      stdio: ['pipe', descriptor, descriptor],
    })
    closeSync(descriptor)
    this.#children.push(child)
    child.stdin!.on('error', () => undefined) // the process has already ended; its event `exit` reports that
    await once(child, 'spawn')
    child.unref()
    unrefStream(child.stdin)
    const pid = child.pid!
    await this.#writeLine(`add ${pid}`)
    const exited = new Promise<void>((resolve) =>
      child.once('exit', (code, signal) => {
        // The watchdog must no longer kill this process group, because the system may now reuse the process id.
        void this.#writeLine(`drop ${pid}`)
        if (this.#stopped === undefined && signal !== 'SIGKILL')
          this.#logger.debug({ program: name, code, signal, output: lastLines(output()) }, `${name} has ended`)
        resolve()
      }),
    )
    child.stdin!.end('go\n')
    return {
      name,
      pid,
      hasEnded: () => hasEnded(child),
      output,
      lastOutput: () => lastLines(output()),
      async kill() {
        if (hasEnded(child)) return
        child.ref()
        killGroup(pid)
        await exited
      },
    }
  }

  /** Kills all processes, and removes the working directory, even if the watchdog has ended. */
  stop(): Promise<void> {
    this.#stopped ??= this.#end()
    return this.#stopped
  }

  async #end(): Promise<void> {
    const running = this.#children.filter((child) => !hasEnded(child))
    const exits = running.map((child) => {
      child.ref()
      return once(child, 'exit')
    })
    if (!hasEnded(this.#watchdog)) {
      this.#watchdog.ref()
      const exit = once(this.#watchdog, 'exit')
      this.#watchdog.stdin!.end()
      await exit
    }
    // Usually, the watchdog has already killed the processes and removed the directory.
    for (const child of running) if (!hasEnded(child)) killGroup(child.pid!)
    await Promise.all(exits)
    await rm(this.directory, { recursive: true, force: true, maxRetries: 10 })
  }

  async #writeLine(line: string): Promise<void> {
    const stdin = this.#watchdog.stdin!
    if (!stdin.writable) return
    await new Promise<void>((resolve) => stdin.write(`${line}\n`, () => resolve()))
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Kills all processes of a process group. Does nothing if they have ended: the error is then ESRCH, or EPERM for zombies on macOS. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Allows this process to end although the pipe is open. */
function unrefStream(stream: unknown): void {
  ;(stream as { unref?: () => void } | null)?.unref?.()
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-toldLines).join('\n')
}
