/** `DevProcess`: `proreus dev --pods=process` as a child process, which can be killed. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import type { Connection } from '../../../src/client/connection.ts'
import { loadConnection } from '../../../src/client/kubeconfig.ts'
import { until } from '../../../src/testing/until.ts'
import type { Running } from '../process/process.ts'
import { hasEnded, proreusCommand, runningOf } from '../process/process.ts'

/**
 * Time limit in milliseconds for the start, and for the end after SIGTERM. The start and the end usually take two seconds each. On a busy
 * machine, they take many times as long.
 */
const limitMs = 60_000

export class DevProcess {
  /** The folder `pods` in the state folder. It contains the files of Pods. */
  readonly podsFolder: string
  /** The time of the start in milliseconds since 1970. */
  readonly startedAt = Date.now()
  readonly #running: Running
  readonly #kubeconfig: string
  readonly #ended: Promise<void>

  /**
   * Starts `proreus dev` with this state folder.
   *
   * @param before a program, such as `setpriv`, and its arguments. The program starts first, and then replaces itself with `proreus dev`.
   *   Default: no program.
   */
  constructor(stateFolder: string, before: readonly string[] = []) {
    mkdirSync(stateFolder, { recursive: true })
    this.podsFolder = join(stateFolder, 'pods')
    this.#kubeconfig = join(stateFolder, 'kubeconfig')
    // A killed process leaves its kubeconfig behind. The old kubeconfig is removed, because `ready` waits for the kubeconfig of the new
    // process.
    rmSync(this.#kubeconfig, { force: true })
    const folders = ['--state-dir', stateFolder, '--cert-dir', join(stateFolder, 'certs')]
    const options = ['--pods', 'process', '--operators', 'none', '--port', '0', '--log-format', 'json']
    const [program = '', ...words] = [...before, ...proreusCommand(['dev', ...options, ...folders])]
    this.#running = runningOf(spawn(program, words, { cwd: stateFolder, stdio: ['ignore', 'pipe', 'pipe'] }))
    this.#ended = new Promise((resolve) => this.#running.child.once('exit', () => resolve()))
  }

  get pid(): number {
    return this.#running.child.pid ?? 0
  }

  /** The output so far. */
  get output(): string {
    return this.#running.output()
  }

  /** The warnings and errors in the output. */
  get complaints(): readonly string[] {
    return this.output.split('\n').filter((line) => /^\{"level":"(?:warn|error|fatal)"/.test(line))
  }

  /** Resolves when the cluster is ready. Rejects with the output when the process exits before that, or when the time limit has passed. */
  async ready(): Promise<{ readonly client: Client; readonly connection: Connection }> {
    const { child, output } = this.#running
    const hasStarted = await until(
      'proreus dev is ready',
      () => existsSync(this.#kubeconfig) || (hasEnded(child) && 'ended'),
      limitMs,
    ).catch((cause: unknown) => {
      throw new Error(output(), { cause })
    })
    if (hasStarted === 'ended') throw new Error(`proreus dev has ended with ${child.exitCode ?? child.signalCode}: ${output()}`)
    const connection = await loadConnection({ env: { KUBECONFIG: this.#kubeconfig } })
    return { client: createClient(connection), connection }
  }

  /** Kills the process. Resolves when the process has ended, even if its child processes still run. */
  async kill(): Promise<void> {
    this.#running.child.kill('SIGKILL')
    await this.#ended
  }

  /**
   * Sends SIGTERM to the process. When the process has ended, resolves with its exit code, or with null if a signal has killed the process.
   */
  async stop(): Promise<number | null> {
    const { child } = this.#running
    child.kill('SIGTERM')
    await until('proreus dev ends', () => hasEnded(child), limitMs)
    return child.exitCode
  }
}
