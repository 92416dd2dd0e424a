/** A TCP server on a free port of the loopback interface. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { Test } from 'tap'

export interface TcpServer {
  readonly port: number
  /** The connections that have been accepted. */
  readonly sockets: Socket[]
}

/** Starts a server that is closed at the end of the test. */
export async function startTcpServer(t: Test, onConnection: (socket: Socket) => void): Promise<TcpServer> {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

/** Sends all received bytes back to the client. Ends its side of the connection when the client has ended its own side. */
export function echo(socket: Socket): void {
  socket.pipe(socket)
}
