/**
 * Tests of CertificateSigningRequests: the permissions to approve and sign, the built-in signers, and clients with the signed certificates.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import type forge from 'node-forge'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { certificates } from '../../src/api/kubernetes/certificates.ts'
import { asn1 } from '../../src/certs/asn1.ts'
import { utf8String } from '../../src/certs/der.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { createClient } from '../../src/client/client.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { until } from '../../src/testing/until.ts'
import { certificateRequests, requestField } from '../support/certs/certificate-requests.ts'
import { certificateRequest } from '../support/certs/new-certificate-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const controlPlane = await conformanceControlPlane(t)
const { client, connection } = controlPlane
const api = apiOf(t, connection)
const type = certificates.certificateSigningRequest
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const clientSigner = 'kubernetes.io/kube-apiserver-client'

async function request(name: string, pem: string, spec: Partial<certificates.CertificateSigningRequest['spec']> = {}) {
  const created = await client.create(type, {
    metadata: { name },
    spec: { request: requestField(pem), signerName: clientSigner, usages: ['client auth'], ...spec },
  })
  t.teardown(() => client.delete(type, { name }).catch(() => undefined))
  return created
}

function decide(name: string, decision: 'Approved' | 'Denied'): Promise<unknown> {
  const conditions = [{ type: decision, status: 'True' as const, reason: 'Test', message: 'decided' }]
  return client.patch(type, { name }, { status: { conditions } } as object, { subresource: 'approval' })
}

function signed(name: string): Promise<X509Certificate> {
  return until('the request is signed', async () => {
    const { status } = await client.get(type, { name })
    return status?.certificate !== undefined && new X509Certificate(Buffer.from(status.certificate, 'base64'))
  })
}

t.test('an approved request is signed, and its certificate authenticates', needsOwnControlPlane, async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const created = await request(
    'conformance-jane',
    certificateRequest({ commonName: 'jane', organization: 'system:masters-not', privateKey, publicKey }),
  )
  t.match(created.spec, { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] })
  t.match(created.status, { certificate: undefined, conditions: undefined })
  await decide('conformance-jane', 'Approved')
  const certificate = await signed('conformance-jane')
  t.equal(certificate.subject, 'O=system:masters-not\nCN=jane')
  t.equal(certificate.checkPrivateKey(privateKey), true)
  t.equal(certificate.verify(new X509Certificate(String(connection.ca)).publicKey), true)
  t.equal(certificate.ca, false)
  t.strictSame(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  const { conditions } = (await client.get(type, { name: 'conformance-jane' })).status!
  t.match(conditions, [{ type: 'Approved', lastUpdateTime: /^20/, lastTransitionTime: /^20/ }])

  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { authorization: _authorization, ...anonymous } = connection
  const jane = createClient({ ...anonymous, tls: () => Promise.resolve({ cert: certificate.toString(), key }) }, { fieldManager: 'jane' })
  t.teardown(() => jane.close())
  await t.rejects(jane.list(core.secret, { namespace: 'default' }), /User "jane" cannot list resource "secrets"/)
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:masters-not' }]
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  await api('POST', bindings, { body: { metadata: { name: 'conformance-jane' }, roleRef, subjects } })
  t.teardown(() => api('DELETE', `${bindings}/conformance-jane`))
  await t.resolves(until('the group may view', () => jane.list(core.pod, { namespace: 'default' })))
})

t.test('the group system:masters is recognized in every type of string, and what is not a string is not issued', async (t) => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { UNIVERSAL } = asn1.Class
  const masters = 'system:masters'
  const of = (organization: forge.asn1.Asn1): string => certificateRequest({ commonName: 'root', organization, ...keys })
  for (const organization of [
    asn1.create(UNIVERSAL, asn1.Type.PRINTABLESTRING, false, masters),
    asn1.create(UNIVERSAL, 22 as forge.asn1.Type, false, masters), // IA5String
    asn1.create(UNIVERSAL, 20 as forge.asn1.Type, false, masters), // T61String
    asn1.create(UNIVERSAL, asn1.Type.BMPSTRING, false, masters), // node-forge encodes each character in two octets
  ])
    await t.rejects(request('conformance-masters', of(organization)), /use of .* signer with system:masters group is not allowed/)
  for (const [name, organization] of [
    ['conformance-universal', asn1.create(UNIVERSAL, 28 as forge.asn1.Type, false, masters.replace(/./g, '\0\0\0$&'))], // UniversalString
    ['conformance-visible', asn1.create(UNIVERSAL, 26 as forge.asn1.Type, false, masters)], // VisibleString
    ['conformance-constructed', asn1.create(UNIVERSAL, asn1.Type.UTF8, true, [utf8String(masters)])],
  ] as const) {
    await request(name, of(organization))
    await decide(name, 'Approved')
    t.equal((await signed(name)).subject, 'CN=root', name)
  }
})

t.test('a certificate of another CA is refused', needsOwnControlPlane, async (t) => {
  const now = Date.now()
  const pair = await issueLeaf(await issueAuthority(now), { names: ['jane'], ips: [], now })
  const { authorization: _authorization, ...anonymous } = connection
  const jane = createClient({ ...anonymous, tls: () => Promise.resolve(pair) }, { fieldManager: 'jane' })
  t.teardown(() => jane.close())
  await t.rejects(jane.list(core.pod, { namespace: 'default' }), /Unauthorized/)
})

t.test('a denied request is not signed, and a decision is final', async (t) => {
  await request('conformance-denied', certificateRequests.rsa)
  await decide('conformance-denied', 'Denied')
  const causes = async (subresource: string, status: object): Promise<unknown> => {
    const current = await client.get(type, { name: 'conformance-denied' })
    const { body } = await api('PUT', `${path}/conformance-denied/${subresource}`, { body: { ...current, status } })
    return ((body.details as JsonObject | undefined)?.causes as JsonObject[] | undefined)?.map(({ message }) => message)
  }
  t.strictSame(await causes('approval', { conditions: [] }), ['Forbidden: updates may not remove a condition of type "Denied"'])
  const approved = { type: 'Approved', status: 'True' }
  const { conditions = [] } = (await client.get(type, { name: 'conformance-denied' })).status!
  t.strictSame(await causes('approval', { conditions: [...conditions, approved] }), [
    'Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
  ])
  t.strictSame(await causes('status', { conditions, certificate: requestField('no certificate') }), [
    'Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ])
})

t.test('a request with usages that the signer refuses fails', async (t) => {
  await request('conformance-failed', certificateRequests.jane, { usages: ['client auth', 'server auth'] })
  await decide('conformance-failed', 'Approved')
  const conditions = await until('the request fails', async () => {
    const { status } = await client.get(type, { name: 'conformance-failed' })
    return status?.conditions?.length === 2 && status.conditions
  })
  t.match(conditions[1], {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: 'invalid usage for client certificate: server auth',
  })
})

t.test('the certificates of kubelets have their names and usages', async (t) => {
  const usages = ['digital signature', 'key encipherment', 'server auth']
  await request('conformance-serving', certificateRequests.serving, {
    signerName: 'kubernetes.io/kubelet-serving',
    usages,
    expirationSeconds: 3600,
  })
  await decide('conformance-serving', 'Approved')
  const certificate = await signed('conformance-serving')
  t.equal(certificate.subjectAltName, 'DNS:one.example.com, IP Address:10.0.0.1')
  t.strictSame(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  // The validity begins five minutes before the signing, and ends an hour after the signing.
  t.equal(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom), 65 * 60_000)

  // The client of this test is an administrator, who may request certificates for all nodes. The controller therefore approves this request
  // automatically.
  await request('conformance-node', certificateRequests.node, {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  })
  t.match((await signed('conformance-node')).subject, 'O=system:nodes\nCN=system:node:one')
  t.match((await client.get(type, { name: 'conformance-node' })).status?.conditions, [
    { type: 'Approved', reason: 'AutoApproved', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' },
  ])
})

t.test("a request for the certificate of a kubelet is not approved without its user's right", async (t) => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const name = 'conformance-mallory'
  const rules = [{ apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] }]
  await api('POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
  await api('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name }, roleRef, subjects } })
  t.teardown(() => Promise.all(['clusterroles', 'clusterrolebindings'].map((plural) => api('DELETE', `${rbac}/${plural}/${name}`))))
  const spec = {
    request: requestField(certificateRequests.node),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  }
  const headers = { 'impersonate-user': name }
  await until('the role is known', async () => (await api('POST', path, { body: { metadata: { name }, spec }, headers })).status === 201)
  t.teardown(() => api('DELETE', `${path}/${name}`))
  // An administrator creates this second request, so the controller approves it. When the second certificate is signed, the controller has
  // also had time to decide about the first request.
  await request('conformance-later', certificateRequests.node, spec)
  await signed('conformance-later')
  t.match(await client.get(type, { name }), { spec: { username: name }, status: { conditions: undefined, certificate: undefined } })
})

t.test('approval and signing need a right on the signer', async (t) => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const group = 'certificates.k8s.io'
  const name = 'conformance-approver'
  const signerName = 'example.com/signer'
  const resources = ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status']
  const rules = [{ apiGroups: [group], resources, verbs: ['*'] }]
  await api('POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
  await api('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name }, roleRef, subjects } })
  t.teardown(() => Promise.all(['clusterroles', 'clusterrolebindings'].map((plural) => api('DELETE', `${rbac}/${plural}/${name}`))))
  await request(name, certificateRequests.jane, { signerName })
  const patch = (subresource: string, status: JsonObject) =>
    api('PATCH', `${path}/${name}/${subresource}`, {
      body: { status },
      contentType: 'application/merge-patch+json',
      headers: { 'impersonate-user': name },
    })
  const approval = { conditions: [{ type: 'Approved', status: 'True' }] }
  await until('the role is known', async () => (await patch('status', {})).status === 200)
  const refused = (verb: string): JsonObject => ({
    reason: 'Forbidden',
    message: `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to ${verb} requests with signerName "${signerName}"`,
  })
  t.match((await patch('approval', approval)).body, refused('approve'))
  t.match((await patch('status', { conditions: [{ type: 'Own', status: 'True' }] })).body, refused('sign'))
  const allowed = [...rules, { apiGroups: [group], resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['approve', 'sign'] }]
  await api('PUT', `${rbac}/clusterroles/${name}`, { body: { metadata: { name }, rules: allowed } })
  await until('the right is known', async () => (await patch('approval', approval)).status === 200)
  t.equal((await patch('status', { certificate: requestField(String(connection.ca)) })).status, 200)
})

t.test('kubectl approves, denies and lists requests', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  await request('conformance-one', certificateRequests.ed, { expirationSeconds: 7200 })
  await request('conformance-two', certificateRequests.alt, { signerName: 'example.com/signer' })
  t.equal(
    await kubectl.ok('certificate approve conformance-one'),
    'certificatesigningrequest.certificates.k8s.io/conformance-one approved\n',
  )
  t.equal(await kubectl.ok('certificate deny conformance-two'), 'certificatesigningrequest.certificates.k8s.io/conformance-two denied\n')
  await signed('conformance-one')
  t.match(
    await kubectl.ok('get csr conformance-one'),
    /^NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION\nconformance-one +\d+s +kubernetes.io\/kube-apiserver-client +kubernetes-admin +120m +Approved,Issued\n$/,
  )
  t.match(await kubectl.ok('get csr conformance-two --no-headers'), /<none> +Denied\n$/)
  t.match(await kubectl.ok('get csr --field-selector=spec.signerName=example.com/signer -o name'), /conformance-two\n$/)
})
