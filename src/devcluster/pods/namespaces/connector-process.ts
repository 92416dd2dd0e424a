/**
 * The main module of a process in a network of the cluster. The process connects to ports in this network, and sends the connected sockets
 * to Proreus, which is in another network. A socket stays in the network in which it was created.
 */
import { connect } from 'node:net'
import type { ConnectAnswer, ConnectRequest } from './network-messages.ts'
import { isConnectRequest } from './network-messages.ts'

process.on('message', (message) => {
  if (isConnectRequest(message)) answer(message)
})
process.on('disconnect', () => process.exit())

function answer({ id, port, host }: ConnectRequest): void {
  try {
    const socket = connect({ port, host })
    // This process must not read the data that the peer sends. The socket is passed to Proreus, which reads the data outside of this
    // network namespace.
    socket.pause()
    const onError = (error: Error): void => fail(id, error)
    socket.once('error', onError)
    socket.once('connect', () => {
      socket.off('error', onError)
      socket.on('error', () => undefined)
      process.send?.({ id } satisfies ConnectAnswer, socket, {}, (error) => {
        if (error !== null) socket.destroy()
      })
    })
  } catch (error) {
    fail(id, error as Error)
  }
}

function fail(id: number, error: NodeJS.ErrnoException): void {
  const { message, code } = error
  process.send?.({ id, failure: { message, ...(code !== undefined && { code }) } } satisfies ConnectAnswer, undefined, {}, () => undefined)
}
