import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { connect } from 'node:tls'
import t from 'tap'
import { expectEarlyRequest, longAnswer } from '../../src/runtime/early-request.ts'
import { eventually } from '../support/eventually.ts'
import { testCertificate } from '../support/certs/server-certificate.ts'

t.test('a connection stays open when a long request arrives before the last answer has been read', async (t) => {
  const { cert, key, ca } = testCertificate()
  const answer = 'x'.repeat(8_000_000)
  const received: number[] = []
  let socket: Socket | undefined
  const server = createServer({ cert, key }, (incoming, response) => {
    let length = 0
    incoming.on('data', (chunk: Buffer) => (length += chunk.length))
    incoming.on('end', () => {
      received.push(length)
      socket = incoming.socket
      expectEarlyRequest(response.socket)
      response.end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ca })
  t.after(async () => {
    client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const send = (length: number): void => {
    client.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`)
    client.write(Buffer.alloc(length))
  }
  client.pause()
  send(10)
  await eventually(() => received.length === 1)
  send(1_000_000)
  await new Promise((resolve) => client.once('drain', resolve).once('close', resolve))
  let fetched = 0
  client.on('data', (chunk: Buffer) => (fetched += chunk.length)).resume()
  await eventually(() => fetched > 2 * answer.length || client.destroyed)
  t.strictSame(received, [10, 1_000_000])
  t.equal(socket!.listenerCount('data'), 2, 'one listener of the parser and one of ours')
})

t.test('a closed connection is ignored', (t) => {
  expectEarlyRequest(null)
  t.end()
})

t.test('a connection gets one listener, however many long answers it carries', async (t) => {
  const socket = new Socket()
  expectEarlyRequest(socket)
  expectEarlyRequest(socket)
  t.equal(socket.listenerCount('data'), 1)
  t.equal(longAnswer, 16_384)
  socket.destroy()
})
