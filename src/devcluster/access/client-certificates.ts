/** Authenticates clients by their TLS certificates (k8s.io/apiserver/pkg/authentication/request/x509: CommonNameUserConversion). */
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { failure } from '../../api/status.ts'
import { subjectNames } from '../../certs/certificate.ts'
import { memoized } from '../apimachinery/memoized.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError } from '../apimachinery/status-error.ts'

/**
 * Returns the user of a client certificate; undefined if the connection has no certificate. The common name of the certificate is the user
 * name, and the organizations are groups of the user.
 *
 * @throws {StatusError} 401 if the certificate has no common name, has expired, is not signed by the CA of the cluster, or is not a client
 *   certificate.
 */
export function authenticateCertificate(socket: Socket): UserInfo | undefined {
  const user = socket instanceof TLSSocket ? userOf(socket) : undefined
  if (user === 'unauthorized') throw new StatusError(failure(401, 'Unauthorized', 'Unauthorized'))
  return user === 'none' ? undefined : user
}

/** The certificate of a connection does not change, so the user of the connection is determined only once. */
const userOf = memoized((socket: TLSSocket): UserInfo | 'none' | 'unauthorized' => {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return 'none'
  const { commonName: username, organizations } = subjectNames(certificate)
  if (!socket.authorized || username === '') return 'unauthorized'
  return {
    username,
    groups: [...new Set([...organizations, 'system:authenticated'])],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${createHash('sha256').update(certificate.raw).digest('hex')}`] },
  }
})
