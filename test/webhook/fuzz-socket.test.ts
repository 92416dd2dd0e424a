/**
 * Tests with hostile bytes on raw sockets. Each connection must get an HTTP response or be closed, while other clients are served. `SEED=…`
 * selects other bytes, and `CONNECTIONS=…` the number of connections.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import t from 'tap'
import type { Client } from '../../src/client/client.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { createWebhookServer } from '../../src/webhook/server.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { Dice } from '../support/dice.ts'
import { changeableSource } from '../support/webhook/fixture.ts'
import { gadget, gadgetHandlers } from '../support/webhook/gadget.ts'
import { reviewText } from '../support/webhook/reviews.ts'
import type { SocketCase } from '../support/webhook/socket-cases.ts'
import { socketCase } from '../support/webhook/socket-cases.ts'
import { seed } from '../support/seed.ts'

/** The number of connections. It is higher in CI, where a longer run is acceptable. */
const connections = Number(process.env.CONNECTIONS || (process.env.CI === undefined ? 1_000 : 3_000))
const concurrency = 16
/**
 * The maximum duration of a connection with hostile bytes, in milliseconds. The server must also answer a valid AdmissionReview of another
 * client within this time.
 */
const maxMs = 8_000
const shown = 5
const path = '/validate-fuzz-example-com-v1-gadget'

t.setTimeout(300_000)

const { logger, lines } = recordingLogger('error')
const server = createWebhookServer({
  webhooks: [defineWebhook(gadget, gadgetHandlers)],
  client: {} as Client,
  certificates: await changeableSource(),
  logger,
  metrics: new Metrics(),
  host: '127.0.0.1',
  port: 0,
})
const { port } = await server.start()
t.teardown(() => server.stop(0))

/**
 * Sends the bytes of a case on a new connection. Returns all bytes that were received before the connection was closed; undefined if the
 * connection stays open.
 */
async function play({ parts, plain, gone }: SocketCase): Promise<string | undefined> {
  const socket: Socket = plain
    ? connectPlain({ port, host: '127.0.0.1' })
    : connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  const chunks: Buffer[] = []
  // The server is allowed to reset the connection, so this error is ignored.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const within = AbortSignal.timeout(maxMs)
  const late = once(within, 'abort').then(() => 'late' as const)
  await Promise.race([closed, late, new Promise<void>((resolve) => socket.once(plain ? 'connect' : 'secureConnect', () => resolve()))])
  for (const part of parts) {
    if (socket.destroyed || !socket.writable) break
    socket.write(part)
    if (parts.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  if (gone) socket.destroy()
  else socket.end()
  const outcome = await Promise.race([closed, late])
  socket.destroy()
  return outcome === 'late' ? undefined : Buffer.concat(chunks).toString('latin1')
}

/** Returns a description of the first problem of the server's response; undefined if there is none. */
function problemOf({ requests, plain }: SocketCase, answer: string | undefined): string | undefined {
  if (answer === undefined) return 'the connection stayed'
  if (plain || answer === '') return undefined
  if (!answer.startsWith('HTTP/1.1 ')) return 'the answer is no HTTP'
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/g)].map(([, status]) => Number(status))
  const wrong = statuses.find((status) => status !== 200 && status !== 100 && status !== 505 && (status < 400 || status >= 500))
  if (wrong !== undefined) return `the status is ${wrong}`
  const answers = statuses.filter((status) => status !== 100).length
  return answers > requests ? `${answers} answers to ${requests} requests` : undefined
}

/** Sends a valid review. Returns the status of the response, and the milliseconds until it was complete. */
async function sendValid(agent: Agent, body: string): Promise<{ status: number; ms: number }> {
  const since = performance.now()
  const sent = request({ port, host: '127.0.0.1', agent, path, method: 'POST', headers: { 'content-type': 'application/json' } })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  answer.resume()
  await once(answer, 'end')
  return { status: answer.statusCode, ms: performance.now() - since }
}

t.test('hostile bytes on the socket neither keep connections open nor block other clients', async (t) => {
  const body = reviewText(new Dice(1), 'uid', 0)
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const problems: string[] = []
  const counts: Record<string, number> = {}
  let done = false
  let slowest = 0
  let served = 0
  const others = async (): Promise<void> => {
    while (!done) {
      const { status, ms } = await sendValid(agent, body)
      if (status !== 200) problems.push(`a valid review got ${status}`)
      served += 1
      slowest = Math.max(slowest, ms)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < connections && problems.length < shown; index = next++) {
      const one = socketCase(new Dice(seed + index * 7919), { path, body })
      const answer = await play(one)
      const outcome = answer === undefined ? 'stayed' : (/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'closed')
      counts[outcome] = (counts[outcome] ?? 0) + 1
      const problem = problemOf(one, answer)
      if (problem !== undefined) {
        const bytes = Buffer.concat(one.parts).toString('latin1').slice(0, 500)
        problems.push(`${index} ${one.name}: ${problem}: ${JSON.stringify(bytes)} => ${JSON.stringify(answer?.slice(0, 500))}`)
      }
    }
  }
  const since = Date.now()
  const watch = others()
  await Promise.all(Array.from({ length: concurrency }, worker))
  done = true
  await watch
  t.comment(
    `SEED=${seed} CONNECTIONS=${connections}: ${JSON.stringify(counts)}, ${served} others, slowest ${Math.round(slowest)} ms, ${Date.now() - since} ms in all`,
  )
  for (const problem of problems) t.fail(problem)
  t.ok(slowest < maxMs, 'other clients are served during the run')
  t.equal((await sendValid(agent, body)).status, 200, 'and afterwards')
  agent.destroy()
  // The handlers of Gadgets fail on purpose. The log must not contain any other error.
  t.strictSame(
    lines.filter((line) => !line.includes('the webhook for Gadget')),
    [],
    'no unexpected errors are logged',
  )
})
