/** `forwardToLoopback`: forwards a connection from a Pod to a server on the developer's machine. */
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { joinSockets, reset } from '../agent/tcp-forwarder.ts'

/** The addresses of the loopback interface. Some servers listen at only one of these addresses. */
const addresses = ['127.0.0.1', '::1']

/** Forwards the connection of a client. If no server listens on the port, the connection is reset. */
export function forwardToLoopback(client: Socket, port: number): void {
  client.on('error', () => undefined)
  const [address, ...others] = addresses
  tryAddress(client, port, address!, others)
}

function tryAddress(client: Socket, port: number, address: string, others: readonly string[]): void {
  const server = connect({ host: address, port, allowHalfOpen: true })
  const failed = (): void => {
    const [next, ...rest] = others
    if (next === undefined || client.destroyed) reset(client)
    else tryAddress(client, port, next, rest)
  }
  server.once('error', failed)
  server.once('connect', () => {
    server.off('error', failed)
    if (client.destroyed) server.destroy()
    else joinSockets(client, server)
  })
}
