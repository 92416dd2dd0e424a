import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Connection } from '../../src/client/connection.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { createTransport } from '../../src/client/transport.ts'
import { trust } from '../../src/client/trust.ts'
import { startFaultProxy } from '../../src/testing/faults/fault-proxy.ts'
import { startTestServer } from '../support/client-server.ts'
import { trustShapes } from '../support/trust-shapes.ts'

const shapes = trustShapes()
const server = await startTestServer(() => ({ body: { ok: true } }), { ...shapes.served, ca: '' })
const describe = 'a test'

t.teardown(() => server.close())

/** How a client gets its connection to the server, for a bundle. */
type Way = (t: Test, ca: string) => Promise<Connection>

const direct: Way = async (_t, ca) => ({ server: server.url, ca, describe })

const throughProxy: Way = async (t, ca) => {
  const sockets = new Set<Socket>()
  const proxy = createServer().on('connect', ({ url = '' }, client: Socket) => {
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => proxy.close(resolve))
  })
  return { server: server.url, ca, describe, proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
}

const byKubeconfig: Way = (t, ca) => {
  const cluster = { server: server.url, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  return loadConnection({ kubeconfig: join(t.testdir({ config: JSON.stringify(content) }), 'config'), env: {} })
}

const asPod: Way = (t, ca) => {
  const { hostname, port } = new URL(server.url)
  return loadConnection({
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    inClusterRoot: t.testdir({ token: 'secret', 'ca.crt': ca }),
  })
}

const ways: readonly (readonly [string, Way])[] = [
  ['a direct connection', direct],
  ['a connection through a proxy', throughProxy],
  ['a kubeconfig', byKubeconfig],
  ['the service account of a Pod', asPod],
]

for (const [way, connectionFor] of ways) {
  const request = async (t: Test, ca: string): Promise<unknown> => {
    const transport = createTransport(await connectionFor(t, ca))
    t.teardown(() => transport.close())
    return (await transport.request({ method: 'GET', path: '/x' })).body
  }
  for (const [name, ca] of shapes.trusted)
    t.test(`${way} trusts a server by ${name}`, async (t) => {
      t.strictSame(await request(t, ca), { ok: true })
    })
  for (const [name, ca] of shapes.untrusted)
    t.test(`${way} does not trust a server by ${name}`, async (t) => {
      await t.rejects(request(t, ca), { code: 'PRO_API_UNREACHABLE', message: /is not signed by an authority/ })
    })
}

t.test('a fault proxy trusts the API server behind it as clients do', async (t) => {
  for (const [name, ca] of shapes.trusted) {
    const proxy = await startFaultProxy({ server: server.url, ca, describe })
    const transport = createTransport(proxy.connection)
    t.teardown(async () => (await transport.close(), await proxy.stop()))
    t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true }, name)
  }
})

t.test('without a bundle the certificates of the system are trusted, and no others', async (t) => {
  t.strictSame(trust(undefined), { allowPartialTrustChain: true })
  const transport = createTransport({ server: server.url, describe })
  t.teardown(() => transport.close())
  await t.rejects(transport.request({ method: 'GET', path: '/x' }), { code: 'PRO_API_UNREACHABLE' })
})
