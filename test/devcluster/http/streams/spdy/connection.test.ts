/** Tests of a SPDY connection: streams, flow control, and clients that violate the protocol. */
import { duplexPair, type Duplex } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { SpdyConnection } from '../../../../../src/devcluster/http/streams/spdy/connection.ts'
import { controlFrame, dataFrame, finFlag, frameType, numbersFrame } from '../../../../../src/devcluster/http/streams/spdy/frames.ts'
import { ProtocolError } from '../../../../../src/devcluster/http/streams/spdy/protocol-error.ts'
import type { SpdyStream } from '../../../../../src/devcluster/http/streams/spdy/stream.ts'
import { until } from '../../../../../src/testing/until.ts'
import { eventually } from '../../../../support/eventually.ts'
import { rejectionOf } from '../../../../support/rejection.ts'
import { SpdyClient } from '../../../../support/devcluster/spdy-client.ts'

interface Pair {
  readonly client: SpdyClient
  /** The server's side of the connection. */
  readonly socket: Duplex
  readonly connection: SpdyConnection
  readonly streams: SpdyStream[]
  /** Resolves with the error of the connection when the connection ends. */
  readonly ended: Promise<unknown>
}

/**
 * Returns both sides of a SPDY connection: a client, and a running `SpdyConnection` for the server. If `reads` is false, the client reads
 * nothing.
 */
function connected(t: Test, { maxStreams = 10, reads = true } = {}): Pair {
  const [near, far] = duplexPair()
  near.on('error', () => undefined)
  far.once('close', () => near.destroy())
  near.once('close', () => far.destroy())
  const streams: SpdyStream[] = []
  const onStream = (stream: SpdyStream): boolean => {
    streams.push(stream)
    return stream.headers.get('name') !== 'refused'
  }
  const connection = new SpdyConnection(near, { maxStreams, onStream })
  const client = new SpdyClient(far)
  if (reads) void client.read()
  t.teardown(() => near.destroy())
  return { client, socket: near, connection, streams, ended: rejectionOf(connection.run()) }
}

t.test('streams carry bytes in both directions, and end one by one', async (t) => {
  const { client, streams, connection, ended } = connected(t)
  const first = client.open({ Name: 'first' })
  const second = client.open({ name: 'second' }, { flags: finFlag })
  await client.until('reply 3 0')
  t.strictSame(
    streams.map(({ id, headers }) => [id, headers.get('name')]),
    [
      [1, 'first'],
      [3, 'second'],
    ],
  )
  client.send(first, 'hello')
  client.end(first)
  client.send(first, 'after the end')
  client.headers(second, { more: 'headers' })
  t.equal(String(await streams[0]!.toArray()), 'hello')
  t.strictSame(await streams[1]!.toArray(), [])
  streams[1]!.write('a'.repeat(200_000))
  streams[1]!.end('b')
  await until('the stream ends', () => client.ended.has(second))
  t.equal(client.received.get(second), `${'a'.repeat(200_000)}b`)
  streams[0]!.end()
  await until('both streams are closed', () => streams.every(({ destroyed }) => destroyed))
  client.headers(client.open({ name: 'third' }), {}, finFlag)
  await client.until('reply 5 0')
  t.strictSame(await streams[2]!.toArray(), [])
  connection.close()
  await client.until('goaway 0')
  client.socket.end()
  t.equal(await ended, undefined)
  t.equal(streams[2]!.destroyed, true)
})

t.test('a destroyed stream is reset, and so is one that the client resets, without an answer', async (t) => {
  const { client, streams } = connected(t)
  client.open({})
  client.open({})
  await client.until('reply 3 0')
  streams[0]!.destroy()
  await client.until('reset 1 5')
  client.socket.write(numbersFrame(frameType.rstStream, 3, 5))
  await until('the stream is closed', () => streams[1]!.destroyed)
  client.send(1, 'ignored')
  client.send(3, 'ignored')
  client.socket.write(numbersFrame(frameType.ping, 1))
  await client.until('ping 1')
  t.notOk(client.events.includes('reset 3 5'))
})

t.test('streams are refused: too many, unidirectional, even or repeated ids, and those that the server does not want', async (t) => {
  const { client, streams } = connected(t, { maxStreams: 2 })
  client.open({}, { id: 2 })
  client.open({}, { id: 5 })
  client.open({}, { id: 5 })
  client.open({}, { id: 3 })
  client.open({}, { id: 7, flags: 2 })
  client.open({ name: 'refused' }, { id: 9 })
  client.open({}, { id: 11 })
  client.open({}, { id: 13 })
  await client.until('reset 13 3')
  t.strictSame(client.events, ['reset 2 1', 'reply 5 0', 'reset 5 1', 'reset 3 1', 'reset 7 3', 'reset 9 3', 'reply 11 0', 'reset 13 3'])
  t.equal(streams.length, 3)
  streams[0]!.destroy()
  client.open({}, { id: 15 })
  await client.until('reply 15 0')
})

t.test('a PING is answered, and unknown frames are ignored', async (t) => {
  const { client } = connected(t)
  client.socket.write(numbersFrame(frameType.ping, 2))
  client.socket.write(controlFrame(10, Buffer.from('credential')))
  client.socket.write(numbersFrame(frameType.goAway, 0, 0))
  client.socket.write(numbersFrame(frameType.windowUpdate, 99, 1))
  client.socket.write(numbersFrame(frameType.rstStream, 99, 1))
  client.socket.write(numbersFrame(frameType.ping, 3))
  await client.until('ping 3')
  t.strictSame(client.events, ['ping 3'])
})

const settings = (window: number): Buffer => numbersFrame(frameType.settings, 1, 7, window)

t.test('violations of the protocol end the connection', async (t) => {
  const version2 = numbersFrame(frameType.ping, 1)
  version2[1] = 2
  for (const [what, frame] of [
    ['another version', version2],
    ['a huge control frame', controlFrame(frameType.ping, Buffer.alloc(20_000))],
    ['an unfinished huge control frame', controlFrame(frameType.settings, Buffer.alloc(20_000)).subarray(0, 8)],
    ['a short PING', controlFrame(frameType.ping, Buffer.alloc(2))],
    ['a short SYN_STREAM', controlFrame(frameType.synStream, Buffer.alloc(3))],
    ['a SYN_STREAM without headers', controlFrame(frameType.synStream, Buffer.alloc(10))],
    ['headers that cannot be decompressed', controlFrame(frameType.headers, Buffer.alloc(100))],
    ['a SYN_REPLY', numbersFrame(frameType.synReply, 1)],
    ['short SETTINGS', numbersFrame(frameType.settings, 2, 7, 1)],
    ['a huge number of SETTINGS', numbersFrame(frameType.settings, 0xffff_ffff)],
    ['a huge initial window', settings(0xffff_ffff)],
    ['an overflowing window', numbersFrame(frameType.windowUpdate, 0, 0x7fff_ffff)],
  ] as const) {
    const { client, ended } = connected(t)
    client.socket.write(frame)
    t.ok((await ended) instanceof ProtocolError, what)
    await client.until('goaway 1')
  }
})

t.test('a frame that the end of the connection cuts off is dropped', async (t) => {
  for (const bytes of [
    Buffer.of(0x80),
    controlFrame(frameType.ping, Buffer.alloc(4)).subarray(0, 10),
    Buffer.of(0, 0, 0, 1, 0, 0, 0, 9, 65),
  ]) {
    const { client, ended } = connected(t)
    client.socket.end(bytes)
    t.equal(await ended, undefined)
  }
})

t.test('a client without flow control is not limited', async (t) => {
  const { client, streams } = connected(t)
  client.open({})
  await client.until('reply 1 0')
  streams[0]!.write('x'.repeat(1_000_000))
  await until('all bytes arrive', () => client.received.get(1)?.length === 1_000_000)
})

t.test('a client with flow control gets as many bytes as its windows permit', async (t) => {
  const { client, streams } = connected(t)
  client.socket.write(settings(10))
  client.open({})
  client.open({})
  await client.until('reply 3 0')
  const received = (id: number): number => client.received.get(id)?.length ?? 0
  streams[0]!.write('x'.repeat(100_000))
  streams[1]!.write('y'.repeat(5))
  await until('the windows are used', () => received(1) === 10 && received(3) === 5)
  client.socket.write(numbersFrame(frameType.windowUpdate, 1, 20))
  await until('the window grows', () => received(1) === 30)
  client.socket.write(settings(30))
  await until('the windows of open streams grow, too', () => received(1) === 50)
  client.socket.write(numbersFrame(frameType.windowUpdate, 1, 1_000_000))
  await until('the window of the connection is used', () => received(1) === 64 * 1024 - 5)
  client.socket.write(numbersFrame(frameType.windowUpdate, 0, 1_000_000))
  await until('all bytes arrive', () => received(1) === 100_000)
  streams[1]!.write('y'.repeat(100))
  await until('the window of the other stream is used', () => received(3) === 30)
  client.socket.write(numbersFrame(frameType.rstStream, 3, 5))
  await until('the waiting write ends with the stream', () => streams[1]!.destroyed)
})

t.test('received bytes are permitted again, for the stream and for the connection', async (t) => {
  const { client, streams } = connected(t)
  client.open({})
  await client.until('reply 1 0')
  streams[0]!.resume()
  client.send(1, 'x'.repeat(40_000))
  await client.until('window 0 40000')
  await client.until('window 1 40000')
  client.send(1, 'x'.repeat(10))
  client.send(99, 'x'.repeat(40_000))
  await client.until('window 0 40010')
  t.strictSame(client.events, ['reply 1 0', 'window 0 40000', 'window 1 40000', 'window 0 40010'])
})

t.test('a stream that is not read stops the connection, until it is closed', async (t) => {
  const { client, streams } = connected(t)
  client.open({})
  await client.until('reply 1 0')
  for (let index = 0; index < 100; index += 1) client.send(1, 'x'.repeat(64 * 1024))
  client.socket.write(numbersFrame(frameType.ping, 1))
  await eventually(() => streams[0]!.readableLength > 0 && client.socket.writableNeedDrain)
  t.ok(streams[0]!.readableLength <= 128 * 1024, `${streams[0]!.readableLength} bytes are kept`)
  t.notOk(client.events.includes('ping 1'))
  streams[0]!.destroy()
  await client.until('ping 1')
})

t.test('a client that reads nothing gets no further replies', async (t) => {
  const { client, socket } = connected(t, { reads: false })
  const pings = Array.from({ length: 100_000 }, (_, index) => numbersFrame(frameType.ping, 2 * index + 1))
  for (let index = 0; index < pings.length; index += 1000) client.socket.write(Buffer.concat(pings.slice(index, index + 1000)))
  const replies = (): number => socket.writableLength + client.socket.readableLength
  let before = -1
  await until('the server waits', () => {
    const isWaiting = replies() > 0 && replies() === before
    before = replies()
    return isWaiting
  })
  t.ok(replies() < 300_000, `${replies()} bytes of replies wait`)
  t.ok(client.socket.writableLength > 0, 'the client waits, too')
  client.socket.destroy()
})

t.test('the end of the connection ends all streams and waits', async (t) => {
  const { client, streams, ended, connection } = connected(t)
  client.socket.write(settings(0))
  client.open({})
  client.open({})
  await client.until('reply 3 0')
  streams[0]!.write('waits for a window')
  client.send(3, 'x'.repeat(64 * 1024))
  await until('the connection waits for a reader', () => streams[1]!.readableLength > 0)
  client.socket.destroy()
  t.equal(await ended, undefined)
  await until('the streams are closed', () => streams.every(({ destroyed }) => destroyed))
  connection.close()
  connection.ping(() => t.fail('nothing can be sent any more'))
})

t.test('arbitrary bytes end the connection in order', async (t) => {
  const type = fc.constantFrom(...Object.values(frameType), 5, 10)
  const control = fc
    .tuple(type, fc.uint8Array({ maxLength: 40 }), fc.constantFrom(0, 1, 2))
    .map(([number, payload, flags]) => controlFrame(number, Buffer.from(payload), flags))
  const data = fc
    .tuple(fc.nat(9), fc.uint8Array({ maxLength: 40 }), fc.constantFrom(0, 1))
    .map(([id, bytes, flags]) => dataFrame(id, bytes, flags))
  const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(control, data, noise), { maxLength: 10 }), async (parts) => {
      const { client, ended, streams } = connected(t)
      client.open({})
      for (const part of parts) client.socket.write(part)
      client.socket.end()
      for (const stream of streams) stream.resume()
      const error = await ended
      client.socket.destroy()
      return error === undefined || error instanceof ProtocolError
    }),
    { numRuns: 200 },
  )
})
