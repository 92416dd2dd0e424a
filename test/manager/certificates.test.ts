import { join } from 'node:path'
import t from 'tap'
import { readCertificate } from '../../src/certs/certificate.ts'
import type { Client } from '../../src/client/client.ts'
import { certificateNames, openCertificates } from '../../src/manager/certificates.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { FakeClient } from '../support/client/fake-secrets.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const connection = { server: 'https://api', describe: 'a test' }
const service = { namespace: 'hello-system', name: 'hello-webhook' }
const files = { kind: 'files', directory: 'certs' } as const

t.test('in a cluster the Service is the first name', async (t) => {
  const secret = { kind: 'secret', namespace: 'hello-system', name: 'hello-webhook-ca', ips: ['10.0.0.1'] } as const
  t.strictSame(certificateNames({ connection, webhook: {}, service, certificates: secret }), {
    expected: 'hello-webhook.hello-system.svc',
    names: ['hello-webhook.hello-system.svc', 'hello-webhook.hello-system.svc.cluster.local', 'hello-webhook.hello-system', 'localhost'],
    ips: ['10.0.0.1', '127.0.0.1', '::1'],
  })
  const inCluster = { connection: { ...connection, inCluster: true }, webhook: {}, service, certificates: files }
  t.strictSame(
    certificateNames(inCluster),
    { expected: 'hello-webhook.hello-system.svc', names: ['hello-webhook.hello-system.svc', 'localhost'], ips: ['127.0.0.1', '::1'] },
    'also with files, e.g. of cert-manager',
  )
  const both = {
    connection,
    webhook: { url: 'https://a:1' },
    service,
    certificates: { ...secret, names: ['localhost', 'b'], ips: ['::1'] },
  }
  t.strictSame(
    certificateNames(both),
    {
      expected: 'a',
      names: [
        'a',
        'hello-webhook.hello-system.svc',
        'hello-webhook.hello-system.svc.cluster.local',
        'hello-webhook.hello-system',
        'localhost',
        'b',
      ],
      ips: ['::1', '127.0.0.1'],
    },
    'without duplicates, with the URL first',
  )
})

t.test('outside a cluster, the host of the URL is in the certificate, a name or an address', async (t) => {
  const at = (url: string) => ({ connection, webhook: { url }, service, certificates: files })
  t.strictSame(certificateNames({ ...at('https://my-laptop.local:9443'), certificates: { ...files, names: ['extra'] } }), {
    expected: 'my-laptop.local',
    names: ['my-laptop.local', 'extra', 'localhost'],
    ips: ['127.0.0.1', '::1'],
  })
  t.strictSame(certificateNames(at('https://[2001:db8::1]:9443')).ips, ['2001:db8::1', '127.0.0.1', '::1'])
  t.equal(certificateNames(at('https://[2001:db8::1]:9443')).expected, '2001:db8::1', 'the address that the API server calls')
})

t.test('outside a cluster, a named Service is in the certificate', async (t) => {
  t.strictSame(certificateNames({ connection, webhook: {}, service, certificates: files }).names, ['localhost'])
  const named = { connection, webhook: { service: 'tunnel' }, service: { ...service, name: 'tunnel' }, certificates: files }
  t.strictSame(certificateNames(named).names, ['tunnel.hello-system.svc', 'localhost'])
})

t.test('certificates are opened in their store, for the given names', async (t) => {
  const clock = new FakeClock()
  const server = new FakeClient()
  const { logger, lines } = recordingLogger()
  const directory = join(t.testdir(), 'certs')
  const common = {
    names: ['a.svc'],
    ips: ['10.0.0.1'],
    client: server.client as unknown as Client,
    clock,
    logger,
    signal: new AbortController().signal,
  }
  const inFiles = await openCertificates({ ...common, certificates: { kind: 'files', directory } })
  const inSecret = await openCertificates({ ...common, certificates: { kind: 'secret', namespace: 'b', name: 'c' } })
  for (const source of [inFiles, inSecret])
    t.equal(readCertificate(source.current().cert).x509.subjectAltName, 'DNS:a.svc, IP Address:10.0.0.1')
  t.strictSame([...server.objects.keys()], ['Secret/c'])
  t.strictSame(lines, [
    `info: made a certificate authority in ${directory}`,
    `info: issued ${directory}/tls.crt`,
    'info: made a certificate authority in the Secret b/c',
  ])
})
