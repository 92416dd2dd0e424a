/** Tests of the automatic approval of requests for client certificates of kubelets. */
import type { Test } from 'tap'
import t from 'tap'
import { certificates } from '../../../../src/api/kubernetes/certificates.ts'
import { approvingController } from '../../../../src/devcluster/controllers/certificates/approving.ts'
import { until } from '../../../../src/testing/until.ts'
import { certificateRequests, requestField } from '../../../support/certs/certificate-requests.ts'
import { objectOf, runScripted } from '../../../support/devcluster/scripted-controller.ts'

/** The common name in the subject of the certificate request that the tests use. */
const node = 'system:node:one'

/**
 * Reconciles a CertificateSigningRequest for the client certificate of a kubelet. Resolves with the API requests that the controller has
 * sent.
 *
 * @param spec the user who has created the CertificateSigningRequest, and other fields of its spec
 * @param rights the subresources of `certificatesigningrequests` that the user may create. The controller checks these rights before the
 *   approval
 */
async function requestsFor(t: Test, spec: { readonly username: string }, rights: readonly string[]): Promise<unknown[][]> {
  const answer = (method: string, _type: unknown, body: { spec: { resourceAttributes: { subresource: string } } }): object =>
    method === 'create' ? { status: { allowed: rights.includes(body.spec.resourceAttributes.subresource) } } : {}
  const world = runScripted(t, approvingController, answer)
  const request = requestField(certificateRequests.node)
  const defaults = { request, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] }
  world.set(certificates.certificateSigningRequest, objectOf('a', { spec: { ...defaults, uid: 'u', groups: ['g'], ...spec } }))
  await until('the request is reconciled', () =>
    world.measured('controller_runtime_reconcile_total{controller="csrapproving",result="success"} 1'),
  )
  return world.asked
}

function review(user: string, subresource: string): unknown[] {
  const resource = { verb: 'create', group: 'certificates.k8s.io', resource: 'certificatesigningrequests', namespace: '' }
  return ['create', 'subjectaccessreviews', { spec: { user, uid: 'u', groups: ['g'], resourceAttributes: { ...resource, subresource } } }]
}

function approval(what: string): unknown[] {
  const message = `Auto approving ${what} after SubjectAccessReview.`
  const conditions = [{ type: 'Approved', status: 'True', reason: 'AutoApproved', message }]
  return ['patch', 'certificatesigningrequests', { name: 'a' }, { status: { conditions } }, { subresource: 'approval' }]
}

t.test('a request is approved only if its user has the right, and a node may renew its own certificate', async (t) => {
  const [self, any] = ['selfnodeclient', 'nodeclient']
  for (const [username, rights, reviewed, approved] of [
    ['mallory', [], [any], []],
    ['mallory', [self], [any], []],
    [node, [], [self, any], []],
    [node, [self, any], [self], ['self kubelet client certificate']],
    [node, [any], [self, any], ['kubelet client certificate']],
    ['bootstrapper', [any], [any], ['kubelet client certificate']],
  ] as const) {
    const expected = [...reviewed.map((subresource) => review(username, subresource)), ...approved.map(approval)]
    const requests = await requestsFor(t, { username }, rights)
    t.equal(requests.length, expected.length, `${username} with [${rights.join()}]`)
    t.match(requests, expected)
  }
})

t.test('requests of other signers, and certificates that are not those of a kubelet, are not approved', async (t) => {
  for (const spec of [
    { signerName: 'kubernetes.io/kube-apiserver-client' },
    { request: requestField(certificateRequests.masters) },
    { usages: ['digital signature', 'server auth'] },
  ])
    t.strictSame(await requestsFor(t, { username: node, ...spec }, ['selfnodeclient', 'nodeclient']), [])
})
