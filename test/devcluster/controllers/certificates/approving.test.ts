/** Tests of which client certificates of kubelets are approved. */
import t from 'tap'
import type { certificates } from '../../../../src/api/kubernetes/certificates.ts'
import type { Client } from '../../../../src/client/client.ts'
import { approvingController } from '../../../../src/devcluster/controllers/certificates/approving.ts'
import { certificateRequests, requestField } from '../../../support/certs/certificate-requests.ts'
import { reconciled } from '../../../support/controller/reconciled.ts'

/** The name in the certificate request of the tests. */
const node = 'system:node:one'

/** A request for the client certificate of a kubelet, created by this user. */
function requestOf(username: string, spec: object = {}): certificates.CertificateSigningRequest {
  return {
    ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
    metadata: { name: 'a' },
    spec: {
      request: requestField(certificateRequests.node),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      username,
      uid: 'u',
      groups: ['g'],
      ...spec,
    },
  }
}

/** Lets the controller reconcile a request of a user who has these rights. Returns the reviewed rights, and the approvals. */
async function decide(request: certificates.CertificateSigningRequest, rights: readonly string[]) {
  const reviews: unknown[] = []
  const approvals: unknown[] = []
  const client = {
    create: (_type: unknown, { spec }: { spec: { resourceAttributes: { subresource: string } } }) => {
      reviews.push(spec)
      return Promise.resolve({ status: { allowed: rights.includes(spec.resourceAttributes.subresource) } })
    },
    patch: (_type: unknown, _key: unknown, { status }: { status: { conditions: object[] } }, { subresource }: { subresource: string }) => {
      approvals.push([subresource, status.conditions])
      return Promise.resolve({})
    },
  } as unknown as Partial<Client>
  await reconciled(approvingController(), request, { client })
  return { reviews, approvals }
}

const review = (username: string, subresource: string): object => ({
  user: username,
  uid: 'u',
  groups: ['g'],
  resourceAttributes: { verb: 'create', group: 'certificates.k8s.io', resource: 'certificatesigningrequests', namespace: '', subresource },
})
const approved = (what: string): unknown[] => [
  'approval',
  [{ type: 'Approved', status: 'True', reason: 'AutoApproved', message: `Auto approving ${what} after SubjectAccessReview.` }],
]

t.test('a request is approved only if its user has the right, and a node may renew its own certificate', async (t) => {
  for (const [username, rights, reviewed, approval] of [
    ['mallory', [], ['nodeclient'], undefined],
    ['mallory', ['selfnodeclient'], ['nodeclient'], undefined],
    [node, [], ['selfnodeclient', 'nodeclient'], undefined],
    [node, ['selfnodeclient', 'nodeclient'], ['selfnodeclient'], 'self kubelet client certificate'],
    [node, ['nodeclient'], ['selfnodeclient', 'nodeclient'], 'kubelet client certificate'],
    ['bootstrapper', ['nodeclient'], ['nodeclient'], 'kubelet client certificate'],
  ] as const) {
    const name = `${username} with [${rights.join()}]`
    const { reviews, approvals } = await decide(requestOf(username), rights)
    t.strictSame(
      reviews,
      reviewed.map((subresource) => review(username, subresource)),
      name,
    )
    t.strictSame(approvals, approval === undefined ? [] : [approved(approval)], name)
  }
})

t.test('requests of other signers, and certificates that are not those of a kubelet, are not approved', async (t) => {
  for (const spec of [
    { signerName: 'kubernetes.io/kube-apiserver-client' },
    { request: requestField(certificateRequests.masters) },
    { usages: ['digital signature', 'server auth'] },
  ])
    t.strictSame(await decide(requestOf(node, spec), ['selfnodeclient', 'nodeclient']), { reviews: [], approvals: [] })
})
