/** `oldCertificates`: returns the files of a certificate folder, as if the certificates had been issued some days ago. */
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'

/**
 * Returns the contents of the files in a folder of certificates that is `days` days old. The contents are keyed by file name. If `foreign`
 * is true, the key of the CA is missing, as in a folder that another tool has written.
 */
export async function oldCertificates({ days, foreign = false }: { days: number; foreign?: boolean }): Promise<Record<string, string>> {
  const now = Date.now() - days * 24 * 3_600_000
  const authority = await issueAuthority(now)
  const names = ['localhost', 'proreus-webhook.proreus-system.svc']
  const leaf = await issueLeaf(authority, { names, ips: ['127.0.0.1', '::1'], now })
  return { 'ca.crt': authority.cert, ...(foreign ? {} : { 'ca.key': authority.key }), 'tls.crt': leaf.cert, 'tls.key': leaf.key }
}
