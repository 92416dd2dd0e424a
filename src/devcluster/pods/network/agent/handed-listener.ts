/** `listenForParent`: accepts TCP connections, and hands them over to the parent process. */
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'

/**
 * Starts to listen. `handOver` receives each connection before any data is read from the connection.
 *
 * @param failed called when the port cannot be used. The server then does not listen.
 */
export function listenForParent(
  at: { readonly address: string; readonly port: number },
  handOver: (socket: Socket) => void,
  failed: (error: Error) => void,
): Server {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    handOver(socket)
  })
  server.on('error', failed)
  return server.listen({ host: at.address, port: at.port })
}
