/**
 * Tests of clients that disconnect, wait, read nothing or send too much during a session. The session must end, and its memory must stay
 * bounded.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { PassThrough, Readable, Writable } from 'node:stream'
import { connect } from 'node:tls'
import t from 'tap'
import type { ContainerSession } from '../../../../src/devcluster/rest/container-access.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { admin } from '../../../support/devcluster/http-server.ts'
import { startStreamServer } from '../../../support/devcluster/stream-server.ts'

const second = 1000
const hour = 3600 * second
const interactive = 'p/exec?stdin=1&stdout=1&command=cat'

/** A session whose process reads no input and never stops writing output. */
function stubbornSession() {
  const state = { written: 0, isClosed: false, taken: 0 }
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const session: ContainerSession = {
    stdin: new Writable({
      write(bytes: Buffer) {
        state.taken += bytes.length
      },
    }),
    stdout: new Readable({
      read() {
        state.written += chunk.length
        this.push(chunk)
      },
    }),
    resize: () => undefined,
    exited: new Promise(() => undefined),
    close: () => (state.isClosed = true),
  }
  return { state, session }
}

for (const protocol of ['WebSocket', 'SPDY'])
  t.test(`${protocol}: a client that leaves while its input is not read is noticed by heartbeats`, async (t) => {
    const clock = new FakeClock()
    const { webSocket, spdy, containers } = await startStreamServer(t, { clock })
    const { state, session } = stubbornSession()
    containers.exec = () => Promise.resolve({ ...session, stdout: new PassThrough() })
    const input = 'x'.repeat(64 * 1024)
    let leave: () => void
    if (protocol === 'WebSocket') {
      const { socket } = await webSocket(interactive)
      // Node.js sends the messages until the server stops reading.
      for (let index = 0; index < 200; index += 1) socket.send(Buffer.concat([Buffer.of(0), Buffer.from(input)]))
      leave = () => socket.terminate()
    } else {
      const client = await spdy(interactive, 'v4.channel.k8s.io')
      for (const type of ['error', 'stdin', 'stdout']) client.open({ streamType: type })
      for (let index = 0; index < 200; index += 1) client.send(3, input)
      leave = () => client.socket.destroy()
    }
    await until('input arrives', () => state.taken > 0)
    leave()
    await until('the heartbeats fail', async () => {
      await clock.advance(10 * second)
      return state.isClosed
    })
    t.ok(state.taken <= 64 * 1024, 'the process has taken one chunk only')
    await until('no timer is left', () => clock.pending === 0)
  })

for (const protocol of ['WebSocket', 'SPDY'])
  t.test(`${protocol}: a client that reads nothing stops the process, and is disconnected after four hours`, async (t) => {
    const clock = new FakeClock()
    const { webSocket, spdy, containers } = await startStreamServer(t, { clock })
    const { state, session } = stubbornSession()
    containers.exec = () => Promise.resolve(session)
    if (protocol === 'WebSocket') {
      const { socket } = await webSocket(interactive)
      socket.pause()
    } else {
      const client = await spdy(interactive, 'v4.channel.k8s.io')
      for (const type of ['error', 'stdin', 'stdout']) client.open({ streamType: type })
      client.socket.pause()
      client.socket.removeAllListeners('readable')
    }
    let before = -1
    await until('the process waits', () => {
      const isWaiting = state.written > 0 && state.written === before
      before = state.written
      return isWaiting
    })
    t.ok(state.written < 50_000_000, `the process wrote ${state.written} bytes`)
    for (let index = 0; index < 4; index += 1) await clock.advance(hour - 20 * second)
    t.equal(state.isClosed, false)
    await clock.advance(200 * second)
    await until('the session is closed', () => state.isClosed)
  })

t.test('a quiet client that answers heartbeats stays connected', async (t) => {
  const clock = new FakeClock()
  const { webSocket, spdy, containers } = await startStreamServer(t, { clock })
  const quiet = await webSocket(interactive)
  const other = await spdy(interactive, 'v4.channel.k8s.io')
  for (const type of ['error', 'stdin', 'stdout']) other.open({ streamType: type })
  await until('both commands run', () => containers.sessions.length === 2)
  for (let index = 0; index < 10; index += 1) {
    const pinged = once(quiet.socket, 'ping')
    await clock.advance(10 * second)
    await pinged
    await until('the SPDY client is pinged', () => other.events.filter((event) => event === 'ping 2').length > index)
  }
  quiet.send(0, 'hello')
  await until('the echo arrives', () => quiet.received.get(1) === 'hello')
})

t.test('a SPDY client that does not open its streams is disconnected after 30 seconds', async (t) => {
  const clock = new FakeClock()
  const { spdy, containers } = await startStreamServer(t, { clock })
  const client = await spdy(interactive, 'v4.channel.k8s.io')
  client.open({ streamType: 'error' })
  await client.until('reply 1 0')
  await clock.advance(29 * second)
  t.notOk(client.events.includes('goaway 0'))
  await clock.advance(second)
  await client.until('closed')
  t.ok(client.events.includes('goaway 0'))
  t.strictSame(containers.sessions, [])
})

t.test('a session that begins after its client has left is closed', async (t) => {
  const clock = new FakeClock()
  const { webSocket, containers } = await startStreamServer(t, { clock })
  const started = Promise.withResolvers<ContainerSession>()
  let isRequested = false
  containers.exec = () => {
    isRequested = true
    return started.promise
  }
  const client = await webSocket(interactive)
  await until('the command is requested', () => isRequested)
  client.socket.terminate()
  await until('the server has noticed, and sends no heartbeats', () => clock.pending === 0)
  const { state, session } = stubbornSession()
  started.resolve(session)
  await until('the session is closed', () => state.isClosed)
})

t.test('a command whose input was not read ends for its client, too', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const { state, session } = stubbornSession()
  const exited = Promise.withResolvers<number>()
  const stdout = new PassThrough()
  containers.exec = () => Promise.resolve({ ...session, stdout, exited: exited.promise })
  const client = await webSocket(interactive)
  const input = Buffer.concat([Buffer.of(0), Buffer.alloc(64 * 1024)])
  for (let index = 0; index < 200; index += 1) client.socket.send(input)
  await until('input arrives', () => state.taken > 0)
  exited.resolve(0)
  stdout.end()
  let code: number | undefined
  void client.closed.then((closed) => (code = closed))
  t.equal(await until('the connection is closed', () => code), 1000)
})

t.test('a message of more than 32 MiB ends the connection', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const client = await webSocket(interactive)
  client.socket.send(Buffer.alloc(33 * 1024 * 1024))
  t.match(await client.closed, /1009|1006/)
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})

t.test('a process in the background keeps the command open until it closes its output', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const { state, session } = stubbornSession()
  const stdout = new PassThrough()
  containers.exec = () => Promise.resolve({ ...session, stdout, exited: Promise.resolve(0) })
  const client = await webSocket(interactive)
  stdout.write('early')
  await until('the first output arrives', () => client.received.get(1) === 'early')
  t.strictSame([client.received.get(3), state.isClosed], [undefined, false])
  stdout.end(' late')
  t.equal(await client.closed, 1000)
  t.equal(client.received.get(1), 'early late')
  t.match(JSON.parse(client.received.get(3) ?? ''), { status: 'Success' })
  t.equal(state.isClosed, true)
})

t.test('the end of the server ends the sessions', async (t) => {
  const { webSocket, spdy, containers, server } = await startStreamServer(t)
  const first = await webSocket(interactive)
  const second = await spdy(interactive, 'v4.channel.k8s.io')
  for (const type of ['error', 'stdin', 'stdout']) second.open({ streamType: type })
  await until('both commands run', () => containers.sessions.length === 2)
  await server.close()
  await Promise.all([first.closed, second.until('closed')])
  t.ok(containers.sessions.every(({ isClosed }) => isClosed))
})

t.test('only requests for containers can change the protocol of their connection', async (t) => {
  const { server, ca } = await startStreamServer(t)
  const send = async (method: string, path: string, body: string): Promise<number | undefined> => {
    const headers = { connection: 'Upgrade', upgrade: 'h2c', authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
    const sent = request(`${server.url}${path}`, { ca, method, headers })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  t.equal(await send('GET', '/version', ''), 200)
  t.equal(await send('GET', '/api/v1/namespaces/default/pods/p/log', ''), 200)
  t.equal(await send('POST', '/apis/apps/v1/namespaces/default/deployments', '{}'), 201)
})

t.test('an upgrade that does not wait for the response before it ends the connection only', async (t) => {
  const { server, ca, send } = await startStreamServer(t)
  const socket = connect({ port: server.port, host: '127.0.0.1', ca })
  socket.on('error', () => undefined)
  const head = (path: string, ...lines: readonly string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${admin}`, ...lines, '', ''].join('\r\n')
  socket.resume()
  socket.write(
    head('/api/v1/namespaces/default/pods?watch=true') +
      head('/api/v1/namespaces/default/pods/p/exec?stdout=1&command=ls', 'Connection: Upgrade', 'Upgrade: websocket'),
  )
  await once(socket, 'close')
  t.match(await send('/version'), { code: 200 })
})

t.test('a connection within the process can be upgraded, too', async (t) => {
  const { server, containers } = await startStreamServer(t)
  const socket = server.connect()
  socket.write(
    [
      'GET /api/v1/namespaces/default/pods/p/exec?stdout=1&command=echo&command=hello HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${admin}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
      '',
      '',
    ].join('\r\n'),
  )
  let received = ''
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')))
  await until('the output arrives', () => received.includes('\u0001hello\n'))
  t.match(received, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  socket.destroy()
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})
