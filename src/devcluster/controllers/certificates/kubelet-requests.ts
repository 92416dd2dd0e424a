/** The requirements for certificates of kubelets (k8s.io/kubernetes/pkg/apis/certificates: helpers.go). */
import type { CertificateRequest } from '../../../certs/certificate-request.ts'

const nodePrefix = 'system:node:'
const signature = 'digital signature'
const encipherment = 'key encipherment'

/**
 * Validates a request for the client certificate of a kubelet (ValidateKubeletClientCSR). Returns the problem of an invalid request;
 * undefined for a valid request.
 */
export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes'
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.ips.length > 0) return 'IP subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return nameProblem(request) ?? usageProblem(usages, 'client auth')
}

/**
 * Validates a request for the serving certificate of a kubelet (ValidateKubeletServingCSR). Returns the problem of an invalid request;
 * undefined for a valid request.
 */
export function kubeletServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes'
  if (request.dnsNames.length === 0 && request.ips.length === 0) return 'DNS or IP subjectAltName is required'
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return usageProblem(usages, 'server auth') ?? nameProblem(request)
}

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes'
}

function nameProblem({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith(nodePrefix) ? undefined : 'subject common name does not begin with system:node:'
}

/** Validates the usages of a request. The usage `key encipherment` is optional, because it is valid only for RSA keys. */
function usageProblem(usages: readonly string[], purpose: string): string | undefined {
  const given = new Set(usages)
  given.delete(encipherment)
  const isExpected = given.size === 2 && given.has(signature) && given.has(purpose)
  return isExpected ? undefined : `usages did not match [${[purpose, signature, encipherment].sort().join(' ')}]`
}
