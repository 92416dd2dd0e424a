import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import type { PeerCertificate } from 'node:tls'
import forge from 'node-forge'
import t from 'tap'
import type { Test } from 'tap'
import type { Connection } from '../../src/client/connection.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { createTransport } from '../../src/client/transport.ts'
import { checkServerIdentity, trust } from '../../src/client/trust.ts'
import { startFaultProxy } from '../../src/testing/faults/fault-proxy.ts'
import { startTestServer } from '../support/client/server.ts'
import { trustShapes } from '../support/certs/trust-shapes.ts'

const shapes = trustShapes()
const server = await startTestServer(() => ({ body: { ok: true } }), { ...shapes.served, ca: '' })
const describe = 'a test'

t.teardown(() => server.close())

/** A function that returns a `Connection` to the server. The connection trusts the CA bundle `ca`. */
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

t.test('a fault proxy trusts the API server like clients do', async (t) => {
  for (const [name, ca] of shapes.trusted) {
    const proxy = await startFaultProxy({ server: server.url, ca, describe })
    const transport = createTransport(proxy.connection)
    t.teardown(async () => (await transport.close(), await proxy.stop()))
    t.strictSame((await transport.request({ method: 'GET', path: '/x' })).body, { ok: true }, name)
  }
})

t.test('without a CA bundle only the CAs of the system are trusted', async (t) => {
  t.strictSame(trust(undefined), { allowPartialTrustChain: true, checkServerIdentity })
  const transport = createTransport({ server: server.url, describe })
  t.teardown(() => transport.close())
  await t.rejects(transport.request({ method: 'GET', path: '/x' }), { code: 'PRO_API_UNREACHABLE' })
})

/** Returns a peer certificate with this common name and these alternative names. */
function certificateFor(commonName: string, names: readonly string[], ips: readonly string[] = []): PeerCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: 'spki', format: 'pem' }).toString())
  certificate.serialNumber = '01'
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000)
  certificate.setSubject([{ name: 'commonName', value: commonName }])
  const altNames = [...names.map((value) => ({ type: 2, value })), ...ips.map((ip) => ({ type: 7, ip }))]
  if (altNames.length > 0) certificate.setExtensions([{ name: 'subjectAltName', altNames }])
  certificate.sign(forge.pki.privateKeyFromPem(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()), forge.md.sha256.create())
  return new X509Certificate(forge.pki.certificateToPem(certificate)).toLegacyObject() as PeerCertificate
}

t.test('the host must be among the alternative names of the certificate', async (t) => {
  const cases: readonly (readonly [string, PeerCertificate, string, boolean])[] = [
    ['a name', certificateFor('x', ['api.example.com', 'localhost']), 'api.example.com', true],
    ['another name', certificateFor('x', ['api.example.com']), 'api.example.org', false],
    ['an address', certificateFor('x', [], ['10.0.0.1']), '10.0.0.1', true],
    ['another address', certificateFor('x', ['10.0.0.2'], ['10.0.0.1']), '10.0.0.2', false],
    ['a whole label', certificateFor('x', ['*.example.com']), 'api.example.com', true],
    ['two labels', certificateFor('x', ['*.example.com']), 'a.b.example.com', false],
    ['a part of a label', certificateFor('x', ['api*.example.com']), 'api1.example.com', false],
    ['the common name', certificateFor('api.example.com', []), 'api.example.com', false],
    ['the common name beside an address', certificateFor('api.example.com', [], ['10.0.0.1']), 'api.example.com', false],
  ]
  for (const [name, certificate, host, isTrusted] of cases) {
    const error = checkServerIdentity(host, certificate)
    t.equal(error === undefined, isTrusted, name)
    if (error !== undefined) t.match(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: new RegExp(host) }, name)
  }
})

t.test('the error lists the names of the certificate, if it has only a common name', async (t) => {
  const message = (...names: Parameters<typeof certificateFor>): string | undefined =>
    checkServerIdentity('api.example.com', certificateFor(...names))?.message
  t.equal(message('api.example.com', []), 'The certificate has no alternative names, and not for api.example.com')
  t.equal(message('api.example.com', [], ['10.0.0.1']), 'The certificate is for IP Address:10.0.0.1, and not for api.example.com')
})
