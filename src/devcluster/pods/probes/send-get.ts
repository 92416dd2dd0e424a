/** `sendGet`: sends one GET request without following redirects. The error messages are those of Go's package `net/http`. */
import type { ClientRequest, IncomingMessage, InformationEvent } from 'node:http'
import { request as startRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../../api/errors.ts'
import { quote } from '../../../api/field-error.ts'
import { DeadlineExceeded } from './deadline.ts'
import type { Connection } from './dial.ts'
import { ConnectionError, codeOf, dial, networkMessage } from './dial.ts'
import type { HttpRequest } from './http-request.ts'
import { urlOf } from './http-request.ts'
import type { ProbeTarget } from './probe-target.ts'
import { startTls } from './start-tls.ts'

/** The error of a request without a response. The message is that of Go's `url.Error`, e.g. `Get "http://10.0.0.1:80/": EOF`. */
export class HttpError extends Error {
  constructor(url: string, message: string, options?: ErrorOptions) {
    super(`Get ${quote(url)}: ${message}`, options)
  }
}

export interface HttpResponse {
  readonly status: number
  readonly location: string | undefined
  /**
   * Reads at most `limit` bytes of the body, and closes the connection.
   *
   * @throws {ConnectionError} when the body is incomplete or invalid.
   * @throws the reason of the signal when the signal aborts.
   */
  readBody(limit: number): Promise<string>
  /** Closes the connection. */
  close(): void
}

export interface SendOptions {
  readonly target: ProbeTarget
  /** The host to connect to. Default: the address of the Pod. */
  readonly host: string | undefined
  /** Aborts the request, and the reading of the response. */
  readonly signal: AbortSignal
}

/**
 * The maximum size in bytes of the header of a response. Go's limit is 10 MiB. This lower limit saves memory, and is sufficient for real
 * servers.
 */
const maxHeaderBytes = 1024 * 1024
/**
 * The maximum total size in bytes of the informational responses (such as `103 Early Hints`) to one request. Go's limit is 10 MiB. The
 * limit here is lower, because Node.js needs much more time for many small responses than for one large response.
 */
const maxInformationBytes = 64 * 1024

/**
 * Sends a request.
 *
 * @throws {HttpError} when the request is invalid, when no response arrives, or when `signal` aborts with a `DeadlineExceeded`.
 * @throws the reason of `signal` when `signal` aborts with another reason.
 */
export async function sendGet(request: HttpRequest, { target, host, signal }: SendOptions): Promise<HttpResponse> {
  const url = urlOf(request)
  const problem = problemOf(request)
  if (problem !== undefined) throw new HttpError(url, problem)
  let connection: Connection | undefined
  try {
    connection = await dial(target, { port: request.port, host, signal })
    const stream = request.scheme === 'https' ? await startTls(connection, request.hostname, signal) : connection.socket
    return await exchange(request, stream, signal)
  } catch (error) {
    connection?.socket.destroy()
    if (!signal.aborted) throw new HttpError(url, failureMessage(error, connection?.ends ?? ''), { cause: error })
    if (signal.reason instanceof DeadlineExceeded)
      throw new HttpError(url, `${signal.reason.message} (Client.Timeout exceeded while awaiting headers)`, { cause: error })
    throw signal.reason
  }
}

/** Returns the reason why Go's `http.Transport` refuses a request. */
function problemOf({ scheme, headers }: HttpRequest): string | undefined {
  if (scheme !== 'http' && scheme !== 'https') return `unsupported protocol scheme ${quote(scheme)}`
  for (const [name, value] of headers) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `net/http: invalid header field name ${quote(name)}`
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) return `net/http: invalid header field value for ${quote(name)}`
  }
  return undefined
}

function exchange(request: HttpRequest, stream: Duplex, signal: AbortSignal): Promise<HttpResponse> {
  const { path, headers, authority, declaredHost = authority } = request
  // Go sends an empty header Host when the host is invalid.
  const host = /^[!-~]*$/.test(declaredHost) ? declaredHost : ''
  return new Promise((resolve, reject) => {
    const outgoing = startRequest({
      createConnection: () => stream,
      path,
      headers: ['Host', host, ...headers.flatMap(([name, value]) => [name, asBytes(value)])],
      maxHeaderSize: maxHeaderBytes,
      // Like Go, this parser accepts lines that end without a carriage return.
      insecureHTTPParser: true,
      signal,
    })
    outgoing.on('error', reject)
    let informationBytes = 0
    outgoing.on('information', (information) => {
      informationBytes += headerBytes(information)
      if (informationBytes > maxInformationBytes) outgoing.destroy(new Error(tooLargeMessage(maxInformationBytes)))
    })
    outgoing.on('response', (message) => resolve(new ReceivedResponse(message, outgoing, signal)))
    // The server has switched to another protocol, so there is no body.
    outgoing.on('upgrade', (message) => {
      stream.destroy()
      resolve(new ReceivedResponse(message, outgoing, signal))
    })
    outgoing.end()
  })
}

/** Returns the number of bytes of a response without its body. */
function headerBytes({ statusMessage, rawHeaders }: InformationEvent): number {
  return `HTTP/1.1 100 ${statusMessage}\r\n\r\n`.length + rawHeaders.reduce((sum, word) => sum + word.length + 2, 0)
}

/** Returns a string with one character for each UTF-8 byte of the text, because Node.js writes each character of a header as one byte. */
function asBytes(value: string): string {
  return Buffer.from(value).toString('latin1')
}

class ReceivedResponse implements HttpResponse {
  readonly status: number
  readonly location: string | undefined
  readonly #message: IncomingMessage
  readonly #outgoing: ClientRequest
  readonly #signal: AbortSignal
  #problem: Error | undefined

  constructor(message: IncomingMessage, outgoing: ClientRequest, signal: AbortSignal) {
    this.status = message.statusCode ?? 0
    this.location = message.headers.location
    this.#message = message
    this.#outgoing = outgoing
    this.#signal = signal
    // If the body is invalid, the ClientRequest emits the exact error. The IncomingMessage emits only the error that the body is
    // incomplete.
    outgoing.on('error', (error) => (this.#problem ??= error))
    message.on('error', (error) => (this.#problem ??= error))
  }

  async readBody(limit: number): Promise<string> {
    const chunks: Buffer[] = []
    let length = 0
    try {
      for await (const chunk of this.#message as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        length += chunk.length
        if (length >= limit) break
      }
    } catch (error) {
      this.#signal.throwIfAborted()
      const cause = this.#problem ?? error
      throw new ConnectionError(bodyMessage(cause), { cause })
    } finally {
      this.close()
    }
    return Buffer.concat(chunks).subarray(0, limit).toString()
  }

  close(): void {
    this.#outgoing.destroy()
  }
}

/** Returns the message of an error that occurred before the response. */
function failureMessage(error: unknown, ends: string): string {
  if (error instanceof ConnectionError) return error.message
  return networkMessage(error, ends) ?? `net/http: HTTP/1.x transport connection broken: ${parseMessage(error)}`
}

function parseMessage(error: unknown): string {
  if (codeOf(error) === 'HPE_HEADER_OVERFLOW') return tooLargeMessage(maxHeaderBytes)
  const packet = error instanceof Error && 'rawPacket' in error ? error.rawPacket : undefined
  const [line = ''] = packet instanceof Buffer ? packet.subarray(0, maxShownBytes).toString('latin1').split(/\r?\n/) : []
  if (packet !== undefined && !line.startsWith('HTTP/')) return `malformed HTTP response ${quote(line)}`
  return messageOf(error)
}

function tooLargeMessage(limit: number): string {
  return `net/http: server response headers exceeded ${limit} bytes; aborted`
}

/**
 * An error message quotes at most this number of bytes of the first line of a response. The first line can be long, because the server can
 * send any bytes.
 */
const maxShownBytes = 200

function bodyMessage(error: unknown): string {
  switch (codeOf(error)) {
    case 'ECONNRESET':
      return 'unexpected EOF'
    case 'HPE_INVALID_CHUNK_SIZE':
      return 'invalid byte in chunk length'
    default:
      return messageOf(error)
  }
}
