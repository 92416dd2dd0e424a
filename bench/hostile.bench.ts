/**
 * Attacks a webhook server, and reports whether the attacks end the process or delay other clients. During each attack, the benchmark sends
 * small AdmissionReviews at a fixed rate, and requests the readiness probe. The results are the latencies of the reviews and of the probe,
 * and the memory of the server.
 *
 * The server is a separate process with the heap limit (`--max-old-space-size`) of the container in `config/`. The result `beyond the
 * limit` means that the peak resident memory exceeds the memory limit of the container. The kernel would then kill the container.
 *
 * `npm run bench -- hostile [--rate 100] [--seconds 5] [--only pattern]`
 */
import { once } from 'node:events'
import { Agent } from 'node:https'
import { constants, setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { shippedLimitBytes } from '../test/support/hostile/shipped-limit.ts'
import type { AttackedServer } from '../test/support/hostile/attacked-server.ts'
import { startAttackedServer } from '../test/support/hostile/attacked-server.ts'
import type { Target } from '../test/support/hostile/attacks.ts'
import { attacks, send, sendSmall } from '../test/support/hostile/attacks.ts'
import { hostileReviews } from '../test/support/hostile/reviews.ts'
import { table } from './table.ts'

/** The task of one thread. The thread either attacks the server, or sends small reviews at a fixed rate. */
interface Task extends Target {
  /** The index of the attack in `rows`. Undefined for the thread that sends small reviews. */
  readonly row: number | undefined
  readonly rate: number
  readonly seconds: number
}

interface Result {
  readonly times: readonly number[]
  /** A summary of the responses that the thread received. */
  readonly outcome: string
}

const path = '/mutate-hostile-example-com-v1-target?timeout=10s'

/**
 * The rows of the result: one row without an attack, one row for each attack in `attacks`, and one row for each hostile review. In the row
 * of a hostile review, the attacking thread sends this review again and again on one connection.
 */
const rows: readonly { readonly name: string; readonly run: (target: Target, signal: AbortSignal) => Promise<string> }[] = [
  { name: 'nothing else', run: () => Promise.resolve('') },
  ...attacks,
  ...hostileReviews.map(({ name, text }) => ({
    name,
    async run(target: Target, signal: AbortSignal): Promise<string> {
      const agent = new Agent({ keepAlive: true })
      const body = Buffer.from(text())
      let answer = ''
      let count = 0
      for (; !signal.aborted; count += 1) answer = await send(target, agent, path, body)
      agent.destroy()
      return `${count} × ${answer}`
    },
  })),
]

async function attack({ row, seconds, ...target }: Task): Promise<Result> {
  // A real attacker would run on another machine, and would take no CPU time from the server or the measurement. Therefore, the attacking
  // thread gets the lowest priority.
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)
  return { times: [], outcome: await rows[row!]!.run(target, AbortSignal.timeout(seconds * 1000)) }
}

async function sendOthers({ rate, seconds, ...target }: Task): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const end = performance.now() + seconds * 1000
  const times: number[] = []
  const outcomes = new Map<string, number>()
  const open: Promise<unknown>[] = []
  for (let due = performance.now(); due < end; due += 1000 / rate) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    const answered = (outcome: string): void => {
      // The latency starts when the request is due. If the server is blocked, all connections can be busy, and the request is sent later.
      // The latency includes this delay.
      times.push(performance.now() - due)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    open.push(sendSmall(target, agent).then(answered))
  }
  await Promise.all(open)
  agent.destroy()
  const failed = [...outcomes].filter(([outcome]) => outcome !== '200 "allowed":true')
  return { times, outcome: failed.map(([outcome, count]) => `${count} × ${outcome}`).join(', ') }
}

async function inThread(task: Task): Promise<Result> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  const [result] = (await once(worker, 'message')) as [Result]
  return result
}

function quantile(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
}

/**
 * Requests the readiness probe every 250 ms, until the signal aborts or the server ends. Returns the status and latency of the first
 * response that is not 200. If all responses are 200, returns the status and latency of the slowest response.
 */
async function probing(server: AttackedServer, signal: AbortSignal): Promise<string> {
  let worst = { status: 200 as number | string, ms: 0 }
  while (!signal.aborted && server.ended() === undefined) {
    const seen = await server.ready()
    if (worst.status === 200 && (seen.status !== 200 || seen.ms > worst.ms)) worst = seen
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return `${worst.status} in ${worst.ms.toFixed(0)}`
}

async function measured(server: AttackedServer, common: Omit<Task, 'row'>, row: number): Promise<string[]> {
  const before = server.resident().now
  server.forgetPeak()
  await server.state()
  const over = new AbortController()
  const probes = probing(server, over.signal)
  const [others, hostile] = await Promise.all([inThread({ ...common, row: undefined }), inThread({ ...common, row })])
  over.abort()
  const slowest = await probes
  const turn = server.ended() === undefined ? (await server.state()).longestTurn.toFixed(0) : ''
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const { now, peak } = server.resident()
  const lives = server.ended() ?? (peak * 1e6 > shippedLimitBytes ? 'beyond the limit' : 'yes')
  const times = [0.5, 0.99, 1].map((share) => quantile(others.times, share))
  const memory = [before, peak, now].map((mb) => mb.toFixed(0)).join(' – ')
  return [rows[row]!.name, lives, ...times, turn, others.outcome, slowest, memory, hostile.outcome]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rate: { type: 'string', default: '100' }, seconds: { type: 'string', default: '5' }, only: { type: 'string' } },
  })
  const lines: string[][] = []
  let server: AttackedServer | undefined
  for (const [row, { name }] of rows.entries()) {
    if (values.only !== undefined && !name.includes(values.only)) continue
    if (server === undefined || server.ended() !== undefined) {
      server = await startAttackedServer()
      await inThread({ port: server.port, ca: server.ca, rate: Number(values.rate), seconds: 2, row: undefined })
    }
    const common = { port: server.port, ca: server.ca, rate: Number(values.rate), seconds: Number(values.seconds) }
    lines.push(await measured(server, common, row))
    process.stderr.write(`${lines.at(-1)!.join(' | ')}\n`)
  }
  await server?.stop()
  const head = [
    'while this arrives',
    'lives',
    'p50 ms',
    'p99 ms',
    'max ms',
    'longest turn: CPU ms',
    'failed',
    'readyz ms',
    'RSS MB before – peak – after',
    'outcome',
  ]
  process.stdout.write(`\n### Under a memory limit of ${shippedLimitBytes / 2 ** 20}Mi\n\n${table(head, lines)}`)
}

if (isMainThread) await main()
else {
  const task = workerData as Task
  parentPort!.postMessage(await (task.row === undefined ? sendOthers(task) : attack(task)))
}
