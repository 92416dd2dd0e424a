import { EventEmitter } from 'node:events'
import type { Server } from 'node:https'
import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { Connections } from '../../../src/webhook/http/connections.ts'
import { usualConnectionLimits } from '../../../src/webhook/http/limits.ts'

/** A fake server. The test opens its connections. */
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

  /**
   * Stops the server. `closed` calls the callback that the server's method `close` received, so the test decides when the server has
   * closed. `allClosed` returns true if the server's method `closeAllConnections` has been called.
   */
  stop(deadlineMs: number): { readonly stopped: Promise<void>; readonly closed: () => void; readonly allClosed: () => boolean } {
    let closed = (): void => undefined
    let allClosed = false
    Object.assign(this, {
      listening: true,
      close: (whenClosed: () => void) => (closed = whenClosed),
      closeAllConnections: () => (allClosed = true),
    })
    return { stopped: this.#connections.stop(deadlineMs), closed: () => closed(), allClosed: () => allClosed }
  }

  open(remoteAddress: string): FakeConnection {
    this.#ports += 1
    const connection = new FakeConnection(this, remoteAddress, this.#ports)
    this.emit('connection', connection)
    return connection
  }
}

/** A fake connection. It represents both the TCP socket and the TLS socket. */
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

  /** Sends a complete request and receives the response to it. */
  carry(): void {
    this.begin().emit('close')
  }

  /** Begins a request and returns its response. If `complete` is false, the server is still receiving the body of the request. */
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

t.test('at the limit, connections without a handshake are closed first, those that have carried a request last', async (t) => {
  const server = new FakeServer(3)
  const [used, ready, shaking] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [used, ready]) connection.shakeHands()
  used.carry()
  for (let count = 0; count < 100; count += 1) server.open('10.0.0.1')
  t.strictSame([used.destroyed, ready.destroyed, shaking.destroyed], [false, false, true])
  t.equal(server.size, 3)
})

t.test('the connection that has been idle longest is closed first among those that have carried requests', async (t) => {
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

t.test('a flood of connections from one address closes none from another', async (t) => {
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

t.test('a connection with an incomplete request is closed before idle ones, from the address that has most of them', async (t) => {
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
  t.strictSame(destroyed(), [false, false, true, false, false], 'a connection that has never carried a request is closed first')
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
})

t.test('a connection whose request has just begun is kept', async (t) => {
  const server = new FakeServer(2)
  const [idle, begun] = [server.open('10.0.0.1'), server.open('10.0.0.2')]
  for (const connection of [idle, begun]) connection.shakeHands()
  idle.carry()
  begun.begin(false)
  await server.clock.advance(1000)
  server.open('10.0.0.2')
  t.strictSame([idle.destroyed, begun.destroyed], [true, false])
})

t.test('a handshake may take ten seconds from the connection on, and its timer ends with the connection', async (t) => {
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

t.test('a server without TLS waits for no handshake', async (t) => {
  const server = new FakeServer(2, { handshakeMs: undefined as never })
  const [used, unused] = [server.open('10.0.0.1'), server.open('10.0.0.1')]
  t.equal(server.clock.pending, 0)
  used.carry()
  server.open('10.0.0.1')
  t.strictSame([used.destroyed, unused.destroyed], [false, true])
})

t.test('a request and its answer may take a minute; connections are checked every five seconds while requests are in flight', async (t) => {
  const server = new FakeServer(5)
  const [slow, pipelined, idle] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [slow, pipelined, idle]) connection.shakeHands()
  await server.clock.advance(10_000)
  t.equal(server.clock.pending, 0, 'no timer while no request is in flight')
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
  t.strictSame([pipelined.destroyed, idle.destroyed], [true, false], 'the second pipelined request has its own minute')
})

t.test('a further request does not postpone the time limit of the oldest one', async (t) => {
  const server = new FakeServer(5)
  const connection = server.open('10.0.0.1')
  connection.shakeHands()
  connection.begin()
  await server.clock.advance(59_000)
  connection.begin()
  await server.clock.advance(6_000)
  t.equal(connection.destroyed, true)
})

t.test('each of several new connections closes another one, even before the first is closed', (t) => {
  const server = new FakeServer(2)
  const old = [server.open('10.0.0.1'), server.open('10.0.0.1')]
  const closing: FakeConnection[] = []
  for (const connection of old) connection.destroy = () => void closing.push(connection)
  for (let count = 0; count < 2; count += 1) server.open('10.0.0.1')
  t.strictSame(closing, old)
  t.end()
})

t.test('the timer stops once all requests are answered', async (t) => {
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

t.test('the requests of a closed connection are closed once each', async (t) => {
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
  t.strictSame(closed, [1, 2], 'Node.js closes the first one itself')
  connection.begin()
  t.equal(server.inFlight, 1, 'requests that the parser still finds are ignored')
  t.equal(server.size, 0)
})

t.test('a request on an unknown connection is counted', async (t) => {
  const server = new FakeServer(5)
  const answer = new EventEmitter()
  server.emit('request', { socket: new EventEmitter() }, answer)
  t.equal(server.inFlight, 1)
  answer.emit('close')
  t.equal(server.inFlight, 0)
})

t.test('connections without an address and handshakes of unknown connections are closed', async (t) => {
  const server = new FakeServer(5)
  const gone = server.open(undefined as never)
  t.equal(gone.destroyed, true)
  const unknown = new FakeConnection(server, '10.0.0.9', 9)
  unknown.shakeHands()
  t.equal(unknown.destroyed, true)
  t.equal(server.size, 0)
})

t.test('a new connection is closed when all others carry requests', async (t) => {
  const server = new FakeServer(1)
  const busy = server.open('10.0.0.1')
  busy.shakeHands()
  busy.begin()
  const next = server.open('10.0.0.1')
  t.strictSame([busy.destroyed, next.destroyed, server.size], [false, true, 1])
})

t.test('the close of an evicted connection does not affect a new one with the same address and port', async (t) => {
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

t.test('a stopping server closes connections without requests after a second, and all others at its deadline', async (t) => {
  const server = new FakeServer(5)
  const [busy, ready, shaking] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  for (const connection of [busy, ready]) connection.shakeHands()
  busy.begin()
  const destroyed = (): boolean[] => [busy, ready, shaking].map((connection) => connection.destroyed)
  const { stopped, closed, allClosed } = server.stop(8_000)
  await server.clock.advance(999)
  t.strictSame(destroyed(), [false, false, false])
  await server.clock.advance(1)
  t.strictSame(destroyed(), [false, true, true])
  await server.clock.advance(6_999)
  t.strictSame([destroyed(), allClosed()], [[false, true, true], false])
  await server.clock.advance(1)
  t.strictSame([destroyed(), allClosed()], [[true, true, true], true])
  closed()
  await stopped
})

t.test('a stopping server waits for handshakes as long as a request begins each second', async (t) => {
  const server = new FakeServer(5)
  const [first, second, third] = [server.open('10.0.0.1'), server.open('10.0.0.1'), server.open('10.0.0.1')]
  const destroyed = (): boolean[] => [first, second, third].map((connection) => connection.destroyed)
  const { stopped, closed } = server.stop(8_000)
  await server.clock.advance(900)
  first.shakeHands()
  first.carry()
  await server.clock.advance(1_000)
  t.strictSame(destroyed(), [false, false, false], 'a request has begun within the first second')
  second.shakeHands()
  second.begin()
  await server.clock.advance(1_099)
  t.strictSame(destroyed(), [false, false, false], 'a request has begun within the second one')
  await server.clock.advance(1)
  t.strictSame(destroyed(), [true, false, true], 'none has begun within the third one')
  second.destroy()
  closed()
  await stopped
  t.equal(server.clock.pending, 0)
})

t.test('a stopping server does not wait for connections that complete a handshake and send nothing', async (t) => {
  const server = new FakeServer(20)
  const { stopped, closed } = server.stop(8_000)
  const first = server.open('10.0.0.1')
  await server.clock.advance(900)
  first.shakeHands()
  await server.clock.advance(100)
  t.equal(first.destroyed, true)
  closed()
  await stopped
})

t.test('a stopped server leaves no timers; without time left it stops at once; one that does not listen has stopped', async (t) => {
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
})
