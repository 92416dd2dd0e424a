/** Builds the messages of Go's HTTP client and of client-go's REST client for failed webhook calls. */
import { isIP } from 'node:net'
import { isObject } from '../../api/json.ts'
import type { JsonValue } from '../../api/json.ts'
import { messageOf } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'

interface NodeError extends Error {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly cert?: { readonly subjectaltname?: string }
}

const unknownAuthority = 'certificate signed by unknown authority'
const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
  INVALID_PURPOSE: 'certificate specifies an incompatible key usage',
}

/**
 * Returns Go's message for a failed connection or request.
 *
 * @param serverName the host name that the certificate must contain.
 */
export function describeNetworkError(error: unknown, serverName: string): string {
  const cause = rootOf(error)
  const { code = '', address, port } = cause
  if (cause.name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT')
    return 'context deadline exceeded'
  if (cause.name === 'AbortError') return 'context canceled'
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`
  if (code === 'EHOSTUNREACH') return `dial tcp ${address}:${port}: connect: no route to host`
  if (code === 'ENETUNREACH') return `dial tcp ${address}:${port}: connect: network is unreachable`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${cause.hostname}: no such host`
  if (code === 'ECONNRESET') return 'read: connection reset by peer'
  if (code === 'UND_ERR_SOCKET') return 'EOF'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return verification(altNameProblem(cause.cert?.subjectaltname ?? '', serverName))
  const problem = certificateProblems[code]
  if (problem !== undefined) return verification(problem)
  // The following two error codes mean that the webhook's server does not use TLS. Go has one message for a response that begins with
  // `HTTP/`, and another message for all other responses. For both kinds of response, Node.js may report ERR_SSL_WRONG_VERSION_NUMBER. For
  // ERR_SSL_WRONG_VERSION_NUMBER, the function returns the message about HTTP, because an HTTP response is more common.
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'http: server gave HTTP response to HTTPS client'
  if (code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') return 'tls: first record does not look like a TLS handshake'
  return messageOf(error)
}

function rootOf(error: unknown): NodeError {
  let current = error as NodeError
  while (current.code === undefined && current.cause instanceof Error) current = current.cause as NodeError
  return current instanceof AggregateError && current.errors[0] instanceof Error ? (current.errors[0] as NodeError) : current
}

function verification(problem: string): string {
  return `tls: failed to verify certificate: x509: ${problem}`
}

function altNameProblem(alternatives: string, serverName: string): string {
  const named = (prefix: string): string[] =>
    alternatives.split(', ').flatMap((entry) => (entry.startsWith(prefix) ? [entry.slice(prefix.length)] : []))
  if (isIP(serverName) !== 0) {
    const addresses = named('IP Address:')
    if (addresses.length === 0) return `cannot validate certificate for ${serverName} because it doesn't contain any IP SANs`
    return `certificate is valid for ${addresses.join(', ')}, not ${serverName}`
  }
  const names = named('DNS:')
  return names.length === 0
    ? `certificate is not valid for any names, but wanted to match ${serverName}`
    : `certificate is valid for ${names.join(', ')}, not ${serverName}`
}

const statusMessages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** Returns Go's message for a response whose body ends early. */
export function describeReadError(error: unknown): string {
  const { code } = rootOf(error)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' ? 'unexpected EOF' : describeNetworkError(error, '')
}

/** A message contains at most this number of characters of a response (k8s.io/client-go/rest: request.go). */
const maxShownResponse = 2048

/** Returns the message for a response whose status code is not in the range from 200 to 206. */
export function describeResponse(statusCode: number, contentType: string, text: string): string {
  const parsed = statusIn(text)
  if (parsed !== undefined) return parsed
  const known = statusMessages[statusCode]
  if (known !== undefined) return known
  // client-go includes the body of a response in the message only if the body is text.
  const shown = contentType === '' || contentType.startsWith('text/') ? text.slice(0, maxShownResponse).trim() : 'unknown'
  if (statusCode === 406 && (shown === '' || shown === 'unknown'))
    return 'the server was unable to respond with a content type that the client supports'
  if (statusCode === 403 || statusCode === 406 || statusCode === 415) return shown
  if (statusCode >= 500) return `an error on the server (${quote(shown)}) has prevented the request from succeeding`
  return `the server responded with the status code ${statusCode} but did not return more information`
}

/** Returns the message in a response that is a `Status`; undefined for any other response. */
function statusIn(text: string): string | undefined {
  try {
    const parsed = JSON.parse(text) as JsonValue
    return isObject(parsed) && parsed.kind === 'Status' && typeof parsed.message === 'string' && parsed.message !== ''
      ? parsed.message
      : undefined
  } catch {
    return undefined
  }
}
