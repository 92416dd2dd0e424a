/** Tests of connections to a server that listens on only one address of the loopback interface. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { forwardToLoopback } from '../../../../../src/devcluster/pods/network/host/forward-to-loopback.ts'
import { closedPort } from '../../../../support/devcluster/loopback-target.ts'

const ownAddresses = new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)))

/** Starts a server. Returns its port. */
async function listen(t: { teardown(end: () => void): void }, host: string, onConnection: Parameters<typeof createServer>[1]) {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, onConnection)
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

for (const host of ['127.0.0.1', '::1'])
  t.test(`a server at ${host}`, { skip: !ownAddresses.has(host) && `this machine has no ${host}` }, async (t) => {
    const target = await listen(t, host, (socket) => socket.end(`from ${host}`))
    const port = await listen(t, '127.0.0.1', (socket) => forwardToLoopback(socket, target))
    t.equal(await text(connect(port, '127.0.0.1')), `from ${host}`)
  })

t.test('a port without a server resets the connection', async (t) => {
  const closed = await closedPort()
  const port = await listen(t, '127.0.0.1', (socket) => forwardToLoopback(socket, closed))
  await t.rejects(text(connect(port, '127.0.0.1')), { code: 'ECONNRESET' })
})
