/** Converts network errors to `PRO_API_UNREACHABLE` errors, whose messages name the cause and advise the user. */
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Connection } from './connection.ts'

/** OpenSSL's error codes for a certificate that is not trusted. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
])

/**
 * Returns the `code` of an error. If the error has no code, searches the errors of an `AggregateError`, or the `cause` of any other error,
 * and returns the first code found. If no code is found, returns an empty string.
 */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const { code } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && code !== '') return code
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((part) => part !== '') ?? ''
  return codeOf(error.cause)
}

/** Returns true when the connection was closed before the response arrived, e.g. because the server closed an idle connection. */
export function isConnectionReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error))
}

/** Returns the `PRO_API_UNREACHABLE` error for a request to `connection` that has failed with `cause`. */
export function unreachable(connection: Connection, cause: unknown): ProreusError {
  const { server, describe } = connection
  return new ProreusError('PRO_API_UNREACHABLE', sentence(server, describe, codeOf(cause), cause), { cause })
}

function sentence(server: string, describe: string, code: string, cause: unknown): string {
  const host = hostOf(server)
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing answers at ${server} (connection refused): start that API server, or use another connection than ${describe}.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${host} of the API server cannot be resolved: check the network and the server's address in ${describe}.`
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `No connection to ${server} could be made (${code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timed out' : code}): check the network, a VPN or firewall, and ${describe}.`
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'PRO_TIMEOUT':
      return `The API server ${server} accepted the connection but did not answer in time: try again, and look at its health with \`kubectl get --raw /readyz\`.`
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `The certificate of ${server} is ${code === 'CERT_HAS_EXPIRED' ? 'expired' : 'not valid yet'}: renew it, or set this machine's clock right.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of ${server} is for other names: use one of them as the server's address, or set tls-server-name, in ${describe} (${messageOf(cause)}).`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${server} does not speak TLS: check whether its address in ${describe} should begin with http:// or name another port.`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `The connection to ${server} was lost (${messageOf(cause)}): try again.`
    default:
      if (untrusted.has(code))
        return `The certificate of ${server} is not signed by an authority that ${describe} trusts: check its certificate-authority (${code}).`
      return `The API server ${server} of ${describe} cannot be reached: ${messageOf(cause)}.`
  }
}

function hostOf(server: string): string {
  return URL.canParse(server) ? new URL(server).hostname : server
}
