/** Tests of the limits that protect the servers for probes and metrics from hostile clients. */
import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { Handler } from '../../src/manager/http-endpoint.ts'
import { startHttpEndpoint } from '../../src/manager/http-endpoint.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { aborted } from '../../src/runtime/waiting.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { until } from '../../src/testing/until.ts'

interface Endpoint {
  readonly url: string
  open(): Promise<Socket>
}

async function endpoint(t: Test, handler: Handler): Promise<Endpoint> {
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [handler],
    clock: systemClock,
    logger: silentLogger(),
  })
  t.after(close)
  return {
    url: `http://127.0.0.1:${address.port}`,
    async open() {
      const socket = connect(address.port, '127.0.0.1')
      socket.on('error', () => undefined)
      t.after(() => socket.destroy())
      await once(socket, 'connect')
      return socket.resume()
    },
  }
}

const ok = { code: 200, body: 'ok' }

t.test('the oldest of too many connections are closed, and others are answered', async (t) => {
  const { url, open } = await endpoint(t, () => ok)
  const sockets: Socket[] = []
  for (let count = 0; count < 70; count += 1) {
    const socket = await open()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
    sockets.push(socket)
  }
  t.equal((await fetch(url, { headers: { connection: 'close' } })).status, 200)
  const gone = (): number => sockets.filter(({ destroyed }) => destroyed).length
  await until('six and the one for the others are closed', () => gone() === 7)
  t.strictSame(
    sockets.map(({ destroyed }) => destroyed),
    sockets.map((_, index) => index < 7),
  )
})

t.test('long headers are refused', async (t) => {
  const { url } = await endpoint(t, () => ok)
  t.equal((await fetch(url, { headers: { long: 'x'.repeat(3000) } })).status, 200)
  t.equal((await fetch(url, { headers: { long: 'x'.repeat(5000) } })).status, 431)
})

t.test('too many pipelined requests close the connection', async (t) => {
  let called = 0
  const { open } = await endpoint(t, () => {
    called += 1
    return new Promise<never>(() => undefined)
  })
  const socket = await open()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000))
  await once(socket, 'close')
  t.equal(called, 4, 'the remaining requests are ignored')
})

t.test('handlers are called in order, and errors and invalid URLs are answered', async (t) => {
  const called: string[] = []
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [
      ({ pathname, search }) => {
        called.push(pathname + search)
        if (pathname === '/throws') throw new Error('no luck')
        return pathname === '/first' ? { ...ok, contentType: 'text/x' } : undefined
      },
      async ({ pathname }) => (pathname === '/second' || pathname === '/first' ? { code: 202, body: 'second' } : undefined),
    ],
    clock: systemClock,
    logger: silentLogger(),
  })
  t.after(close)
  t.equal(address.host, '127.0.0.1')
  const get = async (path: string): Promise<unknown[]> => {
    const response = await fetch(`http://127.0.0.1:${address.port}${path}`)
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  const type = 'text/plain; charset=utf-8'
  t.strictSame(await get('/first?a=b'), [200, 'text/x', 'ok'])
  t.strictSame(await get('/second'), [202, type, 'second'])
  t.strictSame(await get('/third'), [404, type, 'not found\n'])
  t.strictSame(await get('/throws'), [500, type, 'no luck\n'])
  t.strictSame(called, ['/first?a=b', '/second', '/third', '/throws'])
  const statusOf = async (method: string): Promise<unknown[]> => {
    const response = await fetch(`http://127.0.0.1:${address.port}/second`, { method })
    return [response.status, response.headers.get('cache-control'), response.headers.get('x-content-type-options'), await response.text()]
  }
  t.strictSame(await statusOf('HEAD'), [202, 'no-store', 'nosniff', ''])
  t.strictSame(await statusOf('GET'), [202, 'no-store', 'nosniff', 'second'])
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    t.strictSame(await statusOf(method), [405, 'no-store', 'nosniff', 'only GET is answered here\n'])
  const socket = connect(address.port, '127.0.0.1')
  socket.end('GET http://[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 400 [^]*\r\n\r\n(?:[0-9a-f]+\r\n)?this is not a URL\n/)
})

t.test('a failed accept is logged, and does not stop the server, which has time limits for requests', async (t) => {
  const { logger, entries } = recordingLogger()
  const servers: Server[] = []
  const listen = Reflect.get(Server.prototype, 'listen') as (...args: unknown[]) => Server
  const capture = t.capture(Server.prototype, 'listen', function (this: Server, ...args: unknown[]) {
    servers.push(this)
    return listen.apply(this, args)
  })
  const { close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [],
    clock: systemClock,
    logger,
  })
  t.after(close)
  capture.restore()
  servers[0]!.emit('error', new Error('too many open files'))
  const { headersTimeout, requestTimeout } = servers[0] as unknown as Record<string, unknown>
  t.strictSame([headersTimeout, requestTimeout], [5000, 10_000], 'slow senders are given up')
  t.match(entries, [{ level: 'warn', msg: 'the server for --test could not accept a connection', err: { message: 'too many open files' } }])
  t.equal(entries.length, 1)
})

t.test('a stream for a client that has disconnected is destroyed', async (t) => {
  const body = new PassThrough()
  const called = Promise.withResolvers<void>()
  const server = await endpoint(t, async (_, { signal }) => {
    called.resolve()
    await aborted(signal)
    return { code: 200, body }
  })
  const socket = await server.open()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await called.promise
  socket.destroy()
  await until('the stream is destroyed', () => body.destroyed)
})

t.test('a client that disconnects in the middle of a stream ends the stream, and causes no unhandled rejection', async (t) => {
  const body = new PassThrough()
  body.write('first')
  const server = await endpoint(t, () => ({ code: 200, body }))
  const socket = await server.open()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  const unhandled: unknown[] = []
  const onRejection = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', onRejection)
  t.teardown(() => process.off('unhandledRejection', onRejection))
  socket.destroy()
  await until('the stream is destroyed', () => body.destroyed)
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(unhandled, [])
})

t.test('the close does not wait for a request in flight', async () => {
  const called = Promise.withResolvers<void>()
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [
      () => {
        called.resolve()
        return new Promise<never>(() => undefined)
      },
    ],
    clock: systemClock,
    logger: silentLogger(),
  })
  const socket = connect(address.port, '127.0.0.1').on('error', () => undefined)
  const closed = once(socket.resume(), 'close')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await called.promise
  await Promise.all([close(), closed])
})
