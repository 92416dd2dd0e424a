/**
 * Attacks on the port of the webhook server. Every client that reaches the port can carry out all attacks, because the server requires no
 * client certificate. Attacks with hostile objects do not even require access to the port: if a user creates a hostile object, the API
 * server sends the AdmissionReview.
 */
import { Agent, request } from 'node:https'
import type { Socket } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { mypod } from '../../../src/operators/mypod/kind.ts'
import { hostileConversions } from './conversions.ts'
import { hostileReviews, reviewOfSpec, rulesReview } from './reviews.ts'

export interface Target {
  readonly port: number
  readonly ca: string
}

export interface Attack {
  readonly name: string
  /**
   * The limit for an iteration of the event loop, in milliseconds of processor time. It is a multiple of the longest iteration on an idle
   * machine.
   */
  readonly longestTurn?: number
  /** Attacks until the signal aborts. Resolves with a summary that the test prints. */
  readonly run: (target: Target, signal: AbortSignal) => Promise<string>
}

const hostilePath = '/mutate-hostile-example-com-v1-target?timeout=10s'
const mypodVersion = mypod.version
const mypodPath = `/validate-${mypod.group.replaceAll('.', '-')}-${mypodVersion}-mypod?timeout=10s`
const headersOf = (path: string, more: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

const small = reviewOfSpec('{"labels":{"a":"b"},"items":[{"name":"a"},{"name":"b","weight":3}]}', 'small')

export const attacks: readonly Attack[] = [
  {
    name: 'a body in chunks of one byte',
    async run(target, signal) {
      const chunks = Buffer.from('1\r\n \r\n'.repeat(10_000))
      let sent = 0
      await whileRunning(signal, async () => {
        const socket = await tls(target)
        socket.write(headersOf(hostilePath, 'Transfer-Encoding: chunked'))
        while (!signal.aborted && !socket.destroyed) {
          sent += chunks.length / 6
          if (!socket.write(chunks)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended(socket, signal)])
        }
        socket.destroy()
      })
      return `${sent} chunks`
    },
  },
  { name: '200 announced bodies of 7 MB that do not come', run: (target, signal) => announce(target, signal, 200) },
  {
    name: '700 requests whose bodies do not come to their end',
    run: (target, signal) =>
      holdOpen(target, signal, 700, async (one) => {
        const socket = await tls(one)
        socket.write(`${headersOf(hostilePath, 'Content-Length: 1000')} `)
        return socket
      }),
  },
  {
    name: '20,000 reviews in a row on one connection',
    async run(target, signal) {
      const text = headersOf(hostilePath, `Content-Length: ${small.length}`) + small
      const row = Buffer.from(text.repeat(20_000))
      let rows = 0
      await whileRunning(signal, async () => {
        const socket = await tls(target)
        socket.write(row)
        await ended(socket, signal)
        socket.destroy()
        rows += 1
      })
      return `${rows} rows`
    },
  },
  {
    name: '2,000 idle TLS connections',
    run: (target, signal) => holdOpen(target, signal, 2000, (one) => tls(one)),
  },
  {
    name: '2,000 TCP connections without a handshake',
    run: (target, signal) => holdOpen(target, signal, 2000, async ({ port }) => quiet(connectTcp({ port, host: '127.0.0.1' }))),
  },
  {
    name: 'twelve bodies of 6.6 MB at a time',
    run: (target, signal) => sendAtATime(target, signal, 12, hostilePath, textOf('400,000 keys')),
  },
  {
    name: 'twelve of 300,000 integers beyond 2^53 at a time',
    run: (target, signal) => sendAtATime(target, signal, 12, hostilePath, textOf('300,000 integers beyond 2^53')),
  },
  {
    name: 'an object of 2.9 MB with one such integer',
    run: (target, signal) =>
      sendAtATime(
        target,
        signal,
        1,
        hostilePath,
        reviewOfSpec(`{"open":[9007199254740993${',1'.repeat(490_000)}],"evil":"${'a'.repeat(1.9e6)}"}`),
      ),
  },
  { name: 'MyPods with 12,000 bad labels', run: (target, signal) => sendAtATime(target, signal, 1, mypodPath, badLabels(12_000)) },
  { name: 'MyPods with 60,000 bad labels', run: (target, signal) => sendAtATime(target, signal, 1, mypodPath, badLabels(60_000)) },
  {
    name: 'rules of 1.4 MB that differ in their last fields alone',
    run: (target, signal) => sendAtATime(target, signal, 1, hostilePath, rulesReview(1_400_000)),
  },
  { name: 'such rules of 5 MB', run: (target, signal) => sendAtATime(target, signal, 1, hostilePath, rulesReview(5_000_000)) },
  {
    name: 'twenty large answers that are not fetched',
    async run(target, signal) {
      const body = Buffer.from(textOf('a map of 90,000 items'))
      const sockets = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const socket = await tls(target)
          socket.pause()
          socket.write(headersOf(hostilePath, `Content-Length: ${body.length}`))
          socket.write(body)
          return socket
        }),
      )
      await aborted(signal)
      const left = sockets.filter(({ destroyed }) => !destroyed).length
      for (const socket of sockets) socket.destroy()
      return `${left} of 20 connections left`
    },
  },
  {
    name: '600 bodies of 120 KB that stop before their end',
    async run(target, signal) {
      const begin = Buffer.concat([Buffer.from(headersOf(hostilePath, 'Content-Length: 120001')), Buffer.alloc(120_000, ' ')])
      const sockets = new Set<Socket>()
      let opened = 0
      await whileRunning(signal, async () => {
        const socket = await tls(target)
        opened += 1
        socket.write(begin)
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
        if (sockets.size >= 600) await pause(50)
      })
      for (const socket of sockets) socket.destroy()
      return `${opened} sent`
    },
  },
  ...hostileConversions.map(({ name, text, atATime }) => ({
    name,
    longestTurn: 300,
    run: (target: Target, signal: AbortSignal) => sendAtATime(target, signal, atATime, '/convert?timeout=10s', text()),
  })),
]

function textOf(name: string): string {
  return hostileReviews.find((review) => review.name === name)!.text()
}

function badLabels(count: number): string {
  const kind = { group: mypod.group, version: mypodVersion, kind: mypod.kind }
  const podLabels = Object.fromEntries(Array.from({ length: count }, (_, index) => [`-${index}`, '-']))
  const object = {
    apiVersion: `${mypod.group}/${mypodVersion}`,
    kind: mypod.kind,
    metadata: { name: 'a', namespace: 'test' },
    spec: { podLabels, podSpec: { containers: [{ name: 'a', image: 'a' }] } },
  }
  const request = { uid: 'labels', kind, resource: { group: mypod.group, version: mypodVersion, resource: mypod.plural } }
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { ...request, operation: 'CREATE', name: 'a', namespace: 'test', userInfo: { username: 'eve' }, object, oldObject: null },
  })
}

async function announce(target: Target, signal: AbortSignal, count: number): Promise<string> {
  return holdOpen(target, signal, count, async (one) => {
    const socket = await tls(one)
    socket.write(headersOf(hostilePath, `Content-Length: ${7 * 1024 * 1024}`))
    return socket
  })
}

/** Keeps `count` connections open. If the server closes a connection, opens a new connection. */
async function holdOpen(target: Target, signal: AbortSignal, count: number, open: (target: Target) => Promise<Socket>): Promise<string> {
  const sockets = new Set<Socket>()
  let opened = 0
  await Promise.all(
    Array.from({ length: 20 }, () =>
      whileRunning(signal, async () => {
        if (sockets.size >= count) return pause(20)
        const socket = await open(target)
        opened += 1
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      }),
    ),
  )
  const left = sockets.size
  for (const socket of sockets) socket.destroy()
  return `${opened} opened, ${left} left`
}

async function sendAtATime(target: Target, signal: AbortSignal, count: number, path: string, text: string): Promise<string> {
  const body = Buffer.from(text)
  const agent = new Agent({ keepAlive: true })
  const answers = new Map<string, number>()
  await Promise.all(
    Array.from({ length: count }, () =>
      whileRunning(signal, async () => {
        const answer = await send(target, agent, path, body)
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }),
    ),
  )
  agent.destroy()
  return [...answers].map(([answer, times]) => `${times} × ${answer}`).join(', ')
}

/**
 * Sends an AdmissionReview. Resolves with a text: the HTTP status, followed by the fields `allowed` and `code` of the response. If the body
 * of the response is not a JSON object, the text contains the beginning of the body instead of the fields. If the request fails, the text
 * is the error message.
 */
export function send({ port, ca }: Target, agent: Agent | false, path: string, body: Buffer | string): Promise<string> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, ca, servername: 'localhost', agent, method: 'POST', path }
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request({ ...options, headers }, (response) => {
      let begin = ''
      response.on('data', (chunk: Buffer) => (begin += begin.length < 1000 ? chunk.toString() : ''))
      response.on('error', (error) => resolve(error.message))
      response.on('end', () =>
        resolve(
          begin.startsWith('{')
            ? `${response.statusCode} ${/"allowed":\w+/.exec(begin)?.[0]} ${/"code":\d+/.exec(begin)?.[0] ?? ''}`.trim()
            : `${response.statusCode} ${begin.trim().slice(0, 200)}`,
        ),
      )
    })
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.end(body)
  })
}

export function sendSmall(target: Target, agent: Agent | false): Promise<string> {
  return send(target, agent, hostilePath, small)
}

async function tls({ port, ca }: Target): Promise<Socket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' })
  socket.setMaxListeners(0)
  socket.on('error', () => undefined)
  socket.resume()
  await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve))
  return socket
}

function quiet(socket: Socket): Socket {
  return socket.on('error', () => undefined)
}

function ended(socket: Socket, signal: AbortSignal): Promise<unknown> {
  const closed = socket.destroyed ? undefined : new Promise((resolve) => socket.once('close', resolve))
  return Promise.race([closed, aborted(signal)])
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

async function whileRunning(signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await step()
    await new Promise(setImmediate)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
