import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:tls'
import t from 'tap'
import type { ServingCertificate } from '../../src/certs/serving-certificate.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { webhookCheck } from '../../src/manager/webhook-check.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { servedNames, trustShapes } from '../support/certs/trust-shapes.ts'

async function certificate(now = Date.now()): Promise<ServingCertificate> {
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['proreus-webhook.proreus-system.svc', 'localhost'], ips: [], now })
  return { ...leaf, caBundle: authority.cert, notAfter: new Date(now + 1000) }
}

async function setUp(t: Tap, serverName = 'proreus-webhook.proreus-system.svc', own?: ServingCertificate): Promise<World> {
  const served = own ?? (await certificate())
  let current = served
  let dials = 0
  const server = createServer({ cert: served.cert, key: served.key }, (socket) => {
    socket.on('error', () => undefined).end()
  })
  server.on('connection', () => (dials += 1))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const clock = new FakeClock()
  const { port } = server.address() as AddressInfo
  const check = webhookCheck({ host: '127.0.0.1', port, serverName, certificates: { current: () => current }, clock })
  return { check, clock, server, dials: () => dials, publish: (next) => (current = next) }
}
type Tap = Pick<typeof t, 'teardown'>
interface World {
  check: ReturnType<typeof webhookCheck>
  clock: FakeClock
  server: ReturnType<typeof createServer>
  dials: () => number
  publish: (next: ServingCertificate) => void
}

t.test('a port that answers with a trusted leaf is ready, and the result is cached for a while', async (t) => {
  const { check, clock, dials, server } = await setUp(t)
  t.strictSame(await Promise.all([check.problem(), check.problem()]), [undefined, undefined])
  t.equal(await check.problem(), undefined)
  t.equal(dials(), 1)
  await clock.advance(4_999)
  t.equal(await check.problem(), undefined)
  t.equal(dials(), 1)
  await clock.advance(1)
  t.equal(await check.problem(), undefined)
  t.equal(dials(), 2)
  await new Promise((resolve) => server.close(resolve))
  t.equal(await check.problem(), undefined, 'still cached')
  await clock.advance(5_000)
  t.match(await check.problem(), /does not answer.*ECONNREFUSED/)
})

t.test('failures are not cached, and a time of day that is set does not change how long a success is cached', async (t) => {
  const { check, clock, dials, publish } = await setUp(t)
  const { problem } = check
  t.equal(await problem(), undefined)
  clock.set(clock.now() - 60_000)
  await clock.advance(4_999)
  t.equal(await problem(), undefined)
  t.equal(dials(), 1)
  await clock.advance(1)
  t.equal(await problem(), undefined)
  t.equal(dials(), 2)
  publish(await certificate())
  t.match(await problem(), /does not answer/)
  t.match(await problem(), /does not answer/)
  t.equal(dials(), 4)
})

t.test('a leaf that the published bundle does not trust is not ready, despite a cached success', async (t) => {
  const { check, publish } = await setUp(t)
  t.equal(await check.problem(), undefined)
  publish(await certificate())
  t.match(await check.problem(), /does not answer with a certificate that caBundle trusts/)
})

t.test('a leaf for other names is not ready', async (t) => {
  const { check } = await setUp(t, 'other.svc')
  t.match(await check.problem(), /caBundle trusts: .*other\.svc/)
})

t.test('a port that does not speak TLS is not ready', async (t) => {
  const server = createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const current = await certificate()
  const { port } = server.address() as AddressInfo
  const check = webhookCheck({
    host: '0.0.0.0',
    port,
    serverName: 'localhost',
    certificates: { current: () => current },
    clock: new FakeClock(),
  })
  const expected = `port ${port} does not answer with a certificate that caBundle trusts: `
  const problem = await check.problem()
  t.ok(problem?.startsWith(expected), String(problem))
  t.notMatch(problem, /ECONNREFUSED/)
})

t.test('a server on all addresses is checked on loopback', async (t) => {
  const own = await certificate()
  const { server, dials, clock } = await setUp(t, 'localhost', own)
  const { port } = server.address() as AddressInfo
  for (const host of [undefined, '0.0.0.0', '127.0.0.1'])
    t.equal(
      await webhookCheck({ host, port, serverName: 'localhost', certificates: { current: () => own }, clock }).problem(),
      undefined,
      String(host),
    )
  t.equal(dials(), 3)
})

t.test('a server on all addresses of IPv6 is checked on its loopback', async (t) => {
  const own = await certificate()
  let dials = 0
  const server = createServer({ cert: own.cert, key: own.key }, (socket) => socket.on('error', () => undefined).end())
  server.on('connection', () => (dials += 1))
  t.teardown(() => server.close())
  const listening = await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host: '::1', port: 0 }, () => resolve(true))
  })
  if (listening === false) return t.comment('this machine has no IPv6')
  const { port } = server.address() as AddressInfo
  const current = (): ServingCertificate => own
  for (const host of ['::', '::1'])
    t.equal(
      await webhookCheck({ host, port, serverName: 'localhost', certificates: { current }, clock: new FakeClock() }).problem(),
      undefined,
      host,
    )
  t.equal(dials, 2)
})

t.test("a port without an answer is not waited for longer than the kubelet's timeout", async (t) => {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => void sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const current = await certificate()
  const { port } = server.address() as AddressInfo
  const check = webhookCheck({ port, serverName: 'localhost', certificates: { current: () => current }, clock: new FakeClock() })
  t.equal(await check.problem(), `port ${port} did not answer within 900 ms`)
  t.equal(sockets.length, 1)
  if (!sockets[0]!.closed) await once(sockets[0]!.resume(), 'close')
  t.ok(sockets[0]!.closed, 'the connection is closed')
})

t.test('a bundle is trusted like by the API server', async (t) => {
  const { served, trusted, untrusted } = trustShapes()
  const notAfter = new Date(Date.now() + 1000)
  const problemWith = async (caBundle: string): Promise<string | undefined> => {
    const { check } = await setUp(t, servedNames[0], { ...served, caBundle, notAfter })
    return check.problem()
  }
  for (const [name, caBundle] of trusted) t.equal(await problemWith(caBundle), undefined, name)
  for (const [name, caBundle] of untrusted) t.match(await problemWith(caBundle), /that caBundle trusts/, name)
})

t.test('a certificate for an IP address only is accepted', async (t) => {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: [], ips: ['10.1.2.3'], now })
  const own = { ...leaf, caBundle: authority.cert, notAfter: new Date(now + 1000) }
  t.equal(await (await setUp(t, '10.1.2.3', own)).check.problem(), undefined)
  t.match(await (await setUp(t, '10.1.2.4', own)).check.problem(), /10\.1\.2\.4/)
})
