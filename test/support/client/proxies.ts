/** Proxies and a relay in front of a test server. They can delay connections. */
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface Tunnels {
  /** `host:port` of the proxy or relay. */
  readonly address: string
  /** The `host:port` to which each tunnel was opened. */
  readonly tunnels: string[]
  close(): Promise<void>
}

/** Delays a new connection until the promise resolves. */
type Gate = () => Promise<void>
const open: Gate = () => Promise.resolve()

/** An HTTP proxy, which accepts CONNECT requests. */
export function startHttpProxy(gate = open): Promise<Tunnels> {
  const server = createHttpServer()
  return listen(server, (tunnels, track) => {
    server.on('connect', ({ url = '' }, client: Socket, head) => {
      track(client)
      tunnels.push(url)
      void gate().then(() => {
        const upstream = track(
          connect(Number(url.split(':')[1]), '127.0.0.1', () => {
            client.write('HTTP/1.1 200 Connection established\r\n\r\n')
            upstream.write(head)
            upstream.pipe(client).pipe(upstream)
          }),
        )
      })
    })
  })
}

/** A minimal SOCKS5 proxy (RFC 1928): it accepts the method "no authentication", and then a CONNECT request. */
export function startSocksProxy(gate = open): Promise<Tunnels> {
  const server = createServer()
  return listen(server, (tunnels, track) => {
    server.on('connection', (client) => {
      track(client)
      client.once('data', () => {
        client.write(Buffer.from([5, 0]))
        client.once('data', (request) => {
          const port = request.readUInt16BE(request.length - 2)
          tunnels.push(`127.0.0.1:${port}`)
          void gate().then(() => {
            const upstream = track(
              connect(port, '127.0.0.1', () => {
                client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
                upstream.pipe(client).pipe(upstream)
              }),
            )
          })
        })
      })
    })
  })
}

/** A TCP relay to `port`. Before the gate opens, the relay accepts connections and forwards nothing. */
export function startRelay(port: number, gate = open): Promise<Tunnels> {
  const server = createServer()
  return listen(server, (tunnels, track) => {
    server.on('connection', (client) => {
      track(client)
      tunnels.push(`127.0.0.1:${port}`)
      void gate().then(() => {
        const upstream = track(connect(port, '127.0.0.1', () => void upstream.pipe(client).pipe(upstream)))
      })
    })
  })
}

async function listen(server: Server, accept: (tunnels: string[], track: (socket: Socket) => Socket) => void): Promise<Tunnels> {
  const tunnels: string[] = []
  const sockets = new Set<Socket>()
  accept(tunnels, (socket) => {
    sockets.add(socket.on('error', () => socket.destroy()))
    return socket
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
