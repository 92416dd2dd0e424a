/** Tests of the relay, whose port stays the same while the server behind it is replaced. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { Relay } from '../../../src/cli/watch/relay.ts'
import { listen } from '../../../src/runtime/listen.ts'

/** Starts a server. When a client has sent everything, the server responds with `name` and the request. Returns the port of the server. */
async function server(t: Test, name: string): Promise<number> {
  const tcp = createServer({ allowHalfOpen: true }, (socket) => void text(socket).then((body) => socket.end(`${name}: ${body}`)))
  t.teardown(() => tcp.close())
  return listen(tcp, { host: '127.0.0.1', port: 0 })
}

async function relay(t: Test): Promise<Relay> {
  const started = await Relay.start()
  t.teardown(() => started.close())
  return started
}

function client({ address }: Relay): Socket {
  return connect({ host: '127.0.0.1', port: Number(address.split(':')[1]), allowHalfOpen: true })
}

async function request(relay: Relay, body: string): Promise<string> {
  const socket = client(relay)
  socket.end(body)
  return text(socket)
}

t.test('connections wait for the server, and new ones are forwarded to its successor at the same address', async (t) => {
  const one = await relay(t)
  const early = [request(one, 'a'), request(one, 'b'.repeat(1_000_000))]
  one.lead(await server(t, 'first'))
  t.strictSame(await Promise.all(early), ['first: a', `first: ${'b'.repeat(1_000_000)}`])
  one.lead('wait')
  const late = request(one, 'c')
  one.lead(await server(t, 'second'))
  t.equal(await late, 'second: c')
  t.equal(await request(one, 'd'), 'second: d')
})

t.test('without a server, waiting and new connections are reset', async (t) => {
  const one = await relay(t)
  const waiting = request(one, 'a')
  one.lead('close')
  await t.rejects(waiting, { code: 'ECONNRESET' })
  await t.rejects(request(one, 'b'), { code: 'ECONNRESET' })
  one.lead(await server(t, 'first'))
  t.equal(await request(one, 'c'), 'first: c')
})

t.test('a server that does not listen, a server that breaks off and a client that leaves end the connection', async (t) => {
  const one = await relay(t)
  one.lead(1)
  await t.rejects(request(one, 'a'), { code: 'ECONNRESET' })
  const tcp = createServer((socket) => socket.on('data', () => socket.resetAndDestroy()))
  t.teardown(() => tcp.close())
  one.lead(await listen(tcp, { host: '127.0.0.1', port: 0 }))
  await t.rejects(request(one, 'b'), { code: 'ECONNRESET' })
  const connected = once(tcp, 'connection') as Promise<[Socket]>
  const leaving = client(one)
  const [accepted] = await connected
  leaving.resetAndDestroy()
  await once(
    accepted.on('error', () => undefined),
    'close',
  )
})

t.test('the end of the relay ends all connections', async (t) => {
  const one = await Relay.start()
  const socket = client(one)
  const ended = text(socket).catch(() => undefined)
  await once(socket, 'connect')
  await one.close()
  await ended
  await t.rejects(request(one, 'a'), { code: 'ECONNREFUSED' })
})
