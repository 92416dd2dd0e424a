/** Sends requests to a server. The load generator runs on a separate CPU core. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadProgram, pinned } from '../webhook/programs.ts'
import type { Request } from './requests.ts'
import type { Server } from './servers.ts'

export interface LoadOptions {
  readonly requests: readonly Request[]
  readonly seconds: number
  /** The number of connections. Default 16. */
  readonly connections?: number
  /** Requests per second over all connections. With 0, the default, the load generator sends as many requests as possible. */
  readonly rate?: number
  /** The path to watch, and the number of watches. The load ends when each watch has received one event for each request. */
  readonly watch?: { readonly path: string; readonly watchers: number }
}

export interface Load {
  readonly requests: number
  readonly events: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU seconds that the server has used during the load. */
  readonly cpuSeconds: number
}

let program: string | undefined

/**
 * Sends requests for a number of seconds, and returns the measurements.
 *
 * @throws {Error} when a request or the load generator fails.
 */
export async function load(server: Server, { requests, seconds, connections = 16, rate = 0, watch }: LoadOptions): Promise<Load> {
  program ??= loadProgram()
  const directory = mkdtempSync(join(tmpdir(), 'proreus-load-'))
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content, { mode: 0o600 })
    return join(directory, name)
  }
  const { server: url, ca, authorization } = server.connection
  const token = (await authorization!())!.replace('Bearer ', '')
  const files = ['-ca', file('ca.crt', ca!), '-requests', file('requests.json', JSON.stringify(requests))]
  const numbers = ['-connections', String(connections), '-seconds', String(seconds), '-rate', String(rate)]
  const watches = watch === undefined ? [] : ['-watch', watch.path, '-watchers', String(watch.watchers)]
  const target = ['-url', url.replace('127.0.0.1', 'localhost'), '-token', token, '-cpu-of', server.processes.join(',')]
  try {
    const [command, ...args] = pinned('load', [program, ...target, ...files, ...numbers, ...watches])
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
    if (child.exitCode !== 0) throw new Error(`the load ended with ${child.exitCode}`)
    const seen = JSON.parse(output) as Load & { failed: number; error?: string }
    if (seen.failed > 0 || seen.error !== undefined)
      throw new Error(`${server.name} failed ${seen.failed} requests such as ${requests[0]!.method} ${requests[0]!.path}: ${seen.error}`)
    return seen
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
