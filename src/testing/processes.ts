/** Child processes with a common folder, which do not outlive this process, however it ends. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

/**
 * Waits until its standard input ends, which also happens when this process is killed; then kills the registered process groups and removes
 * the folder. A dying process may still write files, so the removal is retried.
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

/** Starts the program only after the watchdog has registered it; if this process dies before, the program never starts. */
const starterScript = 'read -r go || exit 1; exec "$@" </dev/null'

/** Number of a program's last lines of output that the error has when the program fails. */
const toldLines = 15

/** A program that was started. */
export interface StartedProgram {
  readonly name: string
  readonly pid: number
  hasEnded(): boolean
  /** Returns everything that the program has printed so far. */
  output(): string
  /** Returns the last lines of the program's output, for error messages. */
  lastOutput(): string
  /** Kills the program, and resolves when it has ended. */
  kill(): Promise<void>
}

export class Processes {
  /** The working directory of the programs, which is removed at the end. */
  readonly directory: string
  readonly #watchdog: ChildProcess
  readonly #children: ChildProcess[] = []
  readonly #logger: Logger
  #stopped: Promise<void> | undefined

  private constructor(directory: string, logger: Logger) {
    this.directory = directory
    this.#logger = logger
    // The watchdog runs in a session of its own. Ctrl-C in the terminal ends this process, which closes the watchdog's standard input and
    // thereby ends the watchdog.
    this.#watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'proreus-watchdog', directory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    })
    this.#watchdog.on('error', (error) => logger.error({ err: error }, 'the watchdog of the started programs failed'))
    this.#watchdog.stdin!.on('error', (error) => logger.error({ err: error }, 'the watchdog of the started programs is gone'))
    this.#watchdog.unref()
    unrefStream(this.#watchdog.stdin)
  }

  /** Creates a temporary folder, and starts the watchdog. */
  static async create(logger: Logger): Promise<Processes> {
    return new Processes(await mkdtemp(join(tmpdir(), 'proreus-')), logger)
  }

  /** Starts a program in the folder; its output goes to `name.log` there. */
  async start(name: string, path: string, args: readonly string[]): Promise<StartedProgram> {
    if (this.#stopped !== undefined) throw new ProreusError('PRO_ABORTED', `${name} is not started: the others are being stopped.`)
    const log = join(this.directory, `${name}.log`)
    const output = (): string => readFileSync(log, 'utf8')
    const descriptor = openSync(log, 'a', 0o600)
    const child = spawn('/bin/sh', ['-c', starterScript, name, path, ...args], {
      detached: true,
      cwd: this.directory,
      // The program does not get the user's environment, which may have a kubeconfig or a proxy.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.directory, TMPDIR: this.directory },
      stdio: ['pipe', descriptor, descriptor],
    })
    closeSync(descriptor)
    this.#children.push(child)
    child.stdin!.on('error', () => undefined) // the process has ended already, which its exit reports
    await once(child, 'spawn')
    child.unref()
    unrefStream(child.stdin)
    const pid = child.pid!
    await this.#writeLine(`add ${pid}`)
    const exited = new Promise<void>((resolve) =>
      child.once('exit', (code, signal) => {
        // From now on, the system may reuse the process id.
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
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      output,
      lastOutput: () => lastLines(output()),
      async kill() {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.ref()
        process.kill(-pid, 'SIGKILL')
        await exited
      },
    }
  }

  /** Kills all programs, and removes the folder. */
  stop(): Promise<void> {
    this.#stopped ??= this.#end()
    return this.#stopped
  }

  async #end(): Promise<void> {
    const all = [this.#watchdog, ...this.#children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    const exits = all.map((child) => {
      child.ref()
      return once(child, 'exit')
    })
    this.#watchdog.stdin!.end()
    await Promise.all(exits)
  }

  async #writeLine(line: string): Promise<void> {
    const stdin = this.#watchdog.stdin!
    if (!stdin.writable) return
    await new Promise<void>((resolve) => stdin.write(`${line}\n`, () => resolve()))
  }
}

/** An open pipe must not keep this process alive. */
function unrefStream(stream: unknown): void {
  ;(stream as { unref?: () => void } | null)?.unref?.()
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-toldLines).join('\n')
}
