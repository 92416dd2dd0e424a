/** Tests of the requirements for certificates of kubelets, and tests of the encoding of key usages in X.509. */
import t from 'tap'
import type { CertificateRequest } from '../../../../src/certs/certificate-request.ts'
import { kubeletClientProblem, kubeletServingProblem } from '../../../../src/devcluster/controllers/certificates/kubelet-requests.ts'
import { usageBits, usageIds } from '../../../../src/devcluster/controllers/certificates/usages.ts'

const valid: CertificateRequest = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: [],
  emails: [],
  ips: [],
  uris: [],
  subject: [],
  spki: Buffer.alloc(0),
}
const name = { dnsNames: ['a'] }
const client = ['client auth', 'digital signature']
const serving = ['server auth', 'digital signature']

t.test('a client certificate has the name of a node, and no alternative names', (t) => {
  for (const [change, usages, problem] of [
    [{}, client, undefined],
    [{}, [...client, 'key encipherment'], undefined],
    [{ organizations: ['system:nodes', 'b'] }, client, 'subject organization is not system:nodes'],
    [{ organizations: [] }, client, 'subject organization is not system:nodes'],
    [name, client, 'DNS subjectAltNames are not allowed'],
    [{ emails: ['a@b'] }, client, 'Email subjectAltNames are not allowed'],
    [{ ips: [Buffer.alloc(4)] }, client, 'IP subjectAltNames are not allowed'],
    [{ uris: ['a:b'] }, client, 'URI subjectAltNames are not allowed'],
    [{ commonName: 'node:a' }, client, 'subject common name does not begin with system:node:'],
    [{}, serving, 'usages did not match [client auth digital signature key encipherment]'],
    [{}, ['client auth'], 'usages did not match [client auth digital signature key encipherment]'],
  ] as const)
    t.equal(kubeletClientProblem({ ...valid, ...change }, usages), problem)
  t.end()
})

t.test('a serving certificate has alternative names', (t) => {
  for (const [change, usages, problem] of [
    [name, serving, undefined],
    [{ ips: [Buffer.alloc(4)] }, [...serving, 'key encipherment'], undefined],
    [{}, serving, 'DNS or IP subjectAltName is required'],
    [{ ...name, organizations: ['a'] }, serving, 'subject organization is not system:nodes'],
    [{ ...name, emails: ['a@b'] }, serving, 'Email subjectAltNames are not allowed'],
    [{ ...name, uris: ['a:b'] }, serving, 'URI subjectAltNames are not allowed'],
    [{ ...name, commonName: 'a' }, serving, 'subject common name does not begin with system:node:'],
    [name, client, 'usages did not match [digital signature key encipherment server auth]'],
  ] as const)
    t.equal(kubeletServingProblem({ ...valid, ...change }, usages), problem)
  t.end()
})

t.test('usages are bits of keyUsage or identifiers of extKeyUsage', (t) => {
  const usages = ['client auth', 'decipher only', 'signing', 's/mime', 'email protection', 'digital signature', 'server auth']
  t.strictSame(usageBits(usages), [0, 8])
  t.strictSame(usageIds(usages), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4'])
  t.end()
})
