import t from 'tap'
import { certificateNames } from '../../src/manager/certificates.ts'

t.test('in a cluster the Service has the first name', async (t) => {
  t.strictSame(certificateNames({ kind: 'secret', namespace: 'proreus-system', name: 'proreus-webhook-ca', ips: ['10.0.0.1'] }), {
    names: [
      'proreus-webhook.proreus-system.svc',
      'proreus-webhook.proreus-system.svc.cluster.local',
      'proreus-webhook.proreus-system',
      'localhost',
    ],
    ips: ['10.0.0.1', '127.0.0.1', '::1'],
  })
  t.equal(certificateNames({ kind: 'secret', namespace: 'ns', name: 'x', serviceName: 'other' }).names[0], 'other.ns.svc')
})

t.test('outside, the host of the URL is in the certificate, a name or an address', async (t) => {
  t.strictSame(certificateNames({ kind: 'files', directory: 'certs', names: ['extra'] }, 'https://my-laptop.local:9443'), {
    names: ['my-laptop.local', 'extra', 'localhost'],
    ips: ['127.0.0.1', '::1'],
  })
  t.strictSame(certificateNames({ kind: 'files', directory: 'certs' }, 'https://[2001:db8::1]:9443').ips, [
    '2001:db8::1',
    '127.0.0.1',
    '::1',
  ])
  t.strictSame(certificateNames({ kind: 'files', directory: 'certs' }).names, ['localhost'])
})
