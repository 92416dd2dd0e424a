/** Signs approved CertificateSigningRequests of the built-in signers (k8s.io/kubernetes/pkg/controller/certificates/signer). */
import type { DeepReadonly } from '../../../api/json.ts'
import { certificates } from '../../../api/kubernetes/certificates.ts'
import type { CertificateRequest } from '../../../certs/certificate-request.ts'
import { readCertificateRequest } from '../../../certs/certificate-request.ts'
import { readCertificate } from '../../../certs/certificate.ts'
import type { KeyPair } from '../../../certs/issue.ts'
import { signRequest } from '../../../certs/issue.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { retryRefused } from '../retry-refused.ts'
import { kubeletClientProblem, kubeletServingProblem } from './kubelet-requests.ts'
import { usageBits, usageIds } from './usages.ts'

type SigningRequest = DeepReadonly<certificates.CertificateSigningRequest>

const minute = 60_000
const hour = 60 * minute
/** The default of kube-controller-manager's flag `--cluster-signing-duration`. */
const longestMs = 365 * 24 * hour
const shortestMs = 10 * minute
const backdateMs = 5 * minute
/**
 * If the validity is at least 8 hours, `backdateMs` is subtracted from its start and its end. If the validity is shorter, `backdateMs` is
 * subtracted only from its start.
 */
const shortMs = 8 * hour

/** The checks of each signer, keyed by the name of the signer. A check returns the problem of a request; undefined for a valid request. */
const checks: Readonly<Record<string, (request: CertificateRequest, usages: readonly string[]) => string | undefined>> = {
  'kubernetes.io/kube-apiserver-client': (_request, usages) => clientUsageProblem(usages),
  'kubernetes.io/kube-apiserver-client-kubelet': kubeletClientProblem,
  'kubernetes.io/kubelet-serving': kubeletServingProblem,
}

/** @param authority the CA of the cluster */
export function signingController(authority: KeyPair): ControllerDefinition {
  return defineController(certificates.certificateSigningRequest, {
    name: 'csrsigning',
    resyncPeriodMs: 0,
    reconcile: retryRefused((object, context) => sign(object, authority, context)),
  })
}

async function sign(object: SigningRequest, authority: KeyPair, { client, clock }: ReconcileContext): Promise<Result> {
  const { signerName, request, usages = [], expirationSeconds } = object.spec
  const conditions = object.status?.conditions ?? []
  const isApproved = conditions.some(({ type }) => type === 'Approved') && !conditions.some(({ type }) => type === 'Denied')
  if (!isApproved || conditions.some(({ type, status }) => type === 'Failed' && status === 'True')) return
  if (object.status?.certificate !== undefined || !Object.hasOwn(checks, signerName)) return
  const parsed = readCertificateRequest(Buffer.from(request, 'base64').toString('latin1'))
  const problem = checks[signerName]!(parsed, usages)
  const status =
    problem === undefined
      ? { certificate: Buffer.from(certificateFor(parsed, authority, usages, expirationSeconds, clock.now())).toString('base64') }
      : { conditions: [...conditions, { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: problem }] }
  await client.patch(certificates.certificateSigningRequest, object.metadata, { status } as object, { subresource: 'status' })
}

function certificateFor(
  request: CertificateRequest,
  authority: KeyPair,
  usages: readonly string[],
  expirationSeconds: number | undefined,
  now: number,
): string {
  const requested = expirationSeconds === undefined ? longestMs : expirationSeconds * 1000
  const lifeMs = Math.max(shortestMs, Math.min(longestMs, requested))
  return signRequest(authority, request, {
    usages: usageBits(usages),
    extendedUsages: usageIds(usages),
    notBefore: Math.max(now - backdateMs, readCertificate(authority.cert).notBefore),
    notAfter: lifeMs < shortMs ? now + lifeMs : now + lifeMs - backdateMs,
  })
}

/** Validates the usages of a client certificate (validAPIServerClientUsages). */
function clientUsageProblem(usages: readonly string[]): string | undefined {
  const unknown = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage))
  if (unknown !== undefined) return `invalid usage for client certificate: ${unknown}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}
