import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { Connections, usualConnectionLimits } from '../../src/webhook/connections.ts'
import { shareMemory } from '../../src/webhook/memory.ts'
import type { WebhookServer } from '../../src/webhook/server.ts'
import { hostileReviews } from '../support/hostile-reviews.ts'
import { serve, small, url } from '../support/hostile-server.ts'
import { until } from '../support/process.ts'

const mebibyte = 2 ** 20
const shares = shareMemory({ limitBytes: 384 * mebibyte, idleBytes: 160 * mebibyte, heapLimitBytes: 192 * mebibyte, processors: 2 })

interface Opened {
  readonly server: WebhookServer
  readonly clock: FakeClock
  readonly tcp: () => Promise<Socket>
  readonly tls: () => Promise<Socket>
}

async function opened(t: Test, connections: number, handlers: Parameters<typeof serve>[1] = {}): Promise<Opened> {
  const clock = new FakeClock(0)
  const { server, source } = await serve(t, handlers, { clock, memory: { ...shares, connections } })
  const { port } = await server.start()
  const known = (socket: Socket): Socket => {
    t.after(() => socket.destroy())
    return socket.on('error', () => undefined)
  }
  return {
    server,
    clock,
    async tcp() {
      const socket = known(connectTcp({ port, host: '127.0.0.1' }))
      await once(socket, 'connect')
      return socket
    },
    async tls() {
      // The client is ready first.
      const secured = once(server.app.server, 'secureConnection')
      const socket = known(connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: source.current().caBundle }))
      await Promise.all([once(socket, 'secureConnect'), secured])
      return socket
    },
  }
}

const post = (body: string, verb = 'validate'): string =>
  `POST ${url(verb)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

async function answerOn(socket: Socket): Promise<string> {
  socket.write(post(small))
  return String((await once(socket, 'data'))[0])
}

const isGone = (socket: Socket): Promise<boolean> => until('the connection is closed', () => socket.resume().destroyed)

t.test('for one more connection than there may be, the one that will be missed least is closed', async (t) => {
  const { tls } = await opened(t, 3)
  const used = await tls()
  t.match(await answerOn(used), /^HTTP\/1.1 200/)
  const [first, second] = [await tls(), await tls()]
  const third = await tls()
  await isGone(first)
  t.match(await answerOn(used), /^HTTP\/1.1 200/, 'those that have carried requests stay')
  for (const socket of [second, third]) t.equal(socket.destroyed, false)
})

/** A server whose connections come from wherever the test says. */
class FakeServer extends EventEmitter {
  readonly clock = new FakeClock(0)
  readonly #connections: Connections
  #ports = 0

  constructor(connections: number) {
    super()
    this.#connections = new Connections(this as unknown as Server, this.clock, { ...usualConnectionLimits, connections })
  }

  get size(): number {
    return this.#connections.size
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

t.test('while all connections carry requests, another is not accepted', async (t) => {
  const waiting = Promise.withResolvers<[]>()
  const { server, tls, tcp } = await opened(t, 1, { validate: () => waiting.promise as never })
  const busy = await tls()
  busy.write(post(small))
  await until('it is in flight', () => server.inFlight === 1)
  await isGone(await tcp())
  waiting.resolve([])
  t.match(String((await once(busy, 'data'))[0]), /^HTTP\/1.1 200/)
})

t.test('a connection without a TLS handshake is closed, also one that sends something of it', async (t) => {
  const { clock, tcp, tls } = await opened(t, 10)
  const [silent, slow, good] = [await tcp(), await tcp(), await tls()]
  slow.write(Buffer.from([0x16, 0x03, 0x01]))
  await clock.advance(9_000)
  slow.write(Buffer.from([0x01]))
  t.equal(silent.destroyed, false)
  await clock.advance(1_000)
  await Promise.all([isGone(silent), isGone(slow)])
  t.match(await answerOn(good), /^HTTP\/1.1 200/)
})

t.test('many requests in a row end the connection, and none of them is left behind', async (t) => {
  let asked = 0
  const waiting = new Promise<never>(() => undefined)
  const validate = (): never => {
    asked += 1
    return waiting as never
  }
  const { server, tls } = await opened(t, 10, { validate })
  const socket = await tls()
  socket.write(post(small).repeat(100))
  await isGone(socket)
  await until('nothing is in flight', () => server.inFlight === 0 && server.inFlightBytes === 0)
  t.ok(asked <= 4, `${asked} handlers were asked`)
})

t.test('an answer that is not fetched ends its connection', async (t) => {
  const { server, clock, tls } = await opened(t, 10)
  const socket = await tls()
  socket.pause()
  // Their patches have more than 5 MB each, which the kernel does not take in.
  const body = hostileReviews.find(({ name }) => name === 'a map of 90,000 items')!.text()
  for (let count = 0; count < 3; count += 1) socket.write(post(body, 'mutate'))
  await until('they are in flight', () => server.inFlight === 3)
  await until('an answer is there', () => server.inFlightBytes > 0 && socket.readableLength > 0)
  await clock.advance(70_000)
  await isGone(socket)
  await until('nothing is in flight', () => server.inFlight === 0 && server.inFlightBytes === 0)
})
