import t from 'tap'
import { certificateNames } from '../../src/manager/certificates.ts'

const connection = { server: 'https://api', describe: 'a test' }
const service = { namespace: 'hello-system', name: 'hello-webhook' }
const files = { kind: 'files', directory: 'certs' } as const

t.test('in a cluster the Service has the first name', async (t) => {
  const secret = { kind: 'secret', namespace: 'hello-system', name: 'hello-webhook-ca', ips: ['10.0.0.1'] } as const
  t.strictSame(certificateNames({ connection, webhook: {}, service, certificates: secret }), {
    expected: 'hello-webhook.hello-system.svc',
    names: ['hello-webhook.hello-system.svc', 'hello-webhook.hello-system.svc.cluster.local', 'hello-webhook.hello-system', 'localhost'],
    ips: ['10.0.0.1', '127.0.0.1', '::1'],
  })
  const inCluster = { connection: { ...connection, inCluster: true }, webhook: {}, service, certificates: files }
  t.equal(certificateNames(inCluster).names[0], 'hello-webhook.hello-system.svc', 'also with files, e.g. of cert-manager')
})

t.test('outside, the host of the URL is in the certificate, a name or an address', async (t) => {
  const at = (url: string) => ({ connection, webhook: { url }, service, certificates: files })
  t.strictSame(certificateNames({ ...at('https://my-laptop.local:9443'), certificates: { ...files, names: ['extra'] } }), {
    expected: 'my-laptop.local',
    names: ['my-laptop.local', 'extra', 'localhost'],
    ips: ['127.0.0.1', '::1'],
  })
  t.strictSame(certificateNames(at('https://[2001:db8::1]:9443')).ips, ['2001:db8::1', '127.0.0.1', '::1'])
  t.equal(certificateNames(at('https://[2001:db8::1]:9443')).expected, '2001:db8::1', 'which the API server calls')
})

t.test('outside, a Service is in the certificate when one is named', async (t) => {
  t.strictSame(certificateNames({ connection, webhook: {}, service, certificates: files }).names, ['localhost'])
  const named = { connection, webhook: { service: 'tunnel' }, service: { ...service, name: 'tunnel' }, certificates: files }
  t.strictSame(certificateNames(named).names, ['tunnel.hello-system.svc', 'localhost'])
})
