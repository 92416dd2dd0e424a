/** `DnsServer`: serves DNS over UDP and TCP at one address. */
import type { Socket as UdpSocket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { dnsPort } from '../addresses.ts'
import type { DnsAnswer } from './answer.ts'
import type { DnsQuery } from './message.ts'
import { decodeQuery, encodeTcp, encodeUdp, maxQueryBytes } from './message.ts'

/** The maximum number of UDP queries that are answered at the same time. Further queries are dropped, and their clients repeat them. */
const maxPending = 1024
/** The maximum number of open TCP connections. Further connections are closed. */
const maxConnections = 256
/** Time in milliseconds after which a TCP connection without traffic is closed. */
const idleTimeoutMs = 10_000

/** The size in bytes of the length field that precedes each message over TCP (RFC 1035, section 4.2.2). */
const lengthBytes = 2

type Answerer = (query: DnsQuery) => Promise<DnsAnswer>

export class DnsServer {
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #answer: Answerer
  #pending = 0

  private constructor(answer: Answerer) {
    this.#answer = answer
    this.#udp = createSocket('udp4')
    this.#udp.on('message', (message, { port, address }) => {
      // A hostile client can send from port 0. If a response is sent to port 0, Node.js throws an error.
      if (port !== 0) void this.#respondByDatagram(message, (response) => this.#udp.send(response, port, address, () => undefined))
    })
    this.#tcp = createServer({ allowHalfOpen: true }, (socket) => void this.#serve(socket))
    this.#tcp.maxConnections = maxConnections
  }

  /** Resolves when the server listens. Rejects when the address or the port cannot be used. */
  static async listen(address: string, answer: Answerer): Promise<DnsServer> {
    const server = new DnsServer(answer)
    server.#udp.bind(dnsPort, address)
    server.#tcp.listen({ port: dnsPort, host: address })
    await Promise.all([once(server.#udp, 'listening'), once(server.#tcp, 'listening')])
    // The sockets stay open after an error, because such an error concerns only one message or one connection. Without a listener, Node.js
    // would throw the error.
    server.#udp.on('error', () => undefined)
    server.#tcp.on('error', () => undefined)
    return server
  }

  async #respondByDatagram(message: Buffer, send: (response: Buffer) => void): Promise<void> {
    if (this.#pending >= maxPending) return
    this.#pending += 1
    try {
      const response = await respond(message, this.#answer, encodeUdp)
      if (response !== undefined) send(response)
    } finally {
      this.#pending -= 1
    }
  }

  /**
   * Responds to the queries of a connection one after the other. While a client does not read its responses, no further queries are read.
   */
  async #serve(socket: Socket): Promise<void> {
    socket.on('error', () => undefined)
    socket.setTimeout(idleTimeoutMs, () => socket.destroy())
    try {
      let received = Buffer.alloc(0)
      for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        received = Buffer.concat([received, chunk])
        while (received.length >= lengthBytes) {
          const end = lengthBytes + received.readUInt16BE(0)
          if (end > lengthBytes + maxQueryBytes) return
          if (received.length < end) break
          const response = await respond(received.subarray(lengthBytes, end), this.#answer, encodeTcp)
          received = received.subarray(end)
          if (response === undefined) return
          const length = Buffer.alloc(lengthBytes)
          length.writeUInt16BE(response.length)
          if (!socket.write(Buffer.concat([length, response]))) await once(socket, 'drain', { signal: closed(socket) })
        }
      }
    } catch {
      // An error means that the client has closed the connection, or has been idle for too long.
    } finally {
      socket.destroySoon()
    }
  }
}

/** Resolves with the response to a message. Resolves with undefined when the message is not a query. Never rejects. */
async function respond(
  message: Buffer,
  answer: Answerer,
  encode: (query: DnsQuery, answer: DnsAnswer) => Buffer,
): Promise<Buffer | undefined> {
  const query = decodeQuery(message)
  if (query === undefined || Buffer.isBuffer(query)) return query
  try {
    return encode(query, await answer(query))
  } catch {
    return encode(query, { code: 'SERVFAIL', records: [] })
  }
}

/** Returns a signal that aborts when the socket is closed. */
function closed(socket: Socket): AbortSignal {
  const controller = new AbortController()
  socket.once('close', () => controller.abort())
  if (socket.destroyed) controller.abort()
  return controller.signal
}
