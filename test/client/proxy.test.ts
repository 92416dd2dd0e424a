import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { createTransport } from '../../src/client/transport.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'
import { startTestServer } from '../support/client/server.ts'

t.test('requests use an HTTP proxy, and check the certificate of the server behind it', async (t) => {
  const ca = testCertificate('ca')
  const server = await startTestServer(() => ({ body: { ok: true } }), { ...testCertificate('server', ca), ca: ca.cert })
  const tunnels: string[] = []
  const sockets = new Set<Socket>()
  const proxy = createServer()
  proxy.on('connect', ({ url = '' }, client: Socket, head) => {
    tunnels.push(url)
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const transport = createTransport({ ...server.connection, proxyUrl }, { userAgent: 'test' })
  const distrusting = createTransport({ ...server.connection, proxyUrl, ca: testCertificate('other').cert }, { userAgent: 'test' })
  t.teardown(async () => {
    await Promise.all([transport.close(), distrusting.close(), server.close()])
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => proxy.close(resolve))
  })
  t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
  t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
  t.ok(tunnels.length >= 1 && tunnels.every((host) => host === new URL(server.url).host))
  await t.rejects(distrusting.request({ method: 'GET', path: '/x' }), {
    code: 'PRO_API_UNREACHABLE',
    message: /not signed by an authority/,
  })
})

t.test('requests use a SOCKS proxy', async (t) => {
  const ca = testCertificate('ca')
  const server = await startTestServer(() => ({ body: { ok: true } }), { ...testCertificate('server', ca), ca: ca.cert })
  const sockets = new Set<Socket>()
  let tunnels = 0
  // A minimal SOCKS5 server (RFC 1928): it accepts the method "no authentication", and then a CONNECT request.
  const proxy = createTcpServer((client) => {
    sockets.add(client.on('error', () => client.destroy()))
    client.once('data', () => {
      client.write(Buffer.from([5, 0]))
      client.once('data', (request) => {
        const upstream = connect(request.readUInt16BE(request.length - 2), '127.0.0.1', () => {
          tunnels += 1
          client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          upstream.pipe(client).pipe(upstream)
        })
        sockets.add(upstream.on('error', () => upstream.destroy()))
      })
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    await server.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => proxy.close(resolve))
  })
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  for (const [index, proxyUrl] of [`socks5://${address}`, `socks://${address}`].entries()) {
    const transport = createTransport({ ...server.connection, proxyUrl })
    t.teardown(() => transport.close())
    t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true })
    t.equal(tunnels, index + 1)
  }
  const distrusting = createTransport({ ...server.connection, proxyUrl: `socks5://${address}`, ca: testCertificate('other').cert })
  t.teardown(() => distrusting.close())
  await t.rejects(distrusting.request({ method: 'GET', path: '/x' }), { message: /not signed by an authority/ })
})

t.test('an unknown kind of proxy is refused', async (t) => {
  const transport = createTransport({ server: 'https://x', proxyUrl: 'ftp://proxy', describe: 'k' }, { userAgent: 'test' })
  t.teardown(() => transport.close())
  await t.rejects(transport.request({ method: 'GET', path: '/x' }), {
    code: 'PRO_KUBECONFIG',
    message: 'The proxy ftp://proxy of k is not supported: use an http://, https:// or socks5:// proxy-url.',
  })
})
