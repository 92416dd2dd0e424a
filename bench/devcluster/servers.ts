/** Starts the compared API servers on one CPU core: Proreus, Proreus with objects on disk, and etcd with kube-apiserver. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensurePrograms, showProgress } from '../../scripts/tools.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import { defineOperator, systemClock } from '../../src/index.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { app } from '../app.ts'
import { residentMbOf } from '../process-usage.ts'
import { pinned } from '../webhook/programs.ts'
import { namespaces } from './requests.ts'

export interface Server {
  readonly name: string
  /** The connection of a client with all permissions. */
  readonly connection: Connection
  readonly client: Client
  /** The process ids of the server. The CPU time of the server is the sum of the CPU times of these processes. */
  readonly processes: readonly number[]
  /** Collects garbage, and returns the live memory of the server in MiB. Returns NaN for a server that cannot report this memory. */
  heapMb(): Promise<number>
  /** Returns the resident memory of all processes in MiB. */
  residentMb(): number
  stop(): Promise<void>
}

export interface ServerProgram {
  readonly name: string
  /** @param nodeArgs options of Node.js for Proreus, e.g. `--cpu-prof` */
  start(nodeArgs: readonly string[]): Promise<Server>
}

export const serverPrograms: readonly ServerProgram[] = [
  { name: 'Proreus', start: (nodeArgs) => startProreus('Proreus', nodeArgs) },
  {
    name: 'Proreus with --data-dir',
    async start(nodeArgs) {
      const directory = mkdtempSync(join(tmpdir(), 'proreus-bench-'))
      const server = await startProreus('Proreus with --data-dir', nodeArgs, directory)
      return {
        ...server,
        async stop() {
          await server.stop()
          rmSync(directory, { recursive: true, force: true })
        },
      }
    },
  },
  { name: 'etcd and kube-apiserver', start: startKubeApiServer },
]

async function startProreus(name: string, nodeArgs: readonly string[], directory?: string): Promise<Server> {
  const node = [process.execPath, '--expose-gc', '--conditions=proreus-source', ...nodeArgs]
  const [command, ...args] = pinned('server', [
    ...node,
    join(import.meta.dirname, 'proreus.ts'),
    ...(directory === undefined ? [] : [directory]),
  ])
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const read = async <T>(): Promise<T> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`${name} has ended.`)
    return JSON.parse(value) as T
  }
  const { server, ca, token } = await read<{ server: string; ca: string; token: string }>()
  const connection: Connection = { server, ca, authorization: () => Promise.resolve(`Bearer ${token}`), describe: name }
  const client = createClient(connection)
  await installApp(client)
  return {
    name,
    connection,
    client,
    processes: [child.pid!],
    async heapMb() {
      child.stdin.write('\n')
      return (await read<{ mb: number }>()).mb
    },
    residentMb: () => residentMbOf(child.pid!),
    async stop() {
      await client.close()
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

async function startKubeApiServer(): Promise<Server> {
  await ensurePrograms(['etcd', 'kube-apiserver'], { env: process.env, progress: showProgress })
  const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces })
  const { connection, client } = controlPlane
  await installApp(client)
  const processes = childrenOf(process.pid).filter((pid) => ['etcd', 'kube-apiserver'].includes(nameOf(pid)))
  for (const pid of processes) spawnSync('taskset', ['-a', '-c', '-p', '0', String(pid)])
  return {
    name: 'etcd and kube-apiserver',
    connection,
    client,
    processes,
    heapMb: () => Promise.resolve(Number.NaN),
    residentMb: () => processes.reduce((sum, pid) => sum + residentMbOf(pid), 0),
    stop: () => controlPlane.stop(),
  }
}

async function installApp(client: Client): Promise<void> {
  await installKinds(client, [defineOperator({ name: 'bench', kinds: [app] })], systemClock)
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
}
