/**
 * Do hostile reviews hold up the others? One connection sends one after the other, of 1 to 7 MiB each, while another sends small ones
 * at a fixed rate; the time of these counts.
 *
 * `npm run bench -- hostile [--rate 100] [--seconds 5] [--only pattern]`
 */
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { forbidden } from '../src/api/field-error.ts'
import type { Client } from '../src/client/client.ts'
import { issueAuthority, issueLeaf } from '../src/certs/issue.ts'
import { servingCertificate } from '../src/certs/serving-certificate.ts'
import { silentLogger } from '../src/telemetry/logger.ts'
import { Metrics } from '../src/telemetry/metrics.ts'
import { defineWebhook } from '../src/webhook/definition.ts'
import { createWebhookServer } from '../src/webhook/server.ts'
import { hostileReviews, reviewOfSpec, target } from '../test/support/hostile-reviews.ts'
import { Turns } from '../test/support/turns.ts'
import { table } from './table.ts'

/** What a thread of the load is to send. */
interface Task {
  readonly port: number
  readonly ca: string
  /** Position in `hostileReviews`; undefined for small ones at a fixed rate. */
  readonly hostile: number | undefined
  readonly rate: number
  readonly seconds: number
}

interface Result {
  readonly times: readonly number[]
  /** What was answered the last time. */
  readonly last: string
}

/** What they change has to be judged again. */
const ownHandlers: Parameters<typeof defineWebhook<typeof target>>[1] = {
  default: (object) => ({ ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, seen: 'yes' } } }),
  validate: ({ spec }) => (spec.labels?.bad === undefined ? [] : [forbidden('spec.labels.bad', 'is not wanted')]),
}

const small = reviewOfSpec('{"labels":{"a":"b"},"items":[{"name":"a"},{"name":"b","weight":3}]}', 'small')

function send({ port, ca }: Task, agent: Agent, text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        ca,
        servername: 'localhost',
        agent,
        method: 'POST',
        path: '/mutate-hostile-example-com-v1-target?timeout=10s',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      },
      (response) => {
        let begin = ''
        response.on('data', (chunk: Buffer) => (begin += begin.length < 1000 ? chunk.toString() : ''))
        response.on('end', () =>
          resolve(`${response.statusCode} ${/"allowed":\w+/.exec(begin)?.[0]} ${/"code":\d+/.exec(begin)?.[0] ?? ''}`),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

async function load(task: Task): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const body = task.hostile === undefined ? small : Buffer.from(hostileReviews[task.hostile]!.text())
  const end = performance.now() + task.seconds * 1000
  const times: number[] = []
  let last = ''
  if (task.hostile !== undefined) {
    for (let rest = true; rest; rest = performance.now() < end) {
      const from = performance.now()
      last = await send(task, agent, body).catch((error: Error) => error.message)
      times.push(performance.now() - from)
    }
  } else {
    const open: Promise<unknown>[] = []
    for (let due = performance.now(); due < end; due += 1000 / task.rate) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      // From when it was due: a server that stands still must not be spared the requests that would have come.
      open.push(send(task, agent, body).then((text) => void (times.push(performance.now() - due), (last = text))))
    }
    await Promise.all(open)
  }
  agent.destroy()
  return { times, last }
}

async function run(task: Task): Promise<Result> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  const [result] = (await once(worker, 'message')) as [Result]
  return result
}

function quantile(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rate: { type: 'string', default: '100' }, seconds: { type: 'string', default: '5' }, only: { type: 'string' } },
  })
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: ['127.0.0.1'], now })
  const certificate = servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  for (const own of [false, true]) {
    const server = createWebhookServer({
      webhooks: [defineWebhook(target, own ? ownHandlers : {})],
      client: {} as Client,
      certificates: { current: () => certificate, onChange: () => () => undefined, start: () => Promise.resolve() },
      host: '127.0.0.1',
      port: 0,
      logger: silentLogger(),
      metrics: new Metrics(),
    })
    const { port } = await server.start()
    const common = { port, ca: authority.cert, rate: Number(values.rate), seconds: Number(values.seconds) }
    await run({ ...common, hostile: undefined, seconds: 2 })
    const rows: string[][] = []
    for (const [index, { name }] of [{ name: 'nothing else' }, ...hostileReviews].entries()) {
      if (values.only !== undefined && !name.includes(values.only)) continue
      const turns = new Turns()
      const [others, hostile] = await Promise.all([
        run({ ...common, hostile: undefined }),
        index === 0 ? undefined : run({ ...common, hostile: index - 1 }),
      ])
      rows.push([
        name,
        quantile(others.times, 0.5),
        quantile(others.times, 0.99),
        quantile(others.times, 1),
        turns.stop().toFixed(1),
        hostile === undefined ? '' : `${hostile.times.length} × ${quantile(hostile.times, 0.5)} ms`,
        hostile?.last ?? '',
      ])
    }
    const title = own ? 'A kind with handlers of its own' : 'A kind with its schema alone'
    const head = ['while this arrives', 'p50 ms', 'p99 ms', 'max ms', 'longest turn: CPU ms', 'hostile', 'answer']
    process.stdout.write(`\n### ${title}\n\n${table(head, rows)}`)
    await server.stop(1000)
  }
}

if (isMainThread) await main()
else parentPort!.postMessage(await load(workerData as Task))
