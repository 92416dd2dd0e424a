/** `KilledCluster`: an embedded cluster in a child process, which the test kills. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import { loadConnection } from '../../../src/client/kubeconfig.ts'

const program = join(import.meta.dirname, 'cluster-process.ts')

export class KilledCluster {
  readonly #directory: string
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #output = ''

  /**
   * Starts a cluster that keeps its objects in `directory`. `fileLimitKiB` is the maximum size of each file that the process writes, in
   * KiB. Default: no limit. If a write exceeds the limit, the write fails, as on a full disk.
   */
  constructor(directory: string, { fileLimitKiB }: { readonly fileLimitKiB?: number } = {}) {
    this.#directory = directory
    const command = [process.execPath, '--conditions=proreus-source', program, directory]
    const limit = fileLimitKiB === undefined ? 'unlimited' : String(fileLimitKiB)
    // If a file reaches the limit, Linux sends a signal to the process. Node.js normally ignores this signal. With the NODE_OPTIONS that
    // tap sets, the signal would end the process, so the script removes NODE_OPTIONS.
    const script = `ulimit -f ${limit} && unset NODE_OPTIONS && exec "$@"`
    this.#child = spawn('bash', ['-c', script, 'bash', ...command], { stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.on('data', (chunk: Buffer) => (this.#output += String(chunk)))
    this.#ended = new Promise((resolve) => this.#child.on('close', resolve))
  }

  /**
   * Resolves with a client when the cluster is ready. If the process ends before the cluster is ready, throws an error with the output of
   * the process.
   */
  async ready(): Promise<Client> {
    const isReady = new Promise<void>((resolve) =>
      this.#child.stdout!.on('data', () => {
        if (this.#output.includes('ready\n')) resolve()
      }),
    )
    await Promise.race([isReady, this.#ended])
    if (this.#output !== 'ready\n') throw new Error(`the cluster has not started: ${this.#output}`)
    return createClient(await loadConnection({ env: { KUBECONFIG: join(this.#directory, 'kubeconfig') } }))
  }

  /** Kills the process. Resolves when the process has ended and its locks are released. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}
