/** `Transport`: sends HTTP requests to one API server over connections that are reused. Throws an `ApiError` for a failure response. */
import type { Dispatcher } from 'undici'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { ProreusError } from '../api/errors.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { Status } from '../api/status.ts'
import { sleep, untilAborted } from '../runtime/waiting.ts'
import { ApiError, statusOf } from './api-error.ts'
import type { ApiRequest } from './api-request.ts'
import type { ApiResponse, ResponseHeaders } from './api-response.ts'
import { bodyOf } from './api-response.ts'
import { maxTextBytes, readText } from './body-text.ts'
import type { Connection } from './connection.ts'
import type { Credentials } from './credentials.ts'
import { Dispatchers } from './dispatchers.ts'
import { Fence } from './fence.ts'
import { impersonationHeaders, withoutImpersonation } from './impersonation.ts'
import type { RequestReport } from '../telemetry/request-report.ts'
import { sizesOf } from '../telemetry/request-report.ts'
import { ResponseTooLargeError } from './response-too-large.ts'
import { isRepeatable, maxRepeats, pauseMs, retryAfterOf } from './retry-request.ts'
import { formatQuery } from './resource-path.ts'
import type { VerbTimeouts } from './timeouts.ts'
import { timeoutOf } from './timeouts.ts'
import { isConnectionReset, unreachable } from './unreachable.ts'
import { defaultUserAgent } from './user-agent.ts'
import { parseWarnings } from './warning.ts'

export type { ApiResponse, RequestReport }

/** The request whose response has a `Warning` header. */
export interface WarnedRequest {
  readonly method: string
  readonly path: string
}

export interface TransportOptions {
  readonly userAgent?: string
  /** Called after each attempt, for metrics. */
  readonly onRequest?: (report: RequestReport) => void
  /** Called for each warning in the `Warning` header of a response, with the warning's text and the request. */
  readonly onWarning?: (text: string, request: WarnedRequest) => void
  /**
   * Time limit of one attempt in milliseconds, including the loading of credentials. For a stream, the limit applies until the response
   * headers arrive. Default 65 s, which is longer than the timeout of the API server (60 s).
   *
   * A number applies to all requests. An object has limits by verb, e.g. `{ list: 120_000, default: 30_000 }`.
   */
  readonly timeoutMs?: number | VerbTimeouts
  /**
   * Maximum size of a response in bytes. If a response is longer, the rest is not read, and the request rejects with `PRO_API`. The limit
   * does not apply to watches and logs, because they are read line by line. Default and maximum: about 512 MiB, because a longer response
   * does not fit into a string.
   */
  readonly maxResponseBytes?: number
  readonly clock?: Clock
  /** Returns a number in [0, 1), for the jitter of pauses; `Math.random` when absent. */
  readonly random?: () => number
}

export interface Transport {
  /** Resolves to a 2xx response; rejects with `ApiError` for any other response. */
  request(request: ApiRequest): Promise<ApiResponse>
  /**
   * Resolves to the body of a 2xx response as a stream; rejects with `ApiError` for any other response. The signal of the request also
   * aborts the stream.
   */
  stream(request: ApiRequest): Promise<AsyncIterable<Buffer>>
  /**
   * Aborts all streams, and all requests that wait for credentials or a retry. After a second, requests that still run are aborted, too.
   * Then the connections are closed.
   */
  close(): Promise<void>
}

export function createTransport(connection: Connection, options: TransportOptions = {}): Transport {
  return new HttpTransport(connection, options)
}

const closeGraceMs = 1000
/** Maximum number of bytes that are read from a failure response. A `Status` has a few kilobytes. */
const maxFailureBytes = 1024 * 1024

/** The state of a request that may have several attempts. */
interface Attempts {
  readonly request: ApiRequest
  readonly streaming: boolean
  readonly fence: Fence | undefined
  /** The number of attempts so far. */
  count: number
  /** The 401 response to an earlier attempt. */
  refused: Answer | undefined
}

/** A response. Either `text` is its complete body, or `stream` is the body that is still being received. */
interface Answer {
  /** The credentials of the request. */
  readonly credentials: Credentials
  readonly statusCode: number
  readonly headers: ResponseHeaders
  readonly text: string
  readonly stream?: AsyncIterable<Buffer>
}

class HttpTransport implements Transport {
  readonly #connection: Connection
  readonly #options: TransportOptions
  readonly #clock: Clock
  readonly #random: () => number
  readonly #origin: string
  readonly #prefix: string
  readonly #host: string
  readonly #userAgent: string
  #dispatchers: Dispatchers | undefined
  /**
   * Dispatchers that new requests no longer use, because the client certificate has changed or a request has timed out. Earlier requests
   * may still use them.
   */
  readonly #retired = new Set<Dispatchers>()
  /** The abort controllers of running attempts. */
  readonly #running = new Set<AbortController>()
  /** The abort controllers of attempts whose credentials are not loaded yet. */
  readonly #loading = new Set<AbortController>()
  /** The abort controllers of open streams. */
  readonly #streams = new Set<AbortController>()
  /** Aborts all pauses between retries. */
  readonly #closing = new AbortController()
  #closed: Promise<void> | undefined

  constructor(connection: Connection, options: TransportOptions) {
    const url = serverUrl(connection)
    this.#connection = connection
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#origin = url.origin
    this.#prefix = url.pathname.replace(/\/+$/, '')
    this.#host = url.host
    this.#userAgent = options.userAgent ?? defaultUserAgent()
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const { statusCode, headers, text } = await this.#answer(request, false)
    return { statusCode, headers, body: bodyOf(headers, text, request) }
  }

  async stream(request: ApiRequest): Promise<AsyncIterable<Buffer>> {
    const { stream } = await this.#answer(request, true)
    return this.#chunks(stream!, request.signal)
  }

  close(): Promise<void> {
    this.#closing.abort(this.#closedWhile('waited for its next try'))
    this.#closed ??= this.#closeAll([...this.#retired, ...(this.#dispatchers === undefined ? [] : [this.#dispatchers])])
    return this.#closed
  }

  /**
   * Closes all connections. After `closeGraceMs`, requests that still run are aborted, because an unresponsive API server must not delay
   * `close`.
   */
  async #closeAll(open: readonly Dispatchers[]): Promise<void> {
    const patience = Promise.withResolvers<void>()
    const giveUp = (): void => {
      this.#running.forEach((abort) => abort.abort())
      open.forEach((dispatchers) => dispatchers.destroy())
      patience.resolve()
    }
    const timer = this.#clock.after(closeGraceMs, giveUp, true)
    // undici does not abort the streams on retired connections, so all streams are aborted explicitly.
    this.#streams.forEach((abort) => abort.abort())
    this.#loading.forEach((abort) => abort.abort())
    try {
      await Promise.race([patience.promise, Promise.all(open.map((dispatchers) => dispatchers.close()))])
    } finally {
      timer.cancel()
    }
  }

  /** Sends a request, and returns its 2xx response. A failed request is retried when a retry is safe. */
  async #answer(request: ApiRequest, streaming: boolean): Promise<Answer> {
    const fence = request.guard === undefined ? undefined : new Fence(request.guard)
    const attempts: Attempts = { request, streaming, fence, count: 0, refused: undefined }
    let reset = false
    for (let repeats = 0; ;) {
      let answer: Answer
      try {
        answer = await this.#attempt(attempts)
      } catch (error) {
        // The server may close an idle connection at the moment when a request is sent on it. A GET request is then retried once.
        if (reset || fence?.refusal !== undefined || request.method !== 'GET' || !isConnectionReset(causeOf(error))) throw error
        reset = true
        continue
      }
      if (answer.statusCode >= 200 && answer.statusCode < 300) return answer
      if (answer.statusCode === 401 && attempts.refused === undefined) {
        attempts.refused = answer
        continue
      }
      const retryAfter = retryAfterOf(answer.headers)
      if (repeats >= maxRepeats || !isRepeatable(request, answer.statusCode, retryAfter)) throw this.#failure(request, answer, retryAfter)
      repeats += 1
      await this.#pause(pauseMs(retryAfter!, this.#random()), request.signal)
    }
  }

  /** Waits for `ms` milliseconds. Rejects when the signal aborts (with its reason), or when the transport is closed. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const closing = this.#closing.signal
    await sleep(this.#clock, ms, signal === undefined ? closing : AbortSignal.any([signal, closing]))
  }

  /**
   * Loads the credentials, and sends the request once. There is one exception: if the server answered an earlier attempt with 401, and the
   * loaded credentials are the same as in that attempt, the method sends no request and returns the earlier 401 response.
   *
   * Rejects with one of these errors:
   *
   * - the reason of the signal, when the signal aborts
   * - the error of the request's `guard`, when the `guard` throws
   * - `PRO_ABORTED` when the transport is closed
   * - `PRO_KUBECONFIG` when the credentials cannot be loaded
   * - `PRO_API` when the response is too large
   * - `PRO_API_UNREACHABLE` for any other failure
   */
  async #attempt(attempts: Attempts): Promise<Answer> {
    const { request, streaming, fence, refused } = attempts
    const { signal, method } = request
    const timeoutMs = timeoutOf(request, this.#options.timeoutMs)
    signal?.throwIfAborted()
    const abort = new AbortController()
    this.#running.add(abort)
    const onAbort = (): void => abort.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    // While a credential plugin runs, neither the plugin nor a connection of the request keeps this process alive. The timer therefore
    // keeps this process alive.
    const timer = this.#clock.after(timeoutMs, () => abort.abort(new TimeoutError()), true)
    let dispatchers: Dispatchers | undefined
    let started: number | undefined
    let code: number | 'error' = 'error'
    let received: string | undefined
    let unlink = true
    try {
      this.#loading.add(abort)
      const credentials = await untilAborted(this.#credentials(refused?.credentials), abort.signal, () => undefined)
      this.#loading.delete(abort)
      if (refused !== undefined && areEqual(credentials, refused.credentials)) return refused
      dispatchers = this.#current(credentials)
      started = this.#clock.monotonicNow()
      attempts.count += 1
      const pool = dispatchers[streaming ? 'watches' : 'requests']
      const answer = (fence?.around(pool) ?? pool).request({
        origin: this.#origin,
        path: `${this.#prefix}${request.path}${formatQuery(request.query)}`,
        method: method as Dispatcher.HttpMethod,
        headers: this.#headers(request, credentials.authorization),
        body: request.body ?? null,
        signal: abort.signal,
        // undici's timeouts are disabled, because they would also end a watch without events. `timeoutMs` applies instead.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      const { statusCode, headers, body } = await untilAborted(answer, abort.signal, (late) =>
        late.body.on('error', () => undefined).destroy(),
      )
      this.#warn(headers.warning, request)
      const isSuccess = statusCode >= 200 && statusCode < 300
      if (streaming && isSuccess) {
        unlink = false
        // Without a listener, an error before the first read would end the process. The listener can ignore the error, because the reader
        // of the stream receives it, too.
        body.on('error', () => undefined)
        this.#streams.add(abort)
        body.once('close', () => {
          this.#streams.delete(abort)
          signal?.removeEventListener('abort', onAbort)
        })
        code = statusCode
        return { credentials, statusCode, headers, text: '', stream: body }
      }
      const maxResponseBytes = request.maxResponseBytes ?? this.#options.maxResponseBytes ?? maxTextBytes
      const text = isSuccess
        ? await readText(body, maxResponseBytes, () => new ResponseTooLargeError(request, maxResponseBytes))
        : await readText(body, maxFailureBytes)
      code = statusCode
      if (!streaming) received = text
      return { credentials, statusCode, headers, text }
    } catch (error) {
      if (fence?.refusal !== undefined) throw fence.refusal.error
      if (abort.signal.reason instanceof TimeoutError && dispatchers === undefined)
        throw this.#credentialsTimedOut(abort.signal.reason, timeoutMs)
      // After a timeout, the other open connections may be dead, too. Later requests therefore use new connections.
      if (abort.signal.reason instanceof TimeoutError && this.#dispatchers === dispatchers) this.#renew()
      throw this.#networkError(error, signal)
    } finally {
      timer.cancel()
      this.#running.delete(abort)
      this.#loading.delete(abort)
      if (unlink) signal?.removeEventListener('abort', onAbort)
      // A request that the guard has refused was not sent, so it is not reported.
      if (started !== undefined && fence?.refusal === undefined) {
        const seconds = (this.#clock.monotonicNow() - started) / 1000
        const more = { ...(attempts.count > 1 && { isRetry: true }), ...(!streaming && sizesOf(request.body, received)) }
        this.#options.onRequest?.({ method, verb: request.verb ?? method.toLowerCase(), host: this.#host, code, seconds, ...more })
      }
    }
  }

  async *#chunks(stream: AsyncIterable<Buffer>, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* stream
    } catch (error) {
      throw this.#networkError(error, signal)
    }
  }

  /** Loads the credentials. `refused` contains the credentials that the server has just rejected. */
  async #credentials(refused: Credentials | undefined): Promise<Credentials> {
    this.#checkOpen()
    const { authorization, tls } = this.#connection
    const [header, certificates] = await Promise.all([authorization?.(refused?.authorization), tls?.(refused)])
    return { ...certificates, ...(header === undefined ? {} : { authorization: header }) }
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return
    throw new ProreusError('PRO_ABORTED', `The client of ${this.#connection.server} is closed and takes no more requests.`)
  }

  #current(tls: Credentials): Dispatchers {
    this.#checkOpen()
    if (this.#dispatchers?.carry(tls) !== true) this.#renew()
    this.#dispatchers ??= new Dispatchers(this.#connection, tls)
    return this.#dispatchers
  }

  /** Opens new connections for later requests. Running requests and watches keep their connections. */
  #renew(): void {
    const dispatchers = this.#dispatchers
    this.#dispatchers = undefined
    if (dispatchers === undefined) return
    this.#retired.add(dispatchers)
    const forget = (): void => void this.#retired.delete(dispatchers)
    dispatchers.retire().then(forget, forget) // `retire` rejects only if the dispatchers are closed while `retire` runs.
  }

  #headers(request: ApiRequest, authorization: string | undefined): Record<string, string | string[]> {
    return {
      ...(request.impersonate === undefined
        ? this.#connection.headers
        : { ...withoutImpersonation(this.#connection.headers ?? {}), ...impersonationHeaders(request.impersonate) }),
      'user-agent': request.userAgent ?? this.#userAgent,
      accept: request.accept ?? 'application/json',
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      ...(authorization === undefined ? {} : { authorization }),
    }
  }

  #warn(header: string | string[] | undefined, { method, path }: ApiRequest): void {
    if (header === undefined || this.#options.onWarning === undefined) return
    for (const text of parseWarnings(header)) this.#options.onWarning(text, { method, path })
  }

  #networkError(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason
    if (error instanceof ProreusError) return error
    if (this.#closed !== undefined) return this.#closedWhile('ran', { cause: error })
    return unreachable(this.#connection, error)
  }

  #credentialsTimedOut(cause: unknown, timeoutMs: number): ProreusError {
    const seconds = timeoutMs / 1000
    return new ProreusError('PRO_KUBECONFIG', `The credentials of ${this.#connection.describe} were not loaded within ${seconds} s.`, {
      cause,
    })
  }

  #closedWhile(what: string, options?: { cause: unknown }): ProreusError {
    return new ProreusError('PRO_ABORTED', `The client of ${this.#connection.server} was closed while this request ${what}.`, options)
  }

  #failure(request: ApiRequest, answer: Answer, retryAfterSeconds: number | undefined): ApiError {
    const status = statusOf(answer.statusCode, answer.text, request, retryAfterSeconds)
    const note = this.#noteOn(status, request)
    return new ApiError(status, { method: request.method, path: request.path, ...(note !== undefined && { note }) })
  }

  /** Returns advice for the user; undefined when there is none. The message of an `ApiError` contains this advice. */
  #noteOn(status: Status, { type }: ApiRequest): string | undefined {
    const { server, describe } = this.#connection
    if (status.code === 401) return `${server} does not accept the credentials of ${describe}: renew them, or choose others`
    // For a missing object, the response is a `Status` with `details`. For a type that is not served, the response is plain text.
    if (status.code !== 404 || status.details !== undefined || type === undefined) return undefined
    return `${groupResourceOf(type)} in version ${type.version} is not served; its CustomResourceDefinition may be missing`
  }
}

/**
 * The internal abort reason of an attempt that exceeds its time limit. Callers get a `PRO_API_UNREACHABLE` error, or a `PRO_KUBECONFIG`
 * error when the credentials were not loaded in time.
 */
class TimeoutError extends Error {
  readonly code = 'PRO_TIMEOUT'
}

function areEqual(a: Credentials, b: Credentials): boolean {
  return a.authorization === b.authorization && a.cert === b.cert && a.key === b.key
}

/**
 * Returns the cause of an error. Returns undefined if the thrown value is not an `Error`. Such a value is possible, because a caller may
 * abort a signal with any reason.
 */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

function serverUrl(connection: Connection): URL {
  const url = URL.canParse(connection.server) ? new URL(connection.server) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ProreusError(
      'PRO_KUBECONFIG',
      `"${connection.server}" in ${connection.describe} is not an address of an API server: it must be https://host:port or http://host:port.`,
    )
  }
  return url
}
