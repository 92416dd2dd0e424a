/** Approves the client certificates of kubelets (k8s.io/kubernetes/pkg/controller/certificates/approver). */
import type { DeepReadonly } from '../../../api/json.ts'
import { certificates } from '../../../api/kubernetes/certificates.ts'
import { readCertificateRequest } from '../../../certs/certificate-request.ts'
import { isAllowed } from '../../../client/is-allowed.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { retryRefused } from '../retry-refused.ts'
import { kubeletClientProblem } from './kubelet-requests.ts'

type SigningRequest = DeepReadonly<certificates.CertificateSigningRequest>

const type = certificates.certificateSigningRequest

export function approvingController(): ControllerDefinition {
  return defineController(type, { name: 'csrapproving', resyncPeriodMs: 0, reconcile: retryRefused(approve) })
}

async function approve(object: SigningRequest, { client }: ReconcileContext): Promise<Result> {
  const { signerName, request, usages = [], username = '', uid, groups, extra } = object.spec
  const { conditions = [], certificate } = object.status ?? {}
  if (certificate !== undefined || conditions.some((condition) => ['Approved', 'Denied'].includes(condition.type))) return
  if (signerName !== 'kubernetes.io/kube-apiserver-client-kubelet') return
  const parsed = readCertificateRequest(Buffer.from(request, 'base64').toString('latin1'))
  if (kubeletClientProblem(parsed, usages) !== undefined) return
  const user = {
    username,
    ...(uid !== undefined && { uid }),
    ...(groups !== undefined && { groups }),
    ...(extra !== undefined && { extra }),
  }
  const kinds = [
    ...(username === parsed.commonName ? [{ subresource: 'selfnodeclient', what: 'self kubelet client certificate' }] : []),
    { subresource: 'nodeclient', what: 'kubelet client certificate' },
  ]
  for (const { subresource, what } of kinds) {
    if (!(await isAllowed(client, user, { verb: 'create', type, subresource }))) continue
    const message = `Auto approving ${what} after SubjectAccessReview.`
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message }
    await client.patch(type, object.metadata, { status: { conditions: [...conditions, approved] } } as object, { subresource: 'approval' })
    return
  }
}
