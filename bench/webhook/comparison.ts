/**
 * Runs the servers of a comparison: writes the files and certificates, starts each server on one CPU core, and starts the load generator on
 * another core.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority } from '../../src/certs/issue.ts'
import { issueServingCertificate } from '../../src/devcluster/state/state.ts'
import type { Program, RunningProgram, WebhookPath } from './programs.ts'
import { loadProgram, pinned, startProgram } from './programs.ts'

/** The results of one run of the load generator against one server. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** CPU seconds that the server needed for all requests. */
  readonly cpuSeconds: number
}

export interface LoadOptions {
  readonly path: WebhookPath
  /** The path of the file that contains the body of every request. */
  readonly body: string
  readonly seconds: number
  /** Requests per second over all connections. With 0, the default, the load generator sends as many requests as possible. */
  readonly rate?: number
}

export interface Comparison {
  /** A temporary folder for files such as certificates and request bodies. */
  readonly directory: string
  /** The PEM of the CA that issued the servers' certificates. */
  readonly ca: string
  readonly programs: readonly RunningProgram[]
  file(name: string, content: string): string
  /**
   * Sends requests to the server for a number of seconds, and returns the measurements.
   *
   * @throws {Error} when a request or the load generator fails.
   */
  load(program: RunningProgram, options: LoadOptions): Load
}

/** Starts the servers, calls `compare`, and then stops the servers. */
export async function compared(programs: readonly Program[], compare: (comparison: Comparison) => void | Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'proreus-bench-'))
  const started: RunningProgram[] = []
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content, { mode: 0o600 })
    return join(directory, name)
  }
  try {
    const authority = await issueAuthority(Date.now())
    const serving = await issueServingCertificate(authority, Date.now())
    const [ca, cert, key] = [file('ca.crt', authority.cert), file('tls.crt', serving.cert), file('tls.key', serving.key)]
    const loader = loadProgram()
    for (const program of programs) started.push(await startProgram(program, cert, key))
    const load = (program: RunningProgram, options: LoadOptions): Load => underLoad(loader, ca, program, options)
    await compare({ directory, ca: authority.cert, programs: started, file, load })
  } finally {
    for (const program of started) program.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function underLoad(loader: string, ca: string, program: RunningProgram, { path, body, seconds, rate = 0 }: LoadOptions): Load {
  const before = program.cpuSeconds()
  const args = ['-url', program.url(path), '-ca', ca, '-body', body, '-seconds', String(seconds), '-rate', String(rate)]
  const [command, ...rest] = pinned('load', [loader, ...args])
  const { stdout, stderr, status } = spawnSync(command!, rest, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the load ended with ${status}: ${stderr}`)
  const seen = JSON.parse(stdout) as Omit<Load, 'cpuSeconds'> & { failed: number; error?: string }
  if (seen.failed > 0 || seen.error !== undefined)
    throw new Error(`${program.program.name} failed ${seen.failed} requests (${path} of ${body}): ${seen.error}`)
  return { ...seen, cpuSeconds: program.cpuSeconds() - before }
}
