import { EventEmitter } from 'node:events'
import type { Server } from 'node:https'
import t from 'tap'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { Connections, usualConnectionLimits } from '../../src/webhook/connections.ts'

/** A server whose connections come from wherever the test says. */
class FakeServer extends EventEmitter {
  readonly clock = new FakeClock(0)
  readonly #connections: Connections
  #ports = 0

  constructor(connections: number, limits: Partial<ConstructorParameters<typeof Connections>[2]> = {}) {
    super()
    this.#connections = new Connections(this as unknown as Server, this.clock, { ...usualConnectionLimits, connections, ...limits })
  }

  get size(): number {
    return this.#connections.size
  }

  get inFlight(): number {
    return this.#connections.inFlight
  }

  /** Stops it as its owner does; the server itself is closed when `closed` is called. */
  stop(deadlineMs: number): { readonly stopped: Promise<void>; readonly closed: () => void; readonly ended: () => boolean } {
    let closed = (): void => undefined
    let ended = false
    Object.assign(this, {
      listening: true,
      close: (whenClosed: () => void) => (closed = whenClosed),
      closeAllConnections: () => (ended = true),
    })
    return { stopped: this.#connections.stop(deadlineMs), closed: () => closed(), ended: () => ended }
  }

  open(remoteAddress: string): FakeConnection {
    this.#ports += 1
    const connection = new FakeConnection(this, remoteAddress, this.#ports)
    this.emit('connection', connection)
    return connection
  }
}

/** One of its connections, as it is for TCP and for TLS. */
class FakeConnection extends EventEmitter {
  readonly #server: FakeServer
  readonly remoteAddress: string
  readonly remotePort: number
  destroyed = false

  constructor(server: FakeServer, remoteAddress: string, remotePort: number) {
    super()
    this.#server = server
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
  }

  shakeHands(): void {
    this.#server.emit('secureConnection', this)
  }

  /** Sends a request and fetches the answer. */
  carry(): void {
    this.begin().emit('close')
  }

  /** Sends a request, all of it or not. */
  begin(complete = true): EventEmitter {
    const response = Object.assign(new EventEmitter(), { req: { complete } })
    this.#server.emit('request', { socket: this }, response)
    return response
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

t.test('of the connections of one sender, those without a handshake go first, those that have carried a request last', async (t) => {
  const server = new FakeServer(3)
  const [used, ready, shaking] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [used, ready]) connection.shakeHands()
  used.carry()
  for (let count = 0; count < 100; count += 1) server.open('10.0.0.1')
  t.strictSame([used.destroyed, ready.destroyed, shaking.destroyed], [false, false, true])
  t.equal(server.size, 3)
})

t.test('of connections that have carried requests, the one that has been idle longest goes first, whenever it was opened', async (t) => {
  const server = new FakeServer(3)
  const [first, second, third] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [first, second, third]) connection.shakeHands()
  for (const connection of [second, third, first]) {
    await server.clock.advance(1000)
    connection.carry()
  }
  const destroyed = (): boolean[] => [first, second, third].map((connection) => connection.destroyed)
  server.open('10.0.0.1').shakeHands()
  t.strictSame(destroyed(), [false, true, false])
})

t.test('a flood of connections from one sender ends none of another that has just begun', async (t) => {
  for (const flood of ['without a handshake', 'with one']) {
    const server = new FakeServer(10)
    const apiServer = server.open('10.0.0.1')
    for (let count = 0; count < 1000; count += 1) {
      const connection = server.open('10.0.0.2')
      if (flood === 'with one') connection.shakeHands()
    }
    t.equal(apiServer.destroyed, false, `a flood ${flood}`)
    t.equal(server.size, 10)
    apiServer.shakeHands()
    apiServer.carry()
    const next = server.open('10.0.0.1')
    for (let count = 0; count < 1000; count += 1) server.open('10.0.0.2')
    t.strictSame([apiServer.destroyed, next.destroyed], [false, false])
  }
})

t.test(
  'a connection whose request does not come to its end goes before those that are idle, of the sender that has most of these',
  async (t) => {
    const server = new FakeServer(5)
    const [idle, slow] = [server.open('10.0.0.1'), server.open('10.0.0.1')]
    const others = [1, 2, 3].map(() => server.open('10.0.0.2'))
    for (const connection of [idle, slow, ...others]) connection.shakeHands()
    idle.carry()
    slow.begin(false)
    for (const connection of others) {
      await server.clock.advance(1)
      connection.begin(false)
    }
    const destroyed = (): boolean[] => [idle, slow, ...others].map((connection) => connection.destroyed)
    await server.clock.advance(1001)
    server.open('10.0.0.3')
    t.strictSame(destroyed(), [false, false, true, false, false])
    const again = server.open('10.0.0.3')
    t.strictSame(destroyed(), [false, false, true, false, false], 'what has never carried a request goes first')
    again.shakeHands()
    again.carry()
    const whole = server.open('10.0.0.4')
    t.strictSame(destroyed(), [false, false, true, true, false])
    whole.shakeHands()
    whole.begin()
    await server.clock.advance(5000)
    for (const next of ['10.0.0.5', '10.0.0.6']) {
      const connection = server.open(next)
      connection.shakeHands()
      connection.begin()
    }
    t.strictSame([...destroyed(), whole.destroyed, again.destroyed], [false, true, true, true, true, false, false])
  },
)

t.test('a request that has just begun does not go', async (t) => {
  const server = new FakeServer(2)
  const [idle, begun] = [server.open('10.0.0.1'), server.open('10.0.0.2')]
  for (const connection of [idle, begun]) connection.shakeHands()
  idle.carry()
  begun.begin(false)
  await server.clock.advance(1000)
  server.open('10.0.0.2')
  t.strictSame([idle.destroyed, begun.destroyed], [true, false])
})

t.test('a handshake may take ten seconds from the connection on, and its timer goes with it', async (t) => {
  const server = new FakeServer(5)
  const [silent, ready, gone] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  await server.clock.advance(9_999)
  ready.shakeHands()
  gone.destroy()
  t.equal(server.clock.pending, 2)
  t.equal(silent.destroyed, false)
  await server.clock.advance(1)
  t.strictSame([silent.destroyed, ready.destroyed], [true, false])
  t.equal(server.clock.pending, 0)
  t.equal(server.size, 1)
})

t.test('a server without TLS has no handshake to wait for', async (t) => {
  const server = new FakeServer(2, { handshakeMs: undefined as never })
  const [used, unused] = [server.open('10.0.0.1'), server.open('10.0.0.1')]
  t.equal(server.clock.pending, 0)
  used.carry()
  server.open('10.0.0.1')
  t.strictSame([used.destroyed, unused.destroyed], [false, true])
})

t.test('a request and its answer may take a minute; connections are looked at every five seconds while there are any', async (t) => {
  const server = new FakeServer(5)
  const [slow, pipelined, idle] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [slow, pipelined, idle]) connection.shakeHands()
  await server.clock.advance(10_000)
  t.equal(server.clock.pending, 0, 'nobody looks while there is no request')
  idle.carry()
  slow.begin()
  const first = pipelined.begin()
  pipelined.begin()
  t.equal(server.clock.nextDue, 15_000)
  t.equal(server.inFlight, 3)
  await server.clock.advance(30_000)
  first.emit('close')
  t.equal(server.inFlight, 2)
  await server.clock.advance(30_000)
  t.equal(slow.destroyed, false, 'after a minute')
  await server.clock.advance(5_000)
  t.strictSame([slow.destroyed, pipelined.destroyed, idle.destroyed], [true, false, false])
  await server.clock.advance(30_000)
  t.strictSame([pipelined.destroyed, idle.destroyed], [true, false], 'the second of a row has its own minute')
})

t.test('nobody looks at connections any more once all requests are answered', async (t) => {
  const server = new FakeServer(5)
  const connection = server.open('10.0.0.1')
  connection.shakeHands()
  await server.clock.advance(10_000)
  connection.carry()
  t.equal(server.clock.pending, 1)
  await server.clock.advance(5_000)
  t.equal(server.clock.pending, 0)
  connection.begin()
  t.equal(server.clock.nextDue, 20_000)
})

t.test('four requests may wait on one connection', async (t) => {
  const server = new FakeServer(5)
  const connection = server.open('10.0.0.1')
  connection.shakeHands()
  const answers = [1, 2, 3, 4].map(() => connection.begin())
  t.equal(connection.destroyed, false)
  answers[0]!.emit('close')
  connection.begin()
  t.equal(connection.destroyed, false)
  connection.begin()
  t.equal(connection.destroyed, true)
})

t.test('the requests of a connection that ends are given up, each once', async (t) => {
  const server = new FakeServer(5)
  const connection = server.open('10.0.0.1')
  connection.shakeHands()
  const closed: number[] = []
  for (const index of [0, 1, 2]) {
    const answer = connection.begin()
    answer.on('close', () => closed.push(index))
    if (index === 0) Object.assign(answer, { closed: true })
  }
  connection.destroy()
  t.strictSame(closed, [1, 2], 'Node tells of the one that has the connection')
  connection.begin()
  t.equal(server.inFlight, 1, 'what the parser still finds is no request')
  t.equal(server.size, 0)
})

t.test('a request on a connection that nobody knows is counted all the same', async (t) => {
  const server = new FakeServer(5)
  const answer = new EventEmitter()
  server.emit('request', { socket: new EventEmitter() }, answer)
  t.equal(server.inFlight, 1)
  answer.emit('close')
  t.equal(server.inFlight, 0)
})

t.test('a connection that has gone before it is looked at is none, nor is a handshake without a connection', async (t) => {
  const server = new FakeServer(5)
  const gone = server.open(undefined as never)
  t.equal(gone.destroyed, true)
  const unknown = new FakeConnection(server, '10.0.0.9', 9)
  unknown.shakeHands()
  t.equal(unknown.destroyed, true)
  t.equal(server.size, 0)
})

t.test('when all connections carry requests, it is the new one that goes', async (t) => {
  const server = new FakeServer(1)
  const busy = server.open('10.0.0.1')
  busy.shakeHands()
  busy.begin()
  const next = server.open('10.0.0.1')
  t.strictSame([busy.destroyed, next.destroyed, server.size], [false, true, 1])
})

t.test('the end of a connection that made room says nothing about one that has its address since', async (t) => {
  const server = new FakeServer(1)
  const first = server.open('10.0.0.1')
  const second = server.open('10.0.0.1')
  t.strictSame([first.destroyed, second.destroyed], [true, false])
  const again = new FakeConnection(server, first.remoteAddress, first.remotePort)
  server.emit('connection', again)
  first.emit('close')
  t.equal(server.size, 1)
  again.shakeHands()
  t.equal(again.destroyed, false)
})

t.test('a server that stops ends connections without requests after a second, and all others at its deadline', async (t) => {
  const server = new FakeServer(5)
  const [busy, ready, shaking] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [busy, ready]) connection.shakeHands()
  busy.begin()
  const destroyed = (): boolean[] => [busy, ready, shaking].map((connection) => connection.destroyed)
  const { stopped, closed, ended } = server.stop(8_000)
  await server.clock.advance(999)
  t.strictSame(destroyed(), [false, false, false])
  await server.clock.advance(1)
  t.strictSame(destroyed(), [false, true, true])
  await server.clock.advance(6_999)
  t.strictSame([destroyed(), ended()], [[false, true, true], false])
  await server.clock.advance(1)
  t.strictSame([destroyed(), ended()], [[true, true, true], true])
  closed()
  await stopped
})

t.test(
  'a server that has stopped leaves no timers; one that has no time stops at once; one that does not listen has stopped',
  async (t) => {
    const server = new FakeServer(5)
    const connection = server.open('10.0.0.1')
    connection.shakeHands()
    await server.clock.advance(10_000)
    connection.begin()
    const { stopped, closed } = server.stop(30_000)
    t.equal(server.clock.pending, 3)
    closed()
    await stopped
    t.equal(server.clock.pending, 0)

    const hurried = new FakeServer(5)
    const idle = hurried.open('10.0.0.1')
    hurried.stop(0)
    await hurried.clock.advance(0)
    t.equal(idle.destroyed, true)

    await new Connections({ on: () => undefined, prependListener: () => undefined, listening: false } as never, server.clock, {
      ...usualConnectionLimits,
      connections: 1,
    }).stop(0)
  },
)
