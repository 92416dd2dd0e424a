/**
 * The built-in kind CertificateSigningRequest of the group `certificates.k8s.io`: its `ResourceType` is
 * `certificates.certificateSigningRequest`, and the TypeScript type of its objects is `certificates.CertificateSigningRequest`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace certificates {
  type CertificateSigningRequest = ClusterObject<models.V1CertificateSigningRequest, 'certificates.k8s.io/v1', 'CertificateSigningRequest'>
}

export const certificates = {
  certificateSigningRequest: clusterType<certificates.CertificateSigningRequest>(
    'certificates.k8s.io',
    'v1',
    'CertificateSigningRequest',
    'certificatesigningrequests',
  ),
} as const
