/** Builds and starts the compared servers, and reads their CPU time and memory. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

const here = import.meta.dirname
/** The folder for compiled servers, which is outside of the repository. */
const cache = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache'), 'proreus', 'bench')

export interface Program {
  readonly name: string
  /** True when the server defaults and validates objects; false when it allows every request. */
  readonly judges: boolean
  /** Returns the command that starts the server. The caller appends port, certificate and key. Builds the server if necessary. */
  command(): readonly string[]
}

const node = (file: string): readonly string[] => [process.execPath, '--conditions=proreus-source', join(here, file)]

export const proreus: Program = { name: 'Proreus', judges: true, command: () => node('proreus.ts') }
export const controllerRuntime: Program = {
  name: 'controller-runtime',
  judges: true,
  command: () => [goProgram('controller-runtime', join(here, '../peers/controller-runtime'))],
}
export const kubeRs: Program = { name: 'kube-rs', judges: true, command: () => [rustProgram('kube-rs', join(here, '../peers/kube-rs'))] }
export const ceiling: Program = { name: 'bare fastify', judges: false, command: () => node('ceiling.ts') }
export const conversions: Program = { name: 'Proreus', judges: false, command: () => node('conversion.ts') }
export const conversionCeiling: Program = { name: 'bare fastify', judges: false, command: () => node('conversion-ceiling.ts') }
export const programs = [proreus, controllerRuntime, kubeRs, ceiling] as const

function goProgram(name: string, directory: string): string {
  const target = join(cache, name)
  build('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', target, '.'], directory)
  return target
}

function rustProgram(name: string, directory: string): string {
  const target = join(cache, `${name}-target`)
  // There is no Cargo.lock: Cargo.toml pins the direct dependencies, and the versions of indirect dependencies may vary.
  build('cargo', ['build', '--release', '--target-dir', target], directory)
  return join(target, 'release', name)
}

function build(command: string, args: readonly string[], cwd: string): void {
  process.stderr.write(`building ${cwd.slice(cwd.indexOf('bench'))} …\n`)
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: '0' },
  })
  if (error !== undefined || status !== 0) throw new Error(`${command} could not build ${cwd}`, { cause: error })
}

export const loadProgram = (): string => goProgram('load', join(here, '../load'))

/** The CPU core on which the servers run, and the core on which the load generator runs. */
const cores = { server: '0', load: '1' } as const
export function pinned(core: keyof typeof cores, command: readonly string[]): readonly string[] {
  return ['taskset', '-c', cores[core], ...command]
}

export type WebhookPath = 'mutate' | 'validate' | 'convert'

export interface RunningProgram {
  readonly program: Program
  url(path: WebhookPath): string
  /** Returns the CPU time that the process has used since its start, in seconds. */
  cpuSeconds(): number
  residentMb(): number
  stop(): void
}

/** Starts a server on the servers' CPU core, and waits until it accepts connections. */
export async function startProgram(program: Program, cert: string, key: string): Promise<RunningProgram> {
  const port = await freePort()
  const [command, ...args] = pinned('server', [...program.command(), String(port), cert, key])
  // `taskset` limits the process to one CPU core. GOMAXPROCS limits a Go server to one thread that runs Go code.
  const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, GOMAXPROCS: '1' } })
  await untilListening(child, program.name, port)
  return {
    program,
    url: (path) => `https://localhost:${port}/${path}${path === 'convert' ? '' : '-bench-proreus-dev-v1-app'}`,
    cpuSeconds: () => cpuSecondsOf(child.pid!),
    residentMb: () => residentMbOf(child.pid!),
    stop: () => void child.kill('SIGKILL'),
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function untilListening(child: ChildProcess, name: string, port: number): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (open) return
    if (Date.now() > deadline) throw new Error(`${name} does not listen`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the CPU time of the process in seconds: the sum of `utime` and `stime` (proc(5)), which are counted in ticks of 10 ms. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function residentMbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}
