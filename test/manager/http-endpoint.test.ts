/** What whoever reaches the ports of probes and metrics can do to the process. */
import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { Handler } from '../../src/manager/http-endpoint.ts'
import { startHttpEndpoint } from '../../src/manager/http-endpoint.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { recordingLogger } from '../support/certs-recording-logger.ts'
import { until } from '../support/process.ts'

interface Endpoint {
  readonly url: string
  open(): Promise<Socket>
}

async function endpoint(t: Test, handler: Handler): Promise<Endpoint> {
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [handler],
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

t.test('of many connections the oldest have to go, and others are answered', async (t) => {
  const { url, open } = await endpoint(t, () => ok)
  const sockets: Socket[] = []
  for (let count = 0; count < 70; count += 1) {
    const socket = await open()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
    sockets.push(socket)
  }
  t.equal((await fetch(url, { headers: { connection: 'close' } })).status, 200)
  const gone = (): number => sockets.filter(({ destroyed }) => destroyed).length
  await until('six and the one for the others have gone', () => gone() === 7)
  t.strictSame(
    sockets.map(({ destroyed }) => destroyed),
    sockets.map((_, index) => index < 7),
  )
})

t.test('headers are as long as a probe needs them', async (t) => {
  const { url } = await endpoint(t, () => ok)
  t.equal((await fetch(url, { headers: { long: 'x'.repeat(3000) } })).status, 200)
  t.equal((await fetch(url, { headers: { long: 'x'.repeat(5000) } })).status, 431)
})

t.test('many requests in a row end the connection', async (t) => {
  let asked = 0
  const { open } = await endpoint(t, () => {
    asked += 1
    return new Promise<never>(() => undefined)
  })
  const socket = await open()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000))
  await once(socket, 'close')
  t.equal(asked, 4, 'and what came with them is not looked at')
})

t.test('handlers are asked in their order; what they throw, and what is no URL, is answered', async (t) => {
  const asked: string[] = []
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [
      ({ pathname, search }) => {
        asked.push(pathname + search)
        if (pathname === '/throws') throw new Error('no luck')
        return pathname === '/first' ? { ...ok, contentType: 'text/x' } : undefined
      },
      async ({ pathname }) => (pathname === '/second' || pathname === '/first' ? { code: 202, body: 'second' } : undefined),
    ],
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
  t.strictSame(asked, ['/first?a=b', '/second', '/third', '/throws'])
  const socket = connect(address.port, '127.0.0.1')
  socket.end('GET http://[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 400 [^]*\r\n\r\n(?:[0-9a-f]+\r\n)?this is no URL\n/)
})

t.test('a connection that cannot be accepted is logged, and ends nothing', async (t) => {
  const { logger, lines } = recordingLogger()
  const servers: Server[] = []
  const listen = Reflect.get(Server.prototype, 'listen') as (...args: unknown[]) => Server
  const capture = t.capture(Server.prototype, 'listen', function (this: Server, ...args: unknown[]) {
    servers.push(this)
    return listen.apply(this, args)
  })
  const { close } = await startHttpEndpoint({ address: { host: '127.0.0.1', port: 0 }, flag: '--test', handlers: [], logger })
  t.after(close)
  capture.restore()
  servers[0]!.emit('error', new Error('too many open files'))
  t.strictSame(lines, ['warn: the server for --test could not accept a connection'])
})

t.test('the close waits for no request that is still being answered', async () => {
  const asked = Promise.withResolvers<void>()
  const { address, close } = await startHttpEndpoint({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--test',
    handlers: [
      () => {
        asked.resolve()
        return new Promise<never>(() => undefined)
      },
    ],
    logger: silentLogger(),
  })
  const socket = connect(address.port, '127.0.0.1').on('error', () => undefined)
  const closed = once(socket.resume(), 'close')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await asked.promise
  await Promise.all([close(), closed])
})
