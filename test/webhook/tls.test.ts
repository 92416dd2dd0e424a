import { once } from 'node:events'
import { connect } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import t from 'tap'
import { tlsCipherSuites, tlsLimits } from '../../src/webhook/tls.ts'
import { serve } from '../support/hostile-server.ts'

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

t.test('TLS 1.2 has forward secrecy and authenticated encryption, also after the certificate has changed', async (t) => {
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

t.test('versions and suites can be limited further', async (t) => {
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

t.test('what is not known is refused with what is', (t) => {
  t.throws(() => tlsLimits({ tlsMinVersion: 'VersionTLS11' as 'VersionTLS12' }), {
    code: 'PRO_CONFIG_INVALID',
    message: '--tls-min-version is "VersionTLS11": it must be VersionTLS12 or VersionTLS13.',
  })
  t.throws(() => tlsLimits({ tlsCipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA'] }), {
    code: 'PRO_CONFIG_INVALID',
    message: /--tls-cipher-suites names "TLS_RSA_WITH_AES_128_CBC_SHA", which is not accepted: choose from TLS_ECDHE_ECDSA_/,
  })
  t.end()
})
