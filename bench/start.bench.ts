/**
 * Measures how long an operator takes to become ready, and how much memory it uses when it is idle. The results are compared with those of
 * a Node.js process that is only an HTTP server.
 *
 * `npm run bench -- start [--rounds 5] [--idle 3] [--built] [--node-args=--max-semi-space-size=2]`
 *
 * The operator has one kind with a webhook and a controller. It runs from `dist`, against the embedded API server in the process of the
 * benchmark. `dist` is built first, unless `--built` is given.
 *
 * Rows:
 *
 * - `in a Pod`: the operator reads its credentials from files, and stores its certificates in a Secret.
 * - `in a Pod, as in the image`: like `in a Pod`, but with the environment variables for Node.js and glibc from the Dockerfile.
 * - `with a kubeconfig`: the operator reads its credentials from a kubeconfig.
 *
 * Columns:
 *
 * - `ready ms`: the time from the start of the process until `/readyz` succeeds and all caches have synced.
 * - `idle RSS MiB`: the resident memory `--idle` seconds later.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '../src/client/client.ts'
import { startDevCluster } from '../src/devcluster/dev-cluster.ts'
import { installKinds } from '../src/manifests/install.ts'
import type { Operator } from '../src/manager/operator.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { silentLogger } from '../src/telemetry/logger.ts'
import { median, table } from './table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    idle: { type: 'string', default: '3' },
    built: { type: 'boolean', default: false },
    'node-args': { type: 'string', default: '' },
  },
})
const [rounds, idleMs] = [Number(values.rounds), Number(values.idle) * 1000]
const nodeArgs = values['node-args'].split(' ').filter((argument) => argument !== '')
const root = join(import.meta.dirname, '..')
/** Time limit in milliseconds for a process to become ready. */
const limitMs = 60_000

const bare = `const server = require('node:http').createServer((request, response) => response.end('readyz check passed'))
server.listen(Number(process.argv[1]), '127.0.0.1')`

const operatorFile = `import { defineController, defineKind, defineOperator, defineWebhook, Type } from 'proreus'
const app = defineKind({ group: 'example.com', kind: 'App', versions: [{ name: 'v1', spec: Type.Object({ replicas: Type.Integer({ default: 1 }) }) }] })
const reconcile = async () => undefined
export const operator = defineOperator({ name: 'app', kinds: [app], webhooks: [defineWebhook(app, { validate: () => [] })], controllers: [defineController(app, { reconcile })] })
`

interface Program {
  readonly name: string
  readonly args: (port: number) => readonly string[]
  readonly env: Readonly<Record<string, string>>
}

interface Result {
  readonly readyMs: number
  /** The CPU time in milliseconds until the process was ready. */
  readonly cpuMs: number
  readonly rssMiB: number
}

if (!values.built && spawnSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' }).status !== 0) process.exit(1)
const folder = mkdtempSync(join(tmpdir(), 'proreus-start-'))
const cluster = await startDevCluster({ port: 0, namespaces: ['app-system'], controllers: false, logger: silentLogger() })
const client = createClient(cluster.connection)
try {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/proreus'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'operator.js'), operatorFile)
  mkdirSync(join(folder, 'account'))
  writeFileSync(join(folder, 'account/token'), (await cluster.connection.authorization!())!.replace(/^Bearer /, ''))
  writeFileSync(join(folder, 'account/ca.crt'), cluster.connection.ca!)
  writeFileSync(join(folder, 'account/namespace'), 'app-system')
  writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfigYaml())
  const { operator } = (await import(join(folder, 'operator.js'))) as { operator: Operator }
  await installKinds(client, [operator], systemClock)

  const run = (port: number): readonly string[] => [
    join(root, 'dist/cli/bin.js'),
    ...['run', '--operators', join(folder, 'operator.js'), '--webhook-port=0', `--health-probe-bind-address=127.0.0.1:${port}`],
    ...['--metrics-bind-address=127.0.0.1:0', '--drain-delay=0s'],
  ]
  const server = new URL(cluster.connection.server)
  const inPod = {
    KUBERNETES_SERVICE_HOST: server.hostname,
    KUBERNETES_SERVICE_PORT: server.port,
    SERVICE_ACCOUNT_DIR: join(folder, 'account'),
  }
  const withKubeconfig = { KUBECONFIG: join(folder, 'kubeconfig') }
  const compileCache = { NODE_COMPILE_CACHE: join(folder, 'compile-cache') }
  const programs: readonly Program[] = [
    { name: 'bare Node.js', args: (port) => ['-e', bare, String(port)], env: {} },
    { name: 'in a Pod', args: run, env: { ...inPod, ...compileCache } },
    { name: 'in a Pod, as in the image', args: run, env: { ...inPod, ...imageEnvironment() } },
    { name: 'with a kubeconfig', args: run, env: { ...withKubeconfig, ...compileCache } },
  ]
  const results = new Map<Program, Result[]>(programs.map((program) => [program, []]))
  // The first round fills the compile cache and the file cache of the kernel. Its results are discarded.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, program] of programs.entries()) {
      const result = await measure(program, 20_000 + ((process.pid + round * programs.length + index) % 10_000))
      if (round > 0) results.get(program)!.push(result)
    }
  }
  const bareResults = results.get(programs[0]!)!
  const rows = programs.map((program) => {
    const cells = (['readyMs', 'cpuMs', 'rssMiB'] as const).flatMap((field) => {
      const [own, beside] = [results.get(program)!, bareResults].map((each) => median(each.map((result) => result[field]))) as [
        number,
        number,
      ]
      return [own.toFixed(0), `${(own / beside).toFixed(1)} ×`]
    })
    return [program.name, ...cells]
  })
  process.stdout.write(table(['process', 'ready ms', 'of bare', 'CPU ms until ready', 'of bare', 'idle RSS MiB', 'of bare'], rows))
} finally {
  await client.close()
  await cluster.close()
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Returns the environment variables that the Dockerfile sets for Node.js and glibc. `NODE_DISABLE_COMPILE_CACHE` disables the compile
 * cache, and `MALLOC_TRIM_THRESHOLD_` determines when glibc returns free memory to the kernel.
 */
function imageEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const names = ['NODE_DISABLE_COMPILE_CACHE', 'MALLOC_TRIM_THRESHOLD_']
  return Object.fromEntries(names.map((name) => [name, new RegExp(`^ +${name}=(\\S+)`, 'm').exec(dockerfile)![1]!]))
}

/** Starts the program, waits until it is ready, waits for `idleMs`, and stops the program. Returns the measured times and memory. */
async function measure({ name, args, env }: Program, port: number): Promise<Result> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...nodeArgs, ...args(port)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null || performance.now() - startedAt > limitMs) throw new Error(`${name} does not become ready:\n${log}`)
      await sleep(5)
    }
    const readyMs = performance.now() - startedAt
    const cpuMs = cpuMsOf(child.pid!)
    await sleep(idleMs)
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return { readyMs, cpuMs, rssMiB: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024 }
  } finally {
    // Node.js writes its compile cache only if the process exits normally. SIGTERM lets the operator exit normally.
    child.kill('SIGTERM')
    await ended
  }
}

/**
 * Returns the CPU time of a process in milliseconds. This is the sum of the 14th and 15th field of `/proc/PID/stat`, which count ticks of
 * 10 ms.
 */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz?verbose`, { headers: { connection: 'close' } })
    const body = await response.text()
    return response.ok && body.includes('readyz check passed') && !body.includes('[~]')
  } catch {
    return false
  }
}
