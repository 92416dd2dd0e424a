/**
 * Measures the time from the creation of a Pod until its first HTTP response, in `proreus dev --pods=process`. The Pod has two containers
 * with one process each. For comparison, the benchmark also starts these two processes directly, without a Pod, and measures the time until
 * the first HTTP response.
 *
 * One process writes a file. The other process is an HTTP server that responds with the content of the file. In the Pod, both containers
 * mount the volume with the file, and the request goes through a port-forward of the API server.
 *
 * `npm run bench -- pods [--rounds 11]`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pod as podType } from '../src/api/builtin.ts'
import type { Client } from '../src/client/client.ts'
import type { Connection } from '../src/client/connection.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { timedOut, within } from '../src/runtime/waiting.ts'
import { DevProcess } from '../test/support/pods/dev-process.ts'
import { requestByPortForward } from '../test/support/pods/port-forward.ts'
import { untilGone } from '../test/support/devcluster/client.ts'
import { median, table } from './table.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '11' } } })
const rounds = Number(values.rounds)

/** The pause in milliseconds between a request without the expected response and the next request. */
const pollMs = 5
/** The longest time in milliseconds to wait for the first response. */
const limitMs = 60_000
const port = 8080

/** A shell script that writes the file `answer`, and then waits. The first argument is the folder of the file. */
const writer = 'echo "the first answer" >"$0/answer" && exec sleep 1000'
/**
 * A Node.js program that serves the file `answer` from the folder in the first argument. It listens on the port in the second argument, or
 * on any free port if this argument is 0. It prints the number of the port.
 */
const server = `const { readFileSync } = require('node:fs')
const { createServer } = require('node:http')
const [folder, port] = process.argv.slice(1)
const server = createServer((request, response) => {
  try {
    response.end(readFileSync(folder + '/answer'))
  } catch {
    response.writeHead(503).end()
  }
})
server.listen(Number(port), () => console.log(server.address().port))`

const commandsFor = (folder: string, at: number): readonly string[][] => [
  ['sh', '-c', writer, folder],
  [process.execPath, '-e', server, folder, String(at)],
]

const folder = mkdtempSync(join(tmpdir(), 'proreus-pods-bench-'))
const dev = new DevProcess(folder)
try {
  const { client, connection } = await dev.ready()
  const results = { direct: [] as number[], pod: [] as number[] }
  // Round 0 fills the file cache of the kernel. Its results are discarded.
  for (let round = 0; round <= rounds; round += 1) {
    const times = { direct: await direct(), pod: await inPod(client, connection, `bench-${round}`) }
    if (round === 0) continue
    results.direct.push(times.direct)
    results.pod.push(times.pod)
  }
  const cells = (times: readonly number[]): string[] => [median(times), Math.min(...times), Math.max(...times)].map((ms) => ms.toFixed(0))
  const mode = /"mode":"(\w+)"/.exec(dev.output)?.[1]
  process.stdout.write(
    table(
      ['two processes, until the first HTTP answer', 'median ms', 'min', 'max'],
      [
        ['started directly', ...cells(results.direct)],
        [`a Pod (mode ${mode})`, ...cells(results.pod)],
      ],
    ),
  )
  await client.close()
} finally {
  await dev.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Starts the two processes without a Pod, and resolves with the time in milliseconds until the first response. */
async function direct(): Promise<number> {
  const shared = mkdtempSync(join(folder, 'shared-'))
  const startedAt = performance.now()
  const children = commandsFor(shared, 0).map(([program = '', ...args]) => spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] }))
  try {
    const [at] = (await once(children[1]!.stdout, 'data')) as [Buffer]
    await firstAnswer(startedAt, async () => (await fetch(`http://127.0.0.1:${at.toString().trim()}/`)).text())
    return performance.now() - startedAt
  } finally {
    for (const child of children) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  }
}

/** Creates the Pod, waits for the first response, and deletes the Pod. Resolves to the milliseconds from the creation to the response. */
async function inPod(client: Client, connection: Connection, name: string): Promise<number> {
  const key = { namespace: 'default', name }
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
  const [first, second] = commandsFor('/shared', port)
  const startedAt = performance.now()
  await client.create(podType, {
    metadata: key,
    spec: {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'shared', emptyDir: {} }],
      containers: [
        { name: 'writer', image: 'example.com/writer', command: first!, volumeMounts },
        { name: 'server', image: 'example.com/server', command: second!, volumeMounts },
      ],
    },
  })
  await firstAnswer(startedAt, () => requestByPortForward(connection, key, port))
  const ms = performance.now() - startedAt
  await client.delete(podType, key)
  await untilGone(client, podType, key)
  return ms
}

/**
 * Sends requests until a response has the content of the file. Rejects when `limitMs` milliseconds have passed since `startedAt`, even if a
 * request has no response yet.
 */
async function firstAnswer(startedAt: number, request: () => Promise<string>): Promise<void> {
  for (;;) {
    const leftMs = startedAt + limitMs - performance.now()
    const answer = await within(systemClock, leftMs, request().catch(String), { keepAlive: true })
    if (answer === timedOut) throw new Error(`a request has no answer ${limitMs} ms after the start of the processes`)
    if (answer.includes('the first answer')) return
    if (performance.now() - startedAt > limitMs) throw new Error(answer)
    await delay(pollMs)
  }
}
