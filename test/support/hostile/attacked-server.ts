/**
 * A webhook server in a child process, as the target of attacks. The server has:
 *
 * - the heap limit of the container in `config/manager/deployment.yaml`
 * - webhooks for the kind of the hostile reviews and for MyPods
 * - a conversion webhook for another kind
 * - the same probes as `run`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/runtime/clock.ts'
import { forbidden } from '../../../src/api/field-error.ts'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'
import { servingCertificate } from '../../../src/certs/serving-certificate.ts'
import type { Client } from '../../../src/client/client.ts'
import { memoryFor } from '../../../src/manager/webhook-memory.ts'
import { startProbes } from '../../../src/manager/probe-server.ts'
import { webhookCheck } from '../../../src/manager/webhook-check.ts'
import { mypodOperator } from '../../../src/operators/mypod/index.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { jobConversion } from '../conversion/fixture.ts'
import { shippedLimitBytes } from './shipped-limit.ts'
import { target } from './reviews.ts'
import { Turns } from '../turns.ts'

/** The heap limit is half of the container's memory limit, as with `--max-old-space-size-percentage=50` in the container image. */
const flags = [`--max-old-space-size=${shippedLimitBytes / 2 ** 21}`, '--max-semi-space-size=1', '--conditions=proreus-source']

export interface AttackedState {
  readonly inFlight: number
  readonly inFlightBytes: number
  /**
   * The longest iteration of the event loop since `state` was last called, in milliseconds of processor time. Other processes do not affect
   * this value.
   */
  readonly longestTurn: number
}

export interface AttackedServer {
  readonly port: number
  readonly ca: string
  /** Returns the exit code and the standard error when the process has ended; undefined while it runs. */
  readonly ended: () => string | undefined
  /** Returns the resident memory of the process in MB. `peak` is the maximum since `forgetPeak` was last called. */
  readonly resident: () => { readonly now: number; readonly peak: number }
  readonly forgetPeak: () => void
  /** Requests `/readyz`. Returns the status of the response, and its latency in milliseconds. */
  readonly ready: () => Promise<{ readonly status: number | string; readonly ms: number }>
  /** Returns the current counters of the server. */
  readonly state: () => Promise<AttackedState>
  readonly stop: () => Promise<void>
}

export async function startAttackedServer(): Promise<AttackedServer> {
  const child = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let problem = ''
  let end: string | undefined
  child.stderr!.on('data', (chunk: Buffer) => (problem = (problem + chunk.toString()).slice(-2000)))
  const exited = once(child, 'exit').then(([code, signal]) => (end = `${code ?? signal}: ${problem}`))
  const [line] = (await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    exited.then((why) => Promise.reject(new Error(`the server did not start: ${why}`))),
  ])) as [string]
  const { port, probePort, ca } = JSON.parse(line) as { port: number; probePort: number; ca: string }
  const status = (field: string): number => {
    if (end !== undefined) return Number.NaN
    const kib = Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
    return (kib * 1024) / 1e6
  }
  return {
    port,
    ca,
    ended: () => end,
    resident: () => ({ now: status('VmRSS'), peak: status('VmHWM') }),
    // Writing 5 to clear_refs resets the peak resident memory, VmHWM (see proc(5)).
    forgetPeak: () => end === undefined && writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    ready: () => probe(probePort),
    async state() {
      child.send('state')
      const [state] = (await once(child, 'message')) as [AttackedState]
      return state
    },
    async stop() {
      child.kill()
      await exited
    },
  }
}

async function probe(port: number): Promise<{ status: number | string; ms: number }> {
  const began = performance.now()
  const status = await new Promise<number | string>((resolve) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: '/readyz', agent: false, timeout: 10_000 }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')))
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.end()
  })
  return { status, ms: performance.now() - began }
}

async function serve(): Promise<void> {
  const logger = silentLogger()
  const metrics = new Metrics()
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: ['127.0.0.1'], now })
  const certificate = servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  const certificates = { current: () => certificate, onChange: () => () => undefined, start: () => Promise.resolve() }
  const own = defineWebhook(target, {
    default: ({ metadata, spec, ...object }) => ({
      ...object,
      metadata: { ...metadata, labels: { ...metadata.labels, seen: 'yes' } },
      spec: spec.rules === undefined ? spec : { ...spec, rules: spec.rules.map((rule) => ({ ...rule, seen: true })) },
    }),
    validate: ({ spec }) => (spec.labels?.bad === undefined ? [] : [forbidden('spec.labels.bad', 'is not wanted')]),
  })
  const server = createWebhookServer({
    webhooks: [own, ...mypodOperator.webhooks],
    conversions: [jobConversion],
    client: {} as Client,
    certificates,
    host: '127.0.0.1',
    port: 0,
    logger,
    metrics,
    memory: memoryFor(shippedLimitBytes, logger),
  })
  const { port } = await server.start()
  const check = webhookCheck({ host: '127.0.0.1', port, serverName: 'localhost', certificates, clock: systemClock })
  const { probes } = await startProbes({
    probeBindAddress: '127.0.0.1:0',
    metricsBindAddress: '0',
    metrics,
    liveness: () => [],
    readiness: () => [check],
    clock: systemClock,
    logger,
  })
  let turns = new Turns()
  process.on('message', () => {
    const { inFlight, inFlightBytes } = server
    process.send!({ inFlight, inFlightBytes, longestTurn: turns.stop() } satisfies AttackedState)
    turns = new Turns()
  })
  process.stdout.write(`${JSON.stringify({ port, probePort: probes!.port, ca: authority.cert })}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve()
