import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { FaultyNetwork } from '../../src/testing/faults/network.ts'
import { until } from '../../src/testing/until.ts'

/** Starts an echo server. Clients connect to it through a faulty network. */
async function setUp(t: Test) {
  const sockets = new Set<Socket>()
  const received: string[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received.push(bytes.toString())
      socket.write(bytes)
    })
    socket.on('end', () => socket.end('bye'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const network = await FaultyNetwork.listen((server.address() as AddressInfo).port)
  t.teardown(async () => {
    await network.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { network, sockets, received }
}

async function dial(t: Test, { port }: FaultyNetwork) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  const state = { socket, got: '', error: undefined as string | undefined, hasEnded: false, closed: false }
  socket.on('data', (bytes) => (state.got += bytes.toString()))
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (state.error = code))
  socket.on('end', () => (state.hasEnded = true))
  socket.on('close', () => (state.closed = true))
  await until('it is connected, or refused', () => socket.readyState === 'open' || state.closed)
  return state
}

t.test('data and ends are passed on in both directions', async (t) => {
  const { network, sockets } = await setUp(t)
  const client = await dial(t, network)
  client.socket.write('hello')
  await until('the echo', () => client.got === 'hello')
  t.strictSame(
    network.links.map(({ number }) => number),
    [1],
  )
  client.socket.end()
  await until('the end', () => client.hasEnded && client.closed)
  t.equal(client.got, 'hellobye')
  await until('nothing is left', () => network.links.length === 0 && sockets.size === 0)
  t.equal(client.error, undefined)
})

t.test('a client can send after the server has ended its side', async (t) => {
  const { network, sockets, received } = await setUp(t)
  const client = await dial(t, network)
  await until('it is through', () => sockets.size === 1)
  const [socket] = sockets
  socket!.removeAllListeners('data').on('data', (bytes) => void received.push(String(bytes)))
  socket!.end('bye')
  await until('the end of the server', () => client.hasEnded)
  t.equal(client.got, 'bye')
  client.socket.write('still here')
  await until('the rest', () => received.join('') === 'still here')
})

t.test('large data passes completely through a slow reader', async (t) => {
  const { network } = await setUp(t)
  const client = await dial(t, network)
  client.socket.pause()
  const bytes = 'x'.repeat(8 * 1024 * 1024)
  client.socket.write(bytes)
  await new Promise((resolve) => setImmediate(resolve))
  client.socket.resume()
  await until('all of it', () => client.got.length === bytes.length)
})

t.test('data waits for a slow reader', async (t) => {
  const { network, received } = await setUp(t)
  const client = await dial(t, network)
  client.socket.pause()
  const bytes = 'x'.repeat(32 * 1024 * 1024)
  client.socket.write(bytes)
  let before = -1
  await until('nothing moves any more', () => {
    const now = received.length
    const stands = now > 0 && now === before
    before = now
    return stands
  })
  client.socket.resume()
  await until('all of it', () => client.got.length === bytes.length)
})

t.test('networks have their own ports, and number their connections', async (t) => {
  const [one, other] = [await setUp(t), await setUp(t)]
  t.not(one.network.port, other.network.port)
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await dial(t, one.network)
    await until('it is there', () => one.network.links.length === expected.length)
    t.strictSame(
      one.network.links.map(({ number }) => number),
      expected,
    )
  }
  t.strictSame(other.network.links, [])
})

t.test('new connections are held only on request', async (t) => {
  const { network, received } = await setUp(t)
  const before = await dial(t, network)
  await until('it is there', () => network.links.length === 1)
  const echo = async (client: typeof before, text: string): Promise<void> => {
    const got = client.got
    client.socket.write(text)
    await until(`${text} comes back`, () => client.got === got + text)
  }
  const some = network.hold(['toServer', 'toClient'], { only: [] })
  await echo(await dial(t, network), 'free')
  some.end()
  const later = network.hold(['toServer', 'toClient'], { only: [], alsoNew: true })
  const held = await dial(t, network)
  held.socket.write('held')
  for (const text of ['a', 'b', 'c']) await echo(before, text)
  t.notOk(received.includes('held'))
  later.end()
  await until('it flows', () => held.got === 'held')
  network.hold(['toServer', 'toClient'], { only: network.links.slice(0, 1) })
  await echo(held, 'again')
  before.socket.write('stands')
  for (const text of ['d', 'e', 'f']) await echo(held, text)
  t.notOk(received.includes('stands'))
  network.heal()
  await until('it flows, too', () => before.got === 'abcstands')
})

t.test('delays apply per direction, add up, and can be healed', async (t) => {
  const { network } = await setUp(t)
  const client = await dial(t, network)
  const roundTrip = async (text: string): Promise<number> => {
    const started = performance.now()
    const before = client.got
    client.socket.write(text)
    await once(client.socket, 'data')
    t.equal(client.got, before + text)
    return performance.now() - started
  }
  await roundTrip('warm')
  const both = network.delay({ toServer: 60, toClient: 40 })
  t.ok((await roundTrip('a')) >= 98)
  const more = network.delay({ toServer: 0, toClient: 100 })
  t.ok((await roundTrip('b')) >= 198)
  both.end()
  both.end()
  t.ok((await roundTrip('c')) >= 98)
  more.end()
  await until('a round trip takes less than the shortest delay', async () => (await roundTrip('d')) < 60)
})

t.test('cut connections are reset on both sides, and others are not', async (t) => {
  const { network, sockets } = await setUp(t)
  const [one, two] = [await dial(t, network), await dial(t, network)]
  await until('both are through', () => sockets.size === 2)
  const cut = network.cut({ only: network.links.slice(0, 1) })
  await until('it is reset', () => one.error === 'ECONNRESET')
  await until('for the server, too', () => sockets.size === 1)
  cut.end()
  two.socket.write('still')
  await until('the other lives', () => two.got === 'still')

  const away = network.cut({ alsoNew: true })
  const three = await dial(t, network)
  await until('new ones are reset', () => three.error === 'ECONNRESET')
  away.end()
  const four = await dial(t, network)
  four.socket.write('again')
  await until('it is back', () => four.got === 'again')
})

t.test('a half-open connection is silent, and resumes when healed', async (t) => {
  const { network, received } = await setUp(t)
  const client = await dial(t, network)
  client.socket.write('a')
  await until('it is through', () => client.got === 'a')

  const deaf = network.hold(['toClient'], {})
  client.socket.write('b')
  await until('the server hears', () => received.includes('b'))
  const dead = network.hold(['toServer', 'toClient'], { alsoNew: true })
  client.socket.write('c')
  const other = await dial(t, network)
  other.socket.write('d')
  // When the fault `dead` ends, the server receives the delayed data. The client still receives nothing, because the fault `deaf` still
  // delays the data to the client.
  dead.end()
  await until('new ones go on', () => other.got === 'd')
  await until('the server hears again', () => received.includes('c'))
  t.equal(client.got, 'a', 'the other fault still holds')
  deaf.end()
  await until('the client hears again', () => client.got === 'abc')
})

t.test('a client that closes a half-open connection is noticed when it is healed', async (t) => {
  const { network, sockets } = await setUp(t)
  const client = await dial(t, network)
  client.socket.write('a')
  await until('it is through', () => client.got === 'a')
  network.hold(['toServer', 'toClient'], {})
  client.socket.destroy()
  await once(client.socket, 'close')
  t.equal(sockets.size, 1)
  network.heal()
  await until('nothing is left', () => network.links.length === 0 && sockets.size === 0)
})

t.test('a reset is passed on, at once or when the connection is healed', async (t) => {
  const { network, sockets } = await setUp(t)
  const other = await dial(t, network)
  for (const held of [false, true]) {
    const client = await dial(t, network)
    client.socket.write('a')
    await until('it is through', () => client.got === 'a')
    const fault = held ? network.hold(['toClient'], { only: network.links.slice(1) }) : undefined
    client.socket.resetAndDestroy()
    for (const text of held ? ['1', '2', '3'] : []) {
      const { got } = other
      other.socket.write(text)
      await until('time has passed', () => other.got === got + text)
    }
    if (held) t.equal(network.links.length, 2, 'the server has not noticed it')
    fault?.end()
    await until('the server has heard', () => sockets.size === 1 && network.links.length === 1)
  }
})

t.test('closing the network closes held connections', async (t) => {
  const { network, sockets } = await setUp(t)
  const client = await dial(t, network)
  await until('it is through', () => sockets.size === 1)
  network.hold(['toServer', 'toClient'], {})
  await network.close()
  await until('it is reset', () => client.closed)
  await until('for the server, too', () => sockets.size === 0)
})

t.test('a held connection buffers no more than a real one', async (t) => {
  const { network, received } = await setUp(t)
  const client = await dial(t, network)
  client.socket.write('a')
  await until('it is through', () => client.got === 'a')
  const held = network.hold(['toServer'], {})
  let taken = true
  // The sender, the network and the operating system buffer some megabytes, but not 64 MiB.
  const bytes = Buffer.alloc(64 * 1024 * 1024, 'x')
  client.socket.write(bytes, () => (taken = false))
  for (let turn = 0; turn < 3000; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  t.equal(taken, true)
  t.strictSame(received, ['a'])
  held.end()
  await until('all of it', () => client.got.length === bytes.length + 1)
})

t.test('connections are listed in the order of their numbers', async (t) => {
  const { network, sockets } = await setUp(t)
  const [one] = [await dial(t, network), await dial(t, network)]
  await until('both are through', () => sockets.size === 2)
  one.socket.destroy()
  await until('one is gone', () => network.links.length === 1)
  await dial(t, network)
  await until('there are two', () => network.links.length === 2)
  t.strictSame(
    network.links.map(({ number }) => number),
    [2, 3],
  )
})

t.test('a healed delay has no effect, and a fault of some connections does not affect others', async (t) => {
  const { network, received } = await setUp(t)
  const [one, two] = [await dial(t, network), await dial(t, network)]
  await until('both are through', () => network.links.length === 2)
  network.delay({ toServer: 600_000, toClient: 600_000 })
  network.heal()
  const fault = network.hold(['toServer'], { only: network.links.slice(0, 1) })
  one.socket.write('held')
  two.socket.write('goes')
  await until('the other goes on', () => two.got === 'goes')
  t.strictSame(received, ['goes'])
  const three = await dial(t, network)
  three.socket.write('new')
  await until('new ones go on', () => three.got === 'new')
  fault.end()
  await until('it goes on', () => one.got === 'held')
})
