/**
 * Keeps a CA and a serving certificate in memory only. The CA certificate is not stored in a place that clients can read, so clients cannot
 * verify the serving certificate.
 */
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import { isRenewalDue } from './authority.ts'
import { issueAuthority, issueLeaf } from './issue.ts'
import type { RefreshingCertificateSource, ServingCertificate } from './serving-certificate.ts'
import { refreshingSource, servingCertificate } from './serving-certificate.ts'

export interface MemoryCertificatesOptions {
  /** DNS names of the serving certificate. */
  readonly names: readonly string[]
  /** IP addresses of the serving certificate. */
  readonly ips: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Issues a CA and a serving certificate. A renewal replaces both. The CA can be replaced, because no client has the CA in a trust bundle.
 */
export async function openMemoryCertificates({
  names,
  ips,
  clock,
  logger,
}: MemoryCertificatesOptions): Promise<RefreshingCertificateSource> {
  const issue = async (): Promise<ServingCertificate> => {
    const now = clock.now()
    const authority = await issueAuthority(now)
    const leaf = await issueLeaf(authority, { names, ips, now })
    return servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  }
  return refreshingSource(await issue(), async (current) => (isRenewalDue(current, clock.now()) ? issue() : current), { clock, logger })
}
