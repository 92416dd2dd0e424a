/** Writes responses as JSON, YAML or plain text. Adds `Warning` headers, and compresses large responses. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { stringify } from 'yaml'
import { expectEarlyRequest, longAnswer } from '../../runtime/early-request.ts'
import type { JsonObject } from '../../api/json.ts'
import { stringifyJson } from '../../api/json.ts'
import type { Status } from '../../api/status.ts'
import type { Exchange } from './exchange.ts'
import type { Encoding } from './negotiate.ts'
import { encodingOfError } from './negotiate.ts'

const gzipAsync = promisify(gzip)

/**
 * Size in bytes above which a response is compressed if the client accepts gzip (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters:
 * defaultGzipThresholdBytes).
 */
const gzipThreshold = 128 * 1024

/**
 * Maximum size in bytes of all warnings of one response. If the warnings are larger, each warning is truncated to `cutWarning` characters,
 * and the warnings that still exceed the maximum are dropped (k8s.io/apiserver/pkg/endpoints/filters: warning.go).
 */
const warningBudget = 4096
const cutWarning = 256

export interface Answer {
  readonly code: number
  /** Value of the Content-Type header; undefined for a response without this header. */
  readonly contentType?: string
  /**
   * The body. If the body is a buffer, the caller must not use the buffer after the call, because `respond` frees the memory of the buffer.
   */
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends a complete response, but does not wait until the socket has sent the response. If a response has already begun or the connection is
 * closed, sends nothing.
 */
export async function respond(exchange: Exchange, { code, contentType, body, headers = {} }: Answer): Promise<void> {
  const { request, response } = exchange
  if (response.headersSent || response.destroyed) return
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const bodiless = code === 204 || code === 304
  const compress = !bodiless && length > gzipThreshold && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const bytes = compress ? await gzipAsync(body, { level: 1 }) : asSent(body, exchange)
  if (compress) release(body)
  if (response.headersSent || response.destroyed) return
  setWarnings(exchange)
  const sent = compress ? bytes.length : length
  if (sent > longAnswer) expectEarlyRequest(response.socket)
  if (compress) response.appendHeader('Vary', 'Accept-Encoding')
  response.writeHead(code, {
    'Cache-Control': 'no-cache, private',
    ...(compress ? { 'Content-Encoding': 'gzip' } : {}),
    ...headers,
    ...(bodiless || contentType === undefined ? {} : { 'Content-Type': contentType }),
    ...(bodiless ? {} : { 'Content-Length': sent }),
  })
  response.end(bodiless ? undefined : bytes, typeof bytes === 'string' ? undefined : () => release(bytes))
}

/**
 * Frees the memory of bytes that are no longer used, unless other bytes share the memory. Without this function, V8 would free the memory,
 * which is outside of its heap, only at a garbage collection. Garbage collections would be more frequent, and a response with a list of
 * 5,000 objects would need twice the CPU time.
 */
function release(bytes: string | Buffer): void {
  if (typeof bytes === 'string') return
  const { buffer, length } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}

/**
 * Converts a string to bytes if the string is long or the response has warnings. A short string without warnings stays a string, because
 * Node.js writes a string together with the headers. Warnings require bytes: with a string, Node.js would encode the headers as UTF-8, and
 * would change the non-ASCII bytes of the warnings.
 */
function asSent(body: string | Buffer, { warnings }: Exchange): string | Buffer {
  return typeof body === 'string' && (body.length > longAnswer || warnings.size > 0) ? Buffer.from(body) : body
}

/** Sends an object in the negotiated encoding. `json` returns the object as JSON, followed by a line break. */
export function respondObject(
  exchange: Exchange,
  code: number,
  object: JsonObject,
  json: () => string | Buffer,
  encoding: Encoding,
): Promise<void> {
  if (encoding === 'yaml') return respond(exchange, { code, contentType: 'application/yaml', body: yamlText(object) })
  return respond(exchange, {
    code,
    contentType: 'application/json',
    body: isPrettyPrint(exchange) ? stringifyJson(object, 2) : json(),
  })
}

/** User agents for which JSON is indented (k8s.io/apiserver/pkg/endpoints/handlers/negotiation: isPrettyPrint). */
const prettyPrintAgents = /^(?:curl|Wget|Mozilla\/5\.0)/

function isPrettyPrint({ query, request }: Exchange): boolean {
  const pretty = query.get('pretty') ?? ''
  return pretty === '' ? prettyPrintAgents.test(request.headers['user-agent'] ?? '') : goTrue.test(pretty)
}

/** The values that Go's `strconv.ParseBool` parses as true. */
const goTrue = /^(?:1|t|T|true|TRUE|True)$/

/**
 * Formats YAML with sorted keys. Strings that YAML 1.1 would parse as another type, such as `yes`, are quoted, because Kubernetes reads
 * YAML 1.1.
 */
function yamlText(object: object): string {
  return stringify(object, { version: '1.1', sortMapEntries: true, indentSeq: false, lineWidth: 0 })
}

/** Sends a `Status` for an error, in the encoding that the client prefers. */
export function respondStatus(exchange: Exchange, status: Status, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const code = status.code ?? 500
  const retryAfter = status.details?.retryAfterSeconds
  const encoding = encodingOfError(exchange.request.headers.accept)
  return respond(exchange, {
    code,
    contentType: encoding === 'yaml' ? 'application/yaml' : 'application/json',
    body:
      encoding === 'yaml'
        ? yamlText(status)
        : isPrettyPrint(exchange)
          ? JSON.stringify(status, undefined, 2)
          : `${JSON.stringify(status)}\n`,
    headers: { ...headers, ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }) },
  })
}

export function respondText(exchange: Exchange, code: number, body: string): Promise<void> {
  return respond(exchange, { code, contentType: 'text/plain; charset=utf-8', body, headers: { 'X-Content-Type-Options': 'nosniff' } })
}

/** Sets the collected warnings as headers. Drops warnings with control characters, which are invalid in a header. */
export function setWarnings({ response, warnings }: Exchange): void {
  if (warnings.size === 0) return
  const texts = [...warnings].filter((text) => !/\p{Cc}/u.test(text))
  const total = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const kept: string[] = []
  let left = warningBudget
  for (const text of total > warningBudget ? texts.map((long) => long.slice(0, cutWarning)) : texts) {
    left -= Buffer.byteLength(text)
    if (left < 0) break
    kept.push(warningHeader(text))
  }
  if (kept.length > 0) response.setHeader('Warning', kept)
}

/**
 * Formats the Warning header `299 - "message"`. As in Go, the header contains UTF-8 bytes. Node.js requires a string in which each byte is
 * one latin1 character.
 */
function warningHeader(text: string): string {
  return Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1')
}
