/** Starts the replicas of the failover drill. Each replica has a separate user and a separate fault proxy. */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FaultProxy } from '../../src/testing/index.ts'
import type { SentRelease, SentWrite } from './sent-writes.ts'

export class Replica {
  readonly name: string
  readonly proxy: FaultProxy
  /** The writes that the processes of this replica have sent, keyed by the ids of the writes. */
  readonly sent = new Map<string, SentWrite>()
  /** The times at which the processes of this replica sent a request that releases the Lease. */
  readonly releases: number[] = []
  #child: ChildProcess

  constructor(name: string, proxy: FaultProxy) {
    this.name = name
    this.proxy = proxy
    this.#child = this.#fork()
  }

  /** Ends the process with this signal, waits until it has ended, and starts a new process. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#end(signal)
    this.#child = this.#fork()
  }

  /**
   * Pauses the process with SIGSTOP for `ms` milliseconds. On a node that is out of memory, a process can be paused in the same way. The
   * process itself does not notice the pause.
   */
  async pause(ms: number): Promise<void> {
    this.#child.kill('SIGSTOP')
    await delay(ms)
    this.#child.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    await this.proxy.stop()
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return
    this.#child.kill(signal)
    await once(this.#child, 'exit')
  }

  #fork(): ChildProcess {
    const child = fork(join(import.meta.dirname, 'replica.ts'), [this.name], {
      execArgv: ['--conditions=proreus-source'],
      env: { ...process.env, KUBECONFIG: this.proxy.kubeconfig },
    })
    child.on('message', (message) => {
      const sent = message as SentWrite | SentRelease
      if ('releasedAt' in sent) this.releases.push(sent.releasedAt)
      else this.sent.set(sent.id, sent)
    })
    return child
  }
}
