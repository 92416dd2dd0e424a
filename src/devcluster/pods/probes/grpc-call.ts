/** `grpcCall`: one unary gRPC call without TLS and without compression. */
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { constants } from 'node:http2'
import type { GrpcStatus } from './grpc-status.ts'
import { grpcStatus, statusOfHttp, statusOfReset, statusOfTrailers } from './grpc-status.ts'

export interface GrpcRequest {
  /** The path of the method, e.g. `/grpc.health.v1.Health/Check`. */
  readonly path: string
  readonly userAgent: string
  readonly message: Uint8Array
  readonly timeoutMs: number
}

/** The message of the response, or the status of a call that failed. */
export type GrpcResult = { readonly message: Buffer; readonly status?: never } | { readonly message?: never; readonly status: GrpcStatus }

/** The maximum size in bytes of a response message in google.golang.org/grpc (defaultClientMaxReceiveMessageSize). */
const maxMessageBytes = 4 * 1024 * 1024
/** The largest number that the header grpc-timeout may contain. */
const maxTimeout = 99_999_999
/** The length of the prefix of a message: one byte for the compression flag, and four bytes for the length of the message. */
const prefixBytes = 5

/** Calls a method. Rejects with the reason of `signal` when `signal` aborts. */
export async function grpcCall(session: ClientHttp2Session, request: GrpcRequest, signal: AbortSignal): Promise<GrpcResult> {
  const response = await exchange(session, request, signal)
  return resultOf(response)
}

interface Response {
  readonly headers: IncomingHttpHeaders | undefined
  readonly trailers: IncomingHttpHeaders
  /** The message with its prefix. If the message is too large, the body is incomplete, because the stream is closed early. */
  readonly body: Buffer
  readonly errorCode: number
  readonly isConnectionLost: boolean
}

function exchange(session: ClientHttp2Session, request: GrpcRequest, signal: AbortSignal): Promise<Response> {
  const { path, userAgent, message, timeoutMs } = request
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      'user-agent': userAgent,
      te: 'trailers',
      'grpc-timeout': timeoutText(timeoutMs),
    })
    let headers: IncomingHttpHeaders | undefined
    let trailers: IncomingHttpHeaders = {}
    const body = new Body()
    const abort = (): void => stream.close(constants.NGHTTP2_CANCEL)
    signal.addEventListener('abort', abort)
    stream.on('response', (received) => (headers = received))
    stream.on('trailers', (received) => (trailers = received))
    stream.on('data', (chunk: Buffer) => {
      body.add(chunk)
      if (body.isTooLarge) abort()
    })
    stream.on('error', () => undefined)
    stream.on('close', () => {
      signal.removeEventListener('abort', abort)
      if (signal.aborted) return reject(signal.reason as Error)
      const isConnectionLost = session.destroyed
      resolve({ headers, trailers, body: body.bytes(), errorCode: stream.rstCode, isConnectionLost })
    })
    const prefix = Buffer.alloc(prefixBytes)
    prefix.writeUInt32BE(message.length, 1)
    stream.end(Buffer.concat([prefix, message]))
  })
}

/**
 * Returns the value of the header grpc-timeout, which has at most eight digits and a unit
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). The timeout of a probe is an int32 number of seconds. In minutes, even
 * the longest timeout has at most eight digits.
 */
function timeoutText(ms: number): string {
  if (ms <= maxTimeout) return `${ms}m`
  const seconds = Math.ceil(ms / 1000)
  return seconds <= maxTimeout ? `${seconds}S` : `${Math.ceil(seconds / 60)}M`
}

/** Collects the body of a response. */
class Body {
  readonly #chunks: Buffer[] = []
  #length = 0
  #start = Buffer.alloc(0)

  /**
   * True when the message has more than `maxMessageBytes` bytes, according to the length in its prefix or to the number of bytes received.
   */
  get isTooLarge(): boolean {
    return this.#length > prefixBytes + maxMessageBytes || (lengthOf(this.#start) ?? 0) > maxMessageBytes
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#start.length < prefixBytes) this.#start = Buffer.concat([this.#start, chunk.subarray(0, prefixBytes)])
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

/** Returns the length of the message according to its prefix. Returns undefined when the prefix is incomplete. */
function lengthOf(body: Buffer): number | undefined {
  return body.length < prefixBytes ? undefined : body.readUInt32BE(1)
}

function resultOf({ headers, trailers, body, errorCode, isConnectionLost }: Response): GrpcResult {
  if (headers !== undefined) {
    const { ':status': status = 0, 'content-type': contentType } = headers as IncomingHttpHeaders & { ':status'?: number }
    if (contentType?.startsWith('application/grpc') !== true) return { status: statusOfHttp(status, contentType) }
  }
  const length = lengthOf(body)
  if (length !== undefined && length > maxMessageBytes)
    return failed('ResourceExhausted', `grpc: received message larger than max (${length} vs. ${maxMessageBytes})`)
  const code = valueOf(trailers, 'grpc-status') ?? valueOf(headers, 'grpc-status')
  if (code === undefined) {
    if (isConnectionLost) return failed('Unavailable', 'error reading from server: EOF')
    if (errorCode !== 0) return { status: statusOfReset(errorCode) }
    return failed('Internal', 'server closed the stream without sending trailers')
  }
  const status = statusOfTrailers(code, valueOf(trailers, 'grpc-message') ?? valueOf(headers, 'grpc-message') ?? '')
  return status === undefined ? messageOfBody(body, length) : { status }
}

function messageOfBody(body: Buffer, length: number | undefined): GrpcResult {
  if (length === undefined) return failed('Internal', 'cardinality violation: received no response message from non-server-streaming RPC')
  if (body[0] !== 0) return failed('Internal', 'grpc: compressed flag set with identity or empty encoding')
  if (body.length < prefixBytes + length) return failed('Internal', 'unexpected EOF')
  if (body.length === prefixBytes + length) return { message: body.subarray(prefixBytes) }
  return failed('Internal', 'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message')
}

function failed(...status: Parameters<typeof grpcStatus>): GrpcResult {
  return { status: grpcStatus(...status) }
}

/** Returns the first value of a header. */
function valueOf(headers: IncomingHttpHeaders | undefined, name: string): string | undefined {
  const value = headers?.[name]
  return typeof value === 'object' ? value[0] : value
}
