/** Tests of port-forward: over SPDY, over SPDY that is tunnelled in a WebSocket, and over the channels of a WebSocket. */
import { once } from 'node:events'
import { PassThrough, duplexPair, type Duplex } from 'node:stream'
import t from 'tap'
import WebSocket from 'ws'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { SpdyClient } from '../../../support/devcluster/spdy-client.ts'
import type { ChannelClient, StreamServer } from '../../../support/devcluster/stream-server.ts'
import { startStreamServer } from '../../../support/devcluster/stream-server.ts'
import { echo, startTcpServer } from '../../../support/devcluster/tcp-server.ts'
import { textMessage, tunnelOver } from '../../../support/devcluster/tunnel-client.ts'

const version = 'portforward.k8s.io'
const refusal = 'error forwarding port 81 to pod p, uid a-uid: dial tcp 127.0.0.1:81: connect: connection refused'

const handshake = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64') }

async function tunnelSocket({ upgrade }: StreamServer): Promise<Duplex> {
  const headers = { ...handshake, 'sec-websocket-protocol': `SPDY/3.1+${version}` }
  const upgraded = await upgrade('p/portforward', headers, { method: 'GET' })
  if (!('socket' in upgraded)) throw new Error(`the upgrade was refused: ${upgraded.status.message}`)
  if (upgraded.headers['sec-websocket-protocol'] !== `SPDY/3.1+${version}`) throw new Error('another subprotocol')
  return upgraded.socket
}

async function tunnelled(server: StreamServer): Promise<SpdyClient> {
  const client = new SpdyClient(tunnelOver(await tunnelSocket(server)))
  void client.read()
  return client
}

/** Opens the two streams of a forwarded connection. Returns the ids of the data stream and the error stream. */
function open(client: SpdyClient, port: number, requestId: string | undefined): { readonly data: number; readonly error: number } {
  const headers = { port: String(port), ...(requestId === undefined ? {} : { requestID: requestId }) }
  const error = client.open({ ...headers, streamType: 'error' })
  return { error, data: client.open({ ...headers, streamType: 'data' }) }
}

for (const way of ['SPDY', 'SPDY in a WebSocket'])
  t.test(`${way}: several connections at once, each with its own end`, async (t) => {
    const server = await startStreamServer(t)
    const { port } = await startTcpServer(t, echo)
    server.containers.ports.set(80, port)
    const client = way === 'SPDY' ? await server.spdy('p/portforward', version) : await tunnelled(server)
    const pairs = Array.from({ length: 20 }, (_, index) => open(client, 80, String(index)))
    for (const { data } of pairs) client.send(data, `hello from ${data}`)
    await until('all echoes arrive', () => pairs.every(({ data }) => client.received.get(data) === `hello from ${data}`))
    const old = open(client, 80, undefined)
    client.send(old.data, 'an old client')
    client.end(old.data)
    await until('the connection ends', () => client.ended.has(old.data) && client.ended.has(old.error))
    t.equal(client.received.get(old.data), 'an old client')
    t.equal(client.received.get(old.error), '')
    const refused = open(client, 81, 'refused')
    await until('the error arrives', () => client.ended.has(refused.error))
    t.equal(client.received.get(refused.error), refusal)
    await client.until(`reset ${refused.data} 5`)
    const [first] = pairs
    client.send(first!.data, ' and again')
    await until('other connections continue', () => client.received.get(first!.data) === `hello from ${first!.data} and again`)
  })

t.test('invalid streams are refused', async (t) => {
  const { spdy } = await startStreamServer(t)
  const client = await spdy('p/portforward', version)
  for (const headers of [
    { streamType: 'data' },
    { streamType: 'data', port: '0' },
    { streamType: 'data', port: '65536' },
    { streamType: 'data', port: 'http' },
    { streamType: 'stdin', port: '80' },
    { port: '80' },
  ])
    client.open(headers as Record<string, string>)
  client.open({ streamType: 'error', port: '80', requestID: 'x' })
  client.open({ streamType: 'error', port: '80', requestID: 'x' })
  await client.until('reset 15 3')
  t.strictSame(client.events, ['reset 1 3', 'reset 3 3', 'reset 5 3', 'reset 7 3', 'reset 9 3', 'reset 11 3', 'reply 13 0', 'reset 15 3'])
})

t.test('a stream without its pair ends after 30 seconds', async (t) => {
  const clock = new FakeClock()
  const { spdy } = await startStreamServer(t, { clock })
  const client = await spdy('p/portforward', version)
  const error = client.open({ streamType: 'error', port: '80', requestID: 'a' })
  const data = client.open({ streamType: 'data', port: '80', requestID: 'b' })
  const reset = client.open({ streamType: 'data', port: '80', requestID: 'c' })
  await client.until(`reply ${reset} 0`)
  await clock.advance(30_000)
  await until('the error arrives', () => client.ended.has(error))
  t.equal(client.received.get(error), 'request a: timed out waiting for streams')
  await client.until(`reset ${data} 5`)
  client.socket.destroy()
  await until('no timer is left', () => clock.pending === 0)
})

t.test('a server that closes its direction first still receives', async (t) => {
  const { spdy, containers } = await startStreamServer(t)
  let received = ''
  const { port } = await startTcpServer(t, (socket) => {
    socket.end('bye')
    socket.on('data', (bytes) => (received += bytes.toString()))
  })
  containers.ports.set(80, port)
  const client = await spdy('p/portforward', version)
  const { data, error } = open(client, 80, '1')
  await until('the direction ends', () => client.ended.has(data))
  client.send(data, 'still here')
  await until('the server receives', () => received === 'still here')
  t.notOk(client.ended.has(error))
  client.end(data)
  await until('the connection ends', () => client.ended.has(error))
})

t.test('a client that leaves, and a stream that is reset, close the connections to the Pod', async (t) => {
  const server = await startStreamServer(t)
  const { port, sockets } = await startTcpServer(t, (socket) => socket.resume())
  server.containers.ports.set(80, port)
  for (const client of [await server.spdy('p/portforward', version), await tunnelled(server)]) {
    sockets.length = 0
    const first = open(client, 80, '1')
    open(client, 80, '2')
    await until('both connections are open', () => sockets.length === 2)
    client.end(first.error)
    client.socket.destroy()
    await until('both connections are closed', () => sockets.every((socket) => socket.destroyed || socket.readableEnded))
  }
})

t.test('a connection that opens after its client has left is closed', async (t) => {
  const clock = new FakeClock()
  const { spdy, containers } = await startStreamServer(t, { clock })
  const { promise, resolve } = Promise.withResolvers<Duplex>()
  let isRequested = false
  containers.connect = () => {
    isRequested = true
    return promise as ReturnType<typeof containers.connect>
  }
  const client = await spdy('p/portforward', version)
  open(client, 80, '1')
  await until('the connection is requested', () => isRequested)
  client.socket.destroy()
  await until('the server has noticed, and sends no heartbeats', () => clock.pending === 0)
  const late = new PassThrough()
  resolve(late)
  await until('the late connection is closed', () => late.destroyed)
})

t.test('a connection that the Pod breaks resets its stream only', async (t) => {
  const { spdy, containers } = await startStreamServer(t)
  const { port, sockets } = await startTcpServer(t, (socket) => socket.resume())
  containers.ports.set(80, port)
  const client = await spdy('p/portforward', version)
  const broken = open(client, 80, '1')
  const other = open(client, 80, '2')
  await until('both connections are open', () => sockets.length === 2)
  sockets[0]!.resetAndDestroy()
  const ids = [broken, other].map(({ data }) => `reset ${data} 5`)
  await until('one stream is reset', () => ids.some((event) => client.events.includes(event)))
  t.equal(client.events.filter((event) => event.startsWith('reset')).length, 1)
  t.equal(client.socket.destroyed, false)
})

t.test('a tunnel carries binary messages only, and stops when the Pod reads nothing', async (t) => {
  const server = await startStreamServer(t)
  const socket = await tunnelSocket(server)
  socket.resume().write(textMessage('text'))
  await once(socket, 'close')
  const [near, far] = duplexPair()
  t.teardown(() => far.destroy())
  server.containers.connect = () => Promise.resolve(near as unknown as Awaited<ReturnType<typeof server.containers.connect>>)
  const client = await tunnelled(server)
  const { data } = open(client, 80, '1')
  await client.until(`reply ${data} 0`)
  const chunk = 'x'.repeat(64 * 1024)
  for (let index = 0; index < 400; index += 1) client.send(data, chunk)
  let before = -1
  await until('the client waits', () => {
    const waiting = client.socket.writableLength
    const isWaiting = waiting > 0 && waiting === before
    before = waiting
    return isWaiting
  })
  t.ok(near.readableLength + near.writableLength + far.readableLength < 1_000_000)
  near.destroy()
  far.destroy()
  await client.until(`reset ${data} 5`)
})

const received = ({ received: channels }: ChannelClient, channel: number): string => channels.get(channel) ?? ''

for (const subprotocol of ['v4.channel.k8s.io', ''])
  t.test(`the channels of a WebSocket of the version ${JSON.stringify(subprotocol)} are the ports of the request`, async (t) => {
    const { webSocket, containers } = await startStreamServer(t)
    const { port, sockets } = await startTcpServer(t, (socket) => socket.on('data', (bytes) => socket.end(`<${bytes.toString()}>`)))
    containers.ports.set(80, port)
    const client = await webSocket('p/portforward?ports=80,81&ports=80', subprotocol === '' ? [] : [subprotocol])
    await until('all channels begin', () => [0, 1, 2, 3, 4, 5].every((channel) => received(client, channel) !== ''))
    t.strictSame([received(client, 0), received(client, 1)], ['P\0', 'P\0'])
    await until('the error arrives', () => received(client, 3).length > 2)
    t.equal(received(client, 3), `Q\0${refusal}`)
    client.send(0, 'one')
    await until('the answer arrives', () => received(client, 0).length > 2)
    t.equal(received(client, 0), 'P\0<one>')
    t.equal(client.socket.readyState, WebSocket.OPEN, 'the other port is still connected')
    client.send(4, 'two')
    t.equal(await client.closed, 1000)
    t.equal(received(client, 4), 'P\0<two>')
    await until('the connections are closed', () => sockets.every(({ destroyed }) => destroyed))
  })

/** The expected results are those of k8s.io/streaming/pkg/httpstream/wsstream: Conn.write, Conn.handle. */
t.test('in base64, one character is the number of a channel, up to the channels of 128 ports', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const { port } = await startTcpServer(t, echo)
  containers.ports.set(80, port)
  const ports = Array.from({ length: 128 }, () => '80').join()
  const client = await webSocket(`p/portforward?ports=${ports}`, ['v4.base64.channel.k8s.io'])
  const messages = (): string[] => client.messages.map((message) => Buffer.from(message, 'latin1').toString())
  await until('all channels begin', () => messages().length === 256)
  const characters = Array.from({ length: 256 }, (_, channel) => String.fromCharCode((0x30 + channel) % 256))
  t.strictSame(messages().sort(), characters.map((character) => `${character}UAA=`).sort())
  for (const channel of [8, 10, 88, 254]) {
    client.socket.send(`${characters[channel]}${Buffer.from(`to ${channel}`).toString('base64')}`)
    const echoed = `${characters[channel]}${Buffer.from(`to ${channel}`).toString('base64')}`
    await until(`channel ${channel} answers`, () => messages().includes(echoed))
  }
})

t.test('invalid ports and an unknown subprotocol are refused before the upgrade', async (t) => {
  const { upgrade } = await startStreamServer(t)
  for (const [query, protocol, code, message] of [
    ['', 'v4.channel.k8s.io', 400, 'query parameter "ports" is required'],
    ['ports=', 'v4.channel.k8s.io', 400, 'cannot convert to []int32: strconv.ParseUint: parsing "": invalid syntax'],
    ['ports=80,x', 'v4.channel.k8s.io', 400, 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'],
    ['ports=65536', 'v4.channel.k8s.io', 400, 'cannot convert to []int32: strconv.ParseUint: parsing "65536": value out of range'],
    ['ports=0', 'v4.channel.k8s.io', 400, 'port "0" must be > 0'],
    [
      `ports=${Array.from({ length: 129 }, () => '80').join()}`,
      'v4.channel.k8s.io',
      400,
      'query parameter "ports": 129 ports; the maximum is 128',
    ],
    ['ports=80', 'v5.channel.k8s.io', 403, /unable to negotiate protocol/],
    ['ports=80', 'SPDY/3.1+other.k8s.io', 403, /unable to negotiate protocol/],
  ] as const)
    t.match(
      await upgrade(`p/portforward?${query}`, { ...handshake, 'sec-websocket-protocol': protocol }, { method: 'GET' }),
      { code, status: { message } },
      `${query} ${protocol}`,
    )
  const unscheduled = await upgrade('unscheduled/portforward?ports=80', handshake, { method: 'GET' })
  t.match(unscheduled, { code: 400, status: { message: 'pod unscheduled does not have a host assigned' } })
})
