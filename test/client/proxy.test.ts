import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'
import { startHttpProxy, startSocksProxy } from '../support/client/proxies.ts'
import { startTestServer } from '../support/client/server.ts'
import { rejectionOf } from '../support/rejection.ts'

t.test('requests use an HTTP proxy, and check the certificate of the server behind it', async (t) => {
  const ca = testCertificate('ca')
  const server = await startTestServer(() => ({ body: { ok: true } }), { ...testCertificate('server', ca), ca: ca.cert })
  const proxy = await startHttpProxy()
  const proxyUrl = `http://${proxy.address}`
  const transport = createTransport({ ...server.connection, proxyUrl }, { userAgent: 'test' })
  const distrusting = createTransport({ ...server.connection, proxyUrl, ca: testCertificate('other').cert }, { userAgent: 'test' })
  t.teardown(async () => {
    await Promise.all([transport.close(), distrusting.close(), server.close()])
    await proxy.close()
  })
  t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
  t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
  t.ok(proxy.tunnels.length >= 1 && proxy.tunnels.every((host) => host === new URL(server.url).host))
  await t.rejects(distrusting.request({ method: 'GET', path: '/x' }), {
    code: 'PRO_API_UNREACHABLE',
    message: /not signed by an authority/,
  })
})

t.test('requests use a SOCKS proxy', async (t) => {
  const ca = testCertificate('ca')
  const server = await startTestServer(() => ({ body: { ok: true } }), { ...testCertificate('server', ca), ca: ca.cert })
  const proxy = await startSocksProxy()
  t.teardown(async () => {
    await server.close()
    await proxy.close()
  })
  for (const [index, proxyUrl] of [`socks5://${proxy.address}`, `socks://${proxy.address}`, `socks5h://${proxy.address}`].entries()) {
    const transport = createTransport({ ...server.connection, proxyUrl })
    t.teardown(() => transport.close())
    t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
    t.equal(proxy.tunnels.length, index + 1)
  }
  const distrusting = createTransport({
    ...server.connection,
    proxyUrl: `socks5://${proxy.address}`,
    ca: testCertificate('other').cert,
  })
  t.teardown(() => distrusting.close())
  await t.rejects(distrusting.request({ method: 'GET', path: '/x' }), { message: /not signed by an authority/ })
})

t.test('an unknown kind of proxy is refused, without its password', async (t) => {
  const refusal = (shown: string): string =>
    `The proxy ${shown} of k is not supported: use an http://, https:// or socks5:// proxy in proxy-url, HTTPS_PROXY or HTTP_PROXY.`
  for (const [proxyUrl, shown] of [
    ['ftp://proxy', 'ftp://proxy'],
    ['ftp://jane:secret@proxy:2121/', 'ftp://proxy:2121'],
    ['http://jane:secret@', 'URL'],
    ['socks5://jane:secret@:x', 'URL'],
  ] as const) {
    const transport = createTransport({ server: 'https://x', proxyUrl, describe: 'k' }, { userAgent: 'test' })
    t.teardown(() => transport.close())
    await t.rejects(transport.request({ method: 'GET', path: '/x' }), { code: 'PRO_KUBECONFIG', message: refusal(shown) })
  }
})

t.test('close ends connections that are being made through a proxy', async (t) => {
  const accepted = new Set<Socket>()
  const mute = createServer((socket) => void accepted.add(socket.on('error', () => undefined).resume()))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const [http, socks] = [await startHttpProxy(), await startSocksProxy()]
  t.teardown(async () => {
    for (const socket of accepted) socket.destroy()
    mute.close()
    await Promise.all([http.close(), socks.close()])
  })
  const address = `127.0.0.1:${(mute.address() as AddressInfo).port}`
  // In some cases, the proxy never responds. In the other cases, the server behind the proxy never responds to the TLS handshake.
  for (const proxyUrl of [
    `http://${address}`,
    `https://${address}`,
    `socks5://${address}`,
    `http://${http.address}`,
    `socks5://${socks.address}`,
  ]) {
    const clock = new FakeClock()
    const before = accepted.size
    const transport = createTransport({ server: `https://${address}`, describe: 'a test', proxyUrl }, { clock })
    const running = rejectionOf(transport.request({ method: 'GET', path: '/x' }))
    await until('the connection is accepted', () => accepted.size > before)
    const closed = transport.close()
    await clock.untilPending(2)
    await clock.advance(1000)
    await closed
    t.match(await running, { code: 'PRO_ABORTED' }, proxyUrl)
    // If the transport did not close these connections, undici would end them only after five to ten seconds. Therefore, the test waits for
    // less than five seconds.
    await until(`the connections to ${proxyUrl} are gone`, () => [...accepted].every((socket) => socket.readableEnded), 4000)
  }
})
