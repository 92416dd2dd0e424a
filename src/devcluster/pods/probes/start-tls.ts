/** `startTls`: starts TLS on a connection. This process is the TLS client, and accepts every server certificate. */
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { connect } from 'node:tls'
import { messageOf } from '../../../api/errors.ts'
import type { Connection } from './dial.ts'
import { ConnectionError, codeOf, networkMessage } from './dial.ts'
import { FirstBytes } from './first-bytes.ts'

/** The error of `startTls` when the server responds with HTTP without TLS. */
export class HttpAnswer extends ConnectionError {
  constructor(options: ErrorOptions) {
    super('http: server gave HTTP response to HTTPS client', options)
  }
}

/**
 * The first five bytes of an HTTP response. If a server sends these bytes during the TLS handshake, the server does not use TLS. Go also
 * compares only five bytes, because a TLS record header has five bytes (crypto/tls: RecordHeaderError).
 */
const httpStart = 'HTTP/'

/**
 * Starts TLS over a connection. The client offers only HTTP/1.1.
 *
 * @throws {ConnectionError} when the TLS handshake fails. The error is an `HttpAnswer` when the server has responded with HTTP.
 * @throws the reason of `signal` when `signal` aborts.
 */
export async function startTls({ socket, ends }: Connection, hostname: string, signal: AbortSignal): Promise<TLSSocket> {
  const inner = new FirstBytes(socket, httpStart.length)
  // A kubelet does not verify the serving certificate (k8s.io/kubernetes/pkg/probe/http: New).
  const options = { socket: inner, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }
  const secure = connect(isIP(hostname) === 0 ? { ...options, servername: hostname } : options)
  try {
    await handshakeOf(secure, signal)
    return secure
  } catch (error) {
    secure.destroy()
    signal.throwIfAborted()
    if (inner.bytes.toString('latin1') === httpStart) throw new HttpAnswer({ cause: error })
    throw new ConnectionError(tlsMessage(error, ends), { cause: error })
  }
}

function handshakeOf(secure: TLSSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => void secure.destroy()
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    secure.on('secureConnect', () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    secure.on('error', reject)
    secure.on('close', () => {
      signal.removeEventListener('abort', abort)
      reject(new ConnectionError('EOF'))
    })
  })
}

function tlsMessage(error: unknown, ends: string): string {
  if (error instanceof ConnectionError) return error.message
  const isOther = codeOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' || codeOf(error) === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  if (isOther) return 'tls: first record does not look like a TLS handshake'
  return networkMessage(error, ends) ?? `tls: ${messageOf(error)}`
}
