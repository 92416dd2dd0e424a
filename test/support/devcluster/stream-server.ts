/**
 * `startStreamServer`: starts an API server for tests of streams. The API server has several Pods. The processes of their containers are
 * child processes of the test. The result has methods with which a test upgrades HTTP connections to the API server.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import WebSocket from 'ws'
import type { JsonObject } from '../../../src/api/json.ts'
import { notFound } from '../../../src/devcluster/apimachinery/status-error.ts'
import type { Status } from '../../../src/api/status.ts'
import type { TestServer } from './http-server.ts'
import { admin, startTestServer } from './http-server.ts'
import { ProcessContainers } from './process-containers.ts'
import { SpdyClient } from './spdy-client.ts'

const metadata = { namespace: 'default', uid: 'a-uid' }
const pods: Readonly<Record<string, JsonObject>> = {
  p: { metadata: { ...metadata, name: 'p' }, spec: { nodeName: 'one', containers: [{ name: 'main' }] } },
  several: {
    metadata: { ...metadata, name: 'several' },
    spec: {
      nodeName: 'one',
      initContainers: [{ name: 'init' }],
      containers: [{ name: 'a' }, { name: 'b', tty: true }],
      ephemeralContainers: [{ name: 'debugger' }],
    },
  },
  empty: { metadata: { ...metadata, name: 'empty' }, spec: { nodeName: 'one' } },
  unscheduled: { metadata: { ...metadata, name: 'unscheduled' }, spec: { containers: [{ name: 'main' }] } },
}

export interface StreamServer extends TestServer {
  readonly containers: ProcessContainers
  /** Requests an upgrade. Resolves with the connection, or with the response to a refused upgrade. */
  upgrade(path: string, headers: Readonly<Record<string, string>>, options?: UpgradeOptions): Promise<Upgraded | Refused>
  /** Opens a WebSocket to a path below `/api/v1/namespaces/default/pods/`. */
  webSocket(path: string, subprotocols?: readonly string[], token?: string): Promise<ChannelClient>
  /** Upgrades a connection to SPDY. */
  spdy(path: string, version: string): Promise<SpdyClient>
}

export interface UpgradeOptions {
  readonly method?: string
  readonly token?: string
}

export interface Upgraded {
  readonly socket: Duplex
  readonly headers: IncomingMessage['headers']
}

export interface Refused {
  readonly code: number
  readonly headers: IncomingMessage['headers']
  readonly status: Status
}

const below = '/api/v1/namespaces/default/pods/'

export async function startStreamServer(t: Test, options: Parameters<typeof startTestServer>[1] = {}): Promise<StreamServer> {
  const containers = new ProcessContainers()
  const get = (info: Parameters<typeof notFound>[0], { name }: { name: string }): JsonObject => {
    const pod = pods[name]
    if (pod === undefined) throw notFound(info, name)
    return pod
  }
  const server = await startTestServer(t, { registry: { get }, containers, ...options })
  t.teardown(() => containers.close())
  const upgrade = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    { method = 'POST', token = admin }: UpgradeOptions = {},
  ): Promise<Upgraded | Refused> => {
    const sent = request(`${server.server.url}${below}${path}`, {
      ca: server.ca,
      method,
      headers: { connection: 'Upgrade', authorization: `Bearer ${token}`, ...headers },
    })
    const upgraded = once(sent, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    for (const either of [upgraded, answered]) either.catch(() => undefined)
    sent.end()
    const [response, socket, head] = await Promise.race<[IncomingMessage, Duplex?, Buffer?]>([upgraded, answered])
    if (socket === undefined) {
      const body = await text(response)
      return { code: response.statusCode ?? 0, headers: response.headers, status: JSON.parse(body) as Status }
    }
    if (head !== undefined && head.length > 0) socket.unshift(head)
    t.teardown(() => socket.destroy())
    return { socket, headers: response.headers }
  }
  return {
    ...server,
    containers,
    upgrade,
    async webSocket(path, subprotocols = ['v4.channel.k8s.io'], token = admin) {
      const socket = new WebSocket(`${server.server.url.replace('https', 'wss')}${below}${path}`, [...subprotocols], {
        ca: server.ca,
        headers: { authorization: `Bearer ${token}` },
      })
      t.teardown(() => socket.terminate())
      const client = new ChannelClient(socket)
      await once(socket, 'open')
      return client
    },
    async spdy(path, version) {
      const upgraded = await upgrade(path, { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': version })
      if (!('socket' in upgraded)) throw new Error(`the upgrade was refused: ${upgraded.status.message}`)
      const client = new SpdyClient(upgraded.socket)
      void client.read()
      return client
    },
  }
}

/** A WebSocket client. The first byte of each message is the number of a channel. */
export class ChannelClient {
  readonly socket: WebSocket
  /** The text that the server has sent on each channel. */
  readonly received = new Map<number, string>()
  /** All messages, as they were sent. */
  readonly messages: string[] = []
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1')
      this.messages.push(text)
      const channel = data[0] ?? 0
      this.received.set(channel, (this.received.get(channel) ?? '') + text.slice(1))
    })
  }

  send(channel: number, text: string): void {
    this.socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]))
  }
}
