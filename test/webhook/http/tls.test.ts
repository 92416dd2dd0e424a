import { once } from 'node:events'
import { connect } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import t from 'tap'
import { tlsCipherSuites, tlsLimits } from '../../../src/webhook/http/tls.ts'
import { serve } from '../../support/hostile/server.ts'

async function attempt(port: number, ca: string, options: ConnectionOptions): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options })
  try {
    await once(socket, 'secureConnect')
    return `${socket.getProtocol()} ${socket.getCipher().name}`
  } catch {
    return 'refused'
  } finally {
    socket.destroy()
  }
}

const tls12: ConnectionOptions = { maxVersion: 'TLSv1.2' }

t.test('TLS 1.2 requires forward secrecy and authenticated encryption, also after a certificate change', async (t) => {
  const { server, source } = await serve(t)
  const { port } = await server.start()
  for (const when of ['at the start', 'with a new certificate']) {
    const { caBundle } = source.current()
    t.match(await attempt(port, caBundle, {}), /^TLSv1\.3 /, when)
    t.match(await attempt(port, caBundle, tls12), /^TLSv1\.2 ECDHE-(RSA|ECDSA)-(AES\d+-GCM|CHACHA20)/, when)
    for (const ciphers of [
      'ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA',
      'ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256',
      'AES128-GCM-SHA256',
    ])
      t.equal(await attempt(port, caBundle, { ...tls12, ciphers }), 'refused', `${ciphers} ${when}`)
    await source.change()
  }
})

t.test('versions and cipher suites can be restricted further', async (t) => {
  const { server, source } = await serve(t, {}, { tlsMinVersion: 'VersionTLS13' })
  const { port } = await server.start()
  t.equal(await attempt(port, source.current().caBundle, tls12), 'refused')
  t.match(await attempt(port, source.current().caBundle, {}), /^TLSv1\.3 /)
  const suites = tlsCipherSuites.filter((name) => name.endsWith('AES_256_GCM_SHA384'))
  const other = await serve(t, {}, { tlsCipherSuites: suites })
  const address = await other.server.start()
  const { caBundle } = other.source.current()
  t.match(await attempt(address.port, caBundle, tls12), /^TLSv1\.2 ECDHE-(RSA|ECDSA)-AES256-GCM-SHA384/)
  t.equal(
    await attempt(address.port, caBundle, { ...tls12, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256' }),
    'refused',
  )
})

t.test('cipher suites are passed to OpenSSL in the given order, after those of TLS 1.3', (t) => {
  const of13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'
  t.strictSame(tlsLimits(), {
    minVersion: 'TLSv1.2',
    ciphers: `${of13}:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305`,
    honorCipherOrder: true,
  })
  const chosen = ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384']
  t.equal(tlsLimits({ tlsCipherSuites: chosen }).ciphers, `${of13}:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384`)
  t.equal(tlsLimits({ tlsMinVersion: 'VersionTLS13' }).minVersion, 'TLSv1.3')
  t.equal(tlsLimits({ tlsMinVersion: 'VersionTLS12' }).minVersion, 'TLSv1.2')
  // As in Kubernetes components, the flag accepts the names of cipher suites in Go's package crypto/tls.
  t.strictSame(tlsCipherSuites, [
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  ])
  t.end()
})

t.test('unknown versions and cipher suites are refused with the accepted ones', (t) => {
  t.throws(() => tlsLimits({ tlsMinVersion: 'VersionTLS11' as 'VersionTLS12' }), {
    code: 'PRO_CONFIG_INVALID',
    message: '--tls-min-version is "VersionTLS11": it must be VersionTLS12 or VersionTLS13.',
  })
  t.throws(() => tlsLimits({ tlsCipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA'] }), {
    code: 'PRO_CONFIG_INVALID',
    message: `--tls-cipher-suites names "TLS_RSA_WITH_AES_128_CBC_SHA", which is not accepted: choose from ${tlsCipherSuites.join(', ')}.`,
  })
  t.throws(() => tlsLimits({ tlsMinVersion: 'constructor' as 'VersionTLS12' }), { code: 'PRO_CONFIG_INVALID' })
  t.end()
})
