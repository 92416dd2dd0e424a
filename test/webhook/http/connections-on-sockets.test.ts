/** Tests of the connection limits with real sockets. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { shareMemory } from '../../../src/webhook/http/memory-shares.ts'
import type { WebhookServer } from '../../../src/webhook/server.ts'
import { hostileReviews } from '../../support/hostile/reviews.ts'
import { serve, small, url } from '../../support/hostile/server.ts'
import { until } from '../../../src/testing/until.ts'

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
      // The client completes the TLS handshake earlier than the server, so the test waits for both.
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

t.test('a connection beyond the limit closes the oldest one that has carried no request', async (t) => {
  const { tls } = await opened(t, 3)
  const used = await tls()
  t.match(await answerOn(used), /^HTTP\/1.1 200/)
  const [first, second] = [await tls(), await tls()]
  const third = await tls()
  await isGone(first)
  t.match(await answerOn(used), /^HTTP\/1.1 200/, 'connections that have carried requests stay')
  for (const socket of [second, third]) t.equal(socket.destroyed, false)
})

t.test('a new connection is refused while all connections carry requests', async (t) => {
  const waiting = Promise.withResolvers<[]>()
  const { server, tls, tcp } = await opened(t, 1, { validate: () => waiting.promise as never })
  const busy = await tls()
  busy.write(post(small))
  await until('it is in flight', () => server.inFlight === 1)
  await isGone(await tcp())
  waiting.resolve([])
  t.match(String((await once(busy, 'data'))[0]), /^HTTP\/1.1 200/)
})

t.test('a connection that does not finish its TLS handshake is closed after ten seconds', async (t) => {
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

t.test('too many pipelined requests close the connection, and none of them stays in flight', async (t) => {
  let called = 0
  const waiting = new Promise<never>(() => undefined)
  const validate = (): never => {
    called += 1
    return waiting as never
  }
  const { server, tls } = await opened(t, 10, { validate })
  const socket = await tls()
  socket.write(post(small).repeat(100))
  await isGone(socket)
  await until('nothing is in flight', () => server.inFlight === 0 && server.inFlightBytes === 0)
  t.ok(called <= 4, `${called} handler calls`)
})

t.test('an answer that the client does not read closes its connection', async (t) => {
  const { server, clock, tls } = await opened(t, 10)
  const socket = await tls()
  socket.pause()
  // The patch in each response is larger than 5 MB, so it does not fit into the buffers of the socket.
  const body = hostileReviews.find(({ name }) => name === 'a map of 90,000 items')!.text()
  for (let count = 0; count < 3; count += 1) socket.write(post(body, 'mutate'))
  await until('they are in flight', () => server.inFlight === 3)
  await until('an answer is there', () => server.inFlightBytes > 0 && socket.readableLength > 0)
  await clock.advance(70_000)
  await isGone(socket)
  await until('nothing is in flight', () => server.inFlight === 0 && server.inFlightBytes === 0)
})
