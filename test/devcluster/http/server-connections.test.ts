/**
 * Tests of the connections and requests of the HTTPS server. The server must handle the errors of connections and requests, and must forget
 * connections and requests that have ended.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { EventEmitter } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import t from 'tap'
import type { Test } from 'tap'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { admin, foo, rowOf, rows, startTestServer } from '../../support/devcluster/http-server.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'

const foos = '/apis/a.example.com/v1/namespaces/default/foos'

/** Returns the messages that Node.js publishes on a channel during the test. */
function published<Message>(t: Test, channel: string): Message[] {
  const messages: Message[] = []
  const listener = (message: unknown): void => void messages.push(message as Message)
  subscribe(channel, listener)
  t.teardown(() => unsubscribe(channel, listener))
  return messages
}

interface Received {
  readonly server: EventEmitter
  readonly response: EventEmitter
}

t.test('no object but a namespace has a path below the namespace of its own name', async (t) => {
  const nodes = rowOf({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
  const { send } = await startTestServer(t, { catalog: new Catalog([...rows, nodes]) })
  t.match(await send('/api/v1/nodes/x'), { code: 404, json: { message: 'nodes "x" not found' } })
  const elsewhere = { code: 404, json: { message: 'the server could not find the requested resource' } }
  t.match(await send('/api/v1/namespaces/x/nodes/x'), elsewhere)
  t.match(await send('/api/v1/namespaces/x/nodes'), elsewhere)
})

t.test('no object but a Pod has a log', async (t) => {
  const secrets = rowOf({ group: '', version: 'v1', kind: 'Secret', plural: 'secrets' })
  const { send } = await startTestServer(t, { catalog: new Catalog([...rows, secrets]), registry: { get: () => foo('a') } })
  t.match(await send('/api/v1/namespaces/x/secrets/a/log'), { code: 404 })
  t.match(await send('/api/v1/namespaces/x/pods/a/log'), { code: 204 })
})

t.test('close ends a connection whose TLS handshake has not begun', async (t) => {
  const accepted = published(t, 'net.server.socket')
  const { server } = await startTestServer(t)
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  const ended = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve))
  await until('the server has accepted it', () => accepted.length === 1)
  await server.close()
  await ended
})

t.test('a connection within the process needs credentials, has no socket, and ends with the server', async (t) => {
  const accepted = published(t, 'net.server.socket')
  const { server } = await startTestServer(t, { catalog: new Catalog(rows), registry: { get: () => foo('a') } })
  const clientWith = (token?: string): Client => {
    const authorization = token === undefined ? {} : { authorization: () => Promise.resolve(`Bearer ${token}`) }
    const client = createClient({ server: server.url, describe: 'a test', dial: () => server.connect(), ...authorization })
    t.teardown(() => client.close())
    return client
  }
  t.match(await clientWith(admin).raw(`${foos}/a`), { kind: 'Foo' })
  await t.rejects(clientWith('another').raw(`${foos}/a`), /Unauthorized/)
  await t.rejects(clientWith().raw(`${foos}/a`), /User "system:anonymous" cannot get resource "foos"/)
  t.strictSame(accepted, [])
  const connection = server.connect()
  const ended = once(connection, 'close')
  await server.close()
  await ended
})

t.test('a connection that has ended is forgotten', async (t) => {
  const accepted = published<{ readonly socket: Socket }>(t, 'net.server.socket')
  const { server, agent, send } = await startTestServer(t)
  await send('/version')
  const [{ socket }] = accepted as [{ readonly socket: Socket }]
  await Promise.all([once(socket, 'close'), agent.destroy()])
  const destroyed = t.capture(socket, 'destroy')
  await server.close()
  t.strictSame(destroyed(), [])
})

t.test('an error of a response aborts its request, and does not end the process', async (t) => {
  const received = published<Received>(t, 'http.server.request.start')
  const asked = Promise.withResolvers<AbortSignal>()
  const { send } = await startTestServer(t, {
    registry: {
      create: (_info, _namespace, { object }, { signal }) => {
        asked.resolve(signal)
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(object), { once: true }))
      },
    },
  })
  const creating = send(foos, { method: 'POST', body: JSON.stringify(foo('a')) })
  const signal = await asked.promise
  t.equal(signal.aborted, false)
  received[0]!.response.emit('error', new Error('write EPIPE'))
  t.equal(signal.aborted, true)
  t.equal((await creating).code, 201)
})

t.test('a failure before the response is logged, and ends the connection', async (t) => {
  const { logger, entries } = recordingLogger()
  const clock = new FakeClock()
  const { send } = await startTestServer(t, { logger, clock })
  const broken = t.intercept(clock, 'now', {
    value: () => {
      throw new Error('no time')
    },
    configurable: true,
  })
  await t.rejects(send('/version'), { code: 'UND_ERR_SOCKET' })
  broken.restore()
  t.match(entries, [{ level: 'error', msg: 'a request failed', err: { message: 'no time' } }])
  t.equal((await send('/version')).code, 200)
})

t.test('a failure to record a request is logged, and the server continues', async (t) => {
  const { logger, entries } = recordingLogger()
  let failures = 1
  const { send } = await startTestServer(t, {
    logger,
    onRequest: () => {
      failures -= 1
      if (failures === 0) throw new Error('no room')
    },
  })
  await send('/version')
  await until('the failure is logged', () => entries.length > 0)
  t.match(entries, [{ level: 'error', msg: 'a request failed', err: { message: 'no room' } }])
  t.equal((await send('/version')).code, 200)
  t.equal(entries.length, 1)
})

t.test('a request that ended before is not waited for', async (t) => {
  const { server, send } = await startTestServer(t)
  for (const path of ['/version', '/nothing']) await send(path)
  const waited = t.capture(Promise, 'allSettled', Promise.allSettled.bind(Promise))
  await server.close()
  t.strictSame(
    waited().map(({ args: [requests] }) => [...requests].length),
    [0],
  )
})

t.test('malformed HTTP is answered while its connection is open', async (t) => {
  const received = published<Received>(t, 'http.server.request.start')
  const { send } = await startTestServer(t)
  await send('/version')
  const { server } = received[0]!
  for (const [code, status] of [
    ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
    ['HPE_INVALID_METHOD', '400 Bad Request'],
  ]) {
    const socket = new PassThrough()
    server.emit('clientError', Object.assign(new Error('x'), { code }), socket)
    t.equal(String(socket.read()), `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    t.strictSame([socket.writableEnded, socket.destroyed], [true, false])
  }
  const reset = new PassThrough()
  server.emit('clientError', Object.assign(new Error('x'), { code: 'ECONNRESET' }), reset)
  t.strictSame([reset.destroyed, reset.writableEnded], [true, false])
  const ended = new PassThrough()
  ended.end()
  server.emit('clientError', Object.assign(new Error('x'), { code: 'HPE_INVALID_METHOD' }), ended)
  t.equal(ended.destroyed, true)
})

t.test('a failed accept is logged with its cause', async (t) => {
  const received = published<Received>(t, 'http.server.request.start')
  const { logger, entries } = recordingLogger()
  const { send } = await startTestServer(t, { logger })
  await send('/version')
  received[0]!.server.emit('error', new Error('accept EMFILE'))
  t.match(entries, [{ level: 'warn', msg: 'the API server could not accept a connection', err: { message: 'accept EMFILE' } }])
})

t.test('a failed TLS handshake is logged at level debug', async (t) => {
  const { logger, entries } = recordingLogger('debug')
  const { server } = await startTestServer(t, { logger })
  connect({ port: server.port, host: '127.0.0.1' })
    .on('error', () => undefined)
    .end('no TLS')
  await until('it is logged', () => entries.length > 0)
  t.match(entries, [{ level: 'debug', msg: 'a TLS handshake failed', err: /./ }])
})
