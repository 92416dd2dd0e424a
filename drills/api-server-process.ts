/**
 * `ApiServerProcess`: kills the kube-apiserver of a control plane, and starts it again with the same arguments. This works only on Linux,
 * because `/proc` is used to find the process.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { ControlPlane } from '../src/testing/index.ts'
import { until } from '../src/testing/index.ts'

/** Time limit in milliseconds for the API server to become ready. */
const readyMs = 60_000

interface Found {
  readonly pid: number
  readonly command: readonly string[]
  readonly directory: string
}

export class ApiServerProcess {
  readonly #controlPlane: ControlPlane
  #started: ChildProcess | undefined

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane
  }

  /** Kills the API server, starts it again after `awayMs` milliseconds, and resolves when it is ready. */
  async restart(awayMs: number): Promise<void> {
    const { connection, client } = this.#controlPlane
    const { pid, command, directory } = findByPort(new URL(connection.server).port)
    process.kill(pid, 'SIGKILL')
    await delay(awayMs)
    let server: ChildProcess | undefined
    await until(
      'the API server is ready again',
      async () => {
        // While the API server was not running, the kernel may have given its port to an outgoing connection of any process. In this case,
        // the new API server ends, and is started again.
        if (server === undefined || server.exitCode !== null) server = this.#start(command, directory)
        return (await client.raw('/readyz')) === 'ok'
      },
      readyMs,
    )
  }

  #start(command: readonly string[], directory: string): ChildProcess {
    // With `--pdeathsig`, the kernel kills the API server when this process ends for any reason.
    this.#started = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], { cwd: directory, stdio: 'ignore', env: {} })
    // If `setpriv` cannot be started, the API server does not become ready, and `until` throws.
    this.#started.on('error', () => undefined)
    return this.#started
  }

  /** Kills the API server that `restart` has started. The control plane does not stop this process. */
  stop(): void {
    this.#started?.kill('SIGKILL')
  }
}

function findByPort(port: string): Found {
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!(pid > 0)) continue
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
      if (command.includes(`--secure-port=${port}`) && command[0]!.endsWith('kube-apiserver'))
        return { pid, command, directory: readlinkSync(`/proc/${pid}/cwd`) }
    } catch {
      // The process has just ended, or belongs to another user. In both cases, the process is not the API server.
    }
  }
  throw new Error(`No kube-apiserver serves the port ${port}.`)
}
