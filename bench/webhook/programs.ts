/** Starts the compared servers. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { controllerRuntimeProgram, goProgram, kubeRsProgram } from '../build.ts'
import { cpuSecondsOf, residentMbOf } from '../process-usage.ts'

const here = import.meta.dirname

export interface Program {
  readonly name: string
  /** True when the server applies the defaults of objects, and validates the objects. */
  readonly judges: boolean
  /**
   * Builds the server if necessary, and returns the command that starts the server. The caller appends the port and the paths of the
   * certificate and the key.
   */
  command(): readonly string[]
}

const node = (file: string): readonly string[] => [process.execPath, '--conditions=proreus-source', join(here, file)]

export const proreus: Program = { name: 'Proreus', judges: true, command: () => node('proreus.ts') }
export const controllerRuntime: Program = {
  name: 'controller-runtime',
  judges: true,
  command: () => [controllerRuntimeProgram(), 'webhook'],
}
export const kubeRs: Program = { name: 'kube-rs', judges: true, command: () => [kubeRsProgram(), 'webhook'] }
export const ceiling: Program = { name: 'bare fastify', judges: false, command: () => node('ceiling.ts') }
export const conversions: Program = { name: 'Proreus', judges: false, command: () => node('conversion.ts') }
export const conversionCeiling: Program = { name: 'bare fastify', judges: false, command: () => node('conversion-ceiling.ts') }
export const programs = [proreus, controllerRuntime, kubeRs, ceiling] as const

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
