import t from 'tap'
import type { Test } from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { clientAs } from '../../src/client/client-as.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { RequestReport, Transport, TransportOptions } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'
import type { Tunnels } from '../support/client/proxies.ts'
import { startHttpProxy, startRelay, startSocksProxy } from '../support/client/proxies.ts'
import type { Handler, TestServer } from '../support/client/server.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'

const get = { method: 'GET', path: '/api/v1/pods' }
const post = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: '{}' }

/** Returns a guard that throws after `depose` was called. */
function leadership(): { guard: () => void; depose: () => void; calls: () => number; error: Error } {
  const error = new Error('not the leader')
  let leads = true
  let calls = 0
  return {
    guard: () => {
      calls += 1
      if (!leads) throw error
    },
    depose: () => (leads = false),
    calls: () => calls,
    error,
  }
}

async function setUp(
  t: Test,
  handler: Handler,
  options: TransportOptions & { connection?: Partial<Connection> } = {},
): Promise<{ server: TestServer; transport: Transport }> {
  const server = await startTestServer(handler)
  const { connection, ...rest } = options
  const transport = createTransport({ ...server.connection, ...connection }, { userAgent: 'test', ...rest })
  t.teardown(async () => (await transport.close(), await server.close()))
  return { server, transport }
}

const ways: readonly [
  name: string,
  start: (port: number, gate: () => Promise<void>) => Promise<Tunnels & { connection: Partial<Connection> }>,
][] = [
  [
    'without a proxy',
    async (port, gate) => {
      const relay = await startRelay(port, gate)
      return { ...relay, connection: { server: `https://${relay.address}` } }
    },
  ],
  [
    'through an HTTP proxy',
    async (_port, gate) => {
      const proxy = await startHttpProxy(gate)
      return { ...proxy, connection: { proxyUrl: `http://${proxy.address}` } }
    },
  ],
  [
    'through a SOCKS proxy',
    async (_port, gate) => {
      const proxy = await startSocksProxy(gate)
      return { ...proxy, connection: { proxyUrl: `socks5://${proxy.address}` } }
    },
  ],
]

for (const [name, start] of ways) {
  t.test(`a guard that throws while the request waits for a slow connection ${name}: nothing is sent`, async (t) => {
    const ca = testCertificate('ca')
    const server = await startTestServer(() => ({ body: {} }), { ...testCertificate('server', ca), ca: ca.cert })
    const connected = Promise.withResolvers<void>()
    const way = await start(Number(new URL(server.url).port), () => connected.promise)
    const transport = createTransport({ ...server.connection, ...way.connection })
    t.teardown(async () => {
      await transport.close()
      await server.close()
      await way.close()
    })
    const { guard, depose, error } = leadership()
    const attempts = [transport.request({ ...get, guard }), transport.request({ ...post, guard }), transport.stream({ ...get, guard })].map(
      (attempt) => attempt.catch((reason: unknown) => reason),
    )
    // The client has at least one connection for requests and one for streams.
    await eventually(() => way.tunnels.length >= 2)
    depose()
    connected.resolve()
    for (const attempt of attempts) t.equal(await attempt, error)
    t.strictSame(server.requests, [])
    await transport.request(get)
    await transport.stream({ ...get, guard: () => undefined })
    t.equal(server.requests.length, 2, 'other requests are sent')
  })
}

t.test('the guard is called before a request to a proxy that forwards it, for a server without TLS', async (t) => {
  // The test server is the proxy. A proxy receives requests with absolute URLs.
  const server = await startTestServer(() => ({ body: { ok: true } }))
  const proxied = createTransport({ server: 'http://api.example.com', proxyUrl: server.url, describe: 'a test' })
  t.teardown(async () => (await proxied.close(), await server.close()))
  const { guard, depose, calls, error } = leadership()
  t.strictSame((await proxied.request({ ...get, guard })).body, { ok: true })
  depose()
  await t.rejects(proxied.request({ ...get, guard }), error)
  t.equal(calls(), 2)
  t.strictSame(
    server.requests.map(({ url }) => url),
    ['http://api.example.com/api/v1/pods'],
  )
})

t.test('a guard that throws while the request waits for a free connection: nothing is sent', async (t) => {
  const held: (() => void)[] = []
  const { server, transport } = await setUp(t, (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    return undefined
  })
  const busy = Array.from({ length: 100 }, () => transport.request(get))
  await eventually(() => held.length === 100)
  const { guard, depose, calls, error } = leadership()
  const waiting = transport.request({ ...post, guard }).catch((reason: unknown) => reason)
  const allowed = transport.request({ ...post, guard: () => undefined })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(calls(), 0, 'the guard is not called before there is a connection')
  depose()
  held[0]!()
  t.equal(await waiting, error)
  await eventually(() => held.length === 101)
  held.slice(1).forEach((answer) => answer())
  await Promise.all([allowed, ...busy])
  t.equal(server.requests.length, 101)
  t.equal(server.sockets, 100, 'the connection of the refused request is used for the next one')
})

t.test('the guard is called before each attempt', async (t) => {
  const clock = new FakeClock()
  const answers = [
    { status: 401 },
    { status: 429, headers: { 'retry-after': '1' } },
    { body: { ok: true } },
    { status: 429, headers: { 'retry-after': '1' } },
  ]
  const reports: RequestReport[] = []
  let token = 0
  const { server, transport } = await setUp(t, (_request, _response, index) => answers[index]!, {
    clock,
    onRequest: (report) => reports.push(report),
    connection: { authorization: async () => `Bearer ${(token += 1)}` },
  })
  const leader = leadership()
  const allowed = transport.request({ ...post, guard: leader.guard })
  await eventually(() => reports.length === 2)
  await clock.untilPending()
  await clock.advance(2000)
  t.strictSame((await allowed).body, { ok: true })
  t.equal(leader.calls(), 3)

  const refused = transport.request({ ...post, guard: leader.guard }).catch((reason: unknown) => reason)
  await eventually(() => reports.length === 4)
  leader.depose()
  await clock.untilPending()
  await clock.advance(2000)
  t.equal(await refused, leader.error)
  t.equal(leader.calls(), 5)
  t.equal(server.requests.length, 4)
  t.strictSame(
    reports.map(({ code }) => code),
    [401, 429, 200, 429],
    'an attempt that is not sent is not reported',
  )
})

t.test('any value that a guard throws rejects the request, which is not retried', async (t) => {
  const { server, transport } = await setUp(t, () => ({ body: {} }))
  const reset = new Error('the Lease was not renewed', { cause: Object.assign(new Error('lost'), { code: 'ECONNRESET' }) })
  for (const thrown of [reset, 'a string', undefined]) {
    let calls = 0
    const guard = (): void => {
      calls += 1
      if (calls === 1) throw thrown as Error
    }
    const outcome = await transport.request({ ...get, guard }).then(
      () => 'sent',
      (error: unknown) => ({ error }),
    )
    t.strictSame(outcome, { error: thrown })
    t.equal(calls, 1)
  }
  t.strictSame(server.requests, [])
})

t.test('the time limit of a request replaces that of the transport', async (t) => {
  const clock = new FakeClock()
  const { server, transport } = await setUp(t, () => undefined, { clock, timeoutMs: 60_000 })
  const short = transport.request({ ...get, timeoutMs: 1000 }).catch((error: unknown) => error)
  await eventually(() => server.requests.length === 1)
  await clock.advance(1000)
  t.match(await short, { code: 'PRO_API_UNREACHABLE', message: /did not answer in time/ })
})

t.test('a client adds its guard and time limit to each request', async (t) => {
  const clock = new FakeClock()
  const { server, transport } = await setUp(t, () => undefined, { clock })
  const { guard, depose, error } = leadership()
  const client = clientAs(transport, { name: 'hello' }, { guard, timeoutMs: 5000 })
  const key = { namespace: 'ns', name: 'x' }
  const slow = client.get(configMap, key).catch((reason: unknown) => reason)
  await eventually(() => server.requests.length === 1)
  await clock.advance(5000)
  t.match(await slow, { code: 'PRO_API_UNREACHABLE' })
  depose()
  await t.rejects(client.delete(configMap, key), error)
  await t.rejects(client.watch(configMap, {})[Symbol.asyncIterator]().next(), error)
  t.equal(server.requests.length, 1)
})
