/** Non-resource paths: discovery, OpenAPI, version, health, and the index at `/`. */
import type { JsonObject } from '../../api/json.ts'
import { methodNotAllowed, unknownResource } from '../apimachinery/status-error.ts'
import type { Exchange } from './exchange.ts'
import { acceptsAggregated, negotiate, parseAccept } from './negotiate.ts'
import { respond, respondObject, respondText } from './respond.ts'
import type { Services } from './services.ts'

/** The version of Kubernetes whose API the embedded API server imitates. */
export const serverVersion = { major: '1', minor: '36', gitVersion: 'v1.36.3+proreus' }

// Clients request a media type with `@`, although `@` is invalid in media types. kube-apiserver responds with the media type that has a dot
// instead of `@`.
const openApiV2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const openApiV2ProtobufWithAt = openApiV2Protobuf.replace('.v1.0', '@v1.0')

/**
 * The values in an Accept header that `/openapi/v2` supports: the media types of the document, and the media ranges that include these
 * types.
 */
const openApiV2Types: ReadonlySet<string> = new Set([
  'application/json',
  'application/*',
  '*/*',
  openApiV2Protobuf,
  openApiV2ProtobufWithAt,
])

const healthPath = /^\/(healthz|livez|readyz)(?:\/(.+))?$/
const checks = ['ping']
const plainText = 'text/plain; charset=utf-8'

export async function handlePath(exchange: Exchange, services: Services): Promise<void> {
  const path = exchange.path.length > 1 ? exchange.path.replace(/\/$/, '') : exchange.path
  const health = healthPath.exec(path)
  if (health !== null) return handleHealth(exchange, health[1]!, health[2])
  if (path === '/' || path === '/index.html') return json(exchange, index(services))
  if (path === '/version') {
    refuseWrites(exchange)
    return json(exchange, versionJson())
  }
  if (path === '/api' || path === '/apis') return handleDiscoveryRoot(exchange, services, path === '/api')
  const [, root, group = '', version, ...more] = path.split('/')
  if (root === 'api' && version === undefined) return handleResourceList(exchange, services, '', group)
  if (root === 'apis' && version === undefined) return handleGroup(exchange, services, group)
  if (root === 'apis' && more.length === 0) return handleResourceList(exchange, services, group, version!)
  if (path === '/metrics') return handleMetrics(exchange, services)
  if (path === '/openapi/v2') return handleOpenApiV2(exchange, services)
  if (path === '/openapi/v3' || path.startsWith('/openapi/v3/')) return handleOpenApi(exchange, services, path)
  return notFoundText(exchange)
}

/** Responds to an unknown path with a plain-text 404, like kube-apiserver. */
export function notFoundText(exchange: Exchange): Promise<void> {
  return respondText(exchange, 404, '404 page not found\n')
}

/**
 * Responds to a request whose path contains an unknown version. kube-apiserver has different error responses for built-in groups and for
 * groups of CRDs.
 */
export function unknownVersion(exchange: Exchange, { catalog }: Services, group: string): Promise<void> {
  if (catalog.all().some((info) => info.group === group && !info.custom)) throw unknownResource()
  return notFoundText(exchange)
}

/**
 * Throws 405 for methods other than GET. Handlers of most documents do not call this function, because kube-apiserver accepts any method
 * for these documents.
 */
function refuseWrites({ method }: Exchange): void {
  if (method !== 'GET') throw methodNotAllowed()
}

async function handleDiscoveryRoot(exchange: Exchange, { discovery }: Services, core: boolean): Promise<void> {
  if (core) refuseWrites(exchange)
  if (acceptsAggregated(exchange.request.headers.accept)) {
    const { text, etag } = discovery.aggregated(core)
    exchange.response.setHeader('Vary', 'Accept')
    return document(exchange, text, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', etag)
  }
  if (!core) return legacy(exchange, discovery.groupList())
  return legacy(exchange, discovery.coreVersions(exchange.request.headers.host ?? ''), true)
}

/** Handles `/apis/GROUP`. */
function handleGroup(exchange: Exchange, { discovery }: Services, name: string): Promise<void> {
  const group = discovery.group(name)
  return group === undefined ? notFoundText(exchange) : legacy(exchange, group)
}

/** Handles `/api/VERSION` and `/apis/GROUP/VERSION`. */
function handleResourceList(exchange: Exchange, services: Services, group: string, version: string): Promise<void> {
  const list = services.discovery.resourceList(group, version)
  if (list === undefined) return unknownVersion(exchange, services, group)
  const own = services.catalog.ofGroupVersion(group, version).some(({ custom }) => !custom)
  if (own) refuseWrites(exchange)
  return legacy(exchange, list, own)
}

/**
 * Responds with a legacy discovery document, as JSON or YAML. `routed` is true when kube-apiserver serves the document with go-restful, its
 * router for built-in types.
 */
function legacy(exchange: Exchange, value: JsonObject, routed = false): Promise<void> {
  const { encoding } = negotiate(exchange.request.headers.accept, { route: routed ? 'object' : 'document' })
  return respondObject(exchange, 200, value, () => `${JSON.stringify(value)}\n`, encoding)
}

/** Handles `/openapi/v2` (k8s.io/kube-openapi/pkg/handler: RegisterOpenAPIVersionedService). */
async function handleOpenApiV2(exchange: Exchange, { openApiV2 }: Services): Promise<void> {
  const vary = { Vary: 'Accept-Encoding, Accept' }
  const { type } = parseAccept(exchange.request.headers.accept).find((range) => openApiV2Types.has(range.type)) ?? {}
  if (type === undefined) return respond(exchange, { code: 406, body: '', headers: vary })
  const { json: text, protobuf, etag, madeAt } = await openApiV2.document()
  const headers = { ...vary, ETag: etag, 'Cache-Control': 'no-cache, private', 'Last-Modified': new Date(madeAt).toUTCString() }
  if (isKnown(exchange, etag)) return respond(exchange, { code: 304, body: '', headers })
  const isProtobuf = type === openApiV2Protobuf || type === openApiV2ProtobufWithAt
  return respond(exchange, {
    code: 200,
    contentType: isProtobuf ? openApiV2Protobuf : 'application/json',
    // The body is a copy of the document, because `respond` frees the memory of the body, and later requests still need the document.
    body: Buffer.from(isProtobuf ? await protobuf() : text),
    headers,
  })
}

async function handleOpenApi(exchange: Exchange, { openApi }: Services, path: string): Promise<void> {
  const ranges = parseAccept(exchange.request.headers.accept)
  const empty = (code: number): Promise<void> => respond(exchange, { code, body: '' })
  // kube-apiserver ignores the Accept header for the index, and sends the index as plain text.
  if (path === '/openapi/v3') return respond(exchange, { code: 200, contentType: plainText, body: `${JSON.stringify(openApi.index())}\n` })
  const found = openApi.document(path.slice('/openapi/v3/'.length))
  if (found === undefined) return empty(404)
  exchange.response.setHeader('Vary', 'Accept')
  if (!ranges.some(({ type }) => type === 'application/json' || type === 'application/*' || type === '*/*')) return empty(406)
  const hash = exchange.query.get('hash')
  if (hash !== null && hash !== found.hash) {
    // If the hash in the URL is from an older index, the server redirects the client to the current document.
    const location = `${path}?hash=${found.hash}`
    return respond(exchange, { code: 301, contentType: plainText, body: '', headers: { Location: location } })
  }
  return document(exchange, found.text, 'application/json', `"${found.hash}"`, hash === null ? 'no-cache, private' : 'public, immutable')
}

/** Responds with a document and its ETag, or with 304 when the client already has the current document. */
function document(exchange: Exchange, body: string, contentType: string, etag: string, cacheControl = 'public'): Promise<void> {
  const code = isKnown(exchange, etag) ? 304 : 200
  return respond(exchange, { code, contentType, body, headers: { ETag: etag, 'Cache-Control': cacheControl } })
}

/** True when the client already has the document with this ETag. */
function isKnown({ request }: Exchange, etag: string): boolean {
  return (request.headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

function json(exchange: Exchange, value: JsonObject): Promise<void> {
  return respond(exchange, { code: 200, contentType: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` })
}

async function handleMetrics(exchange: Exchange, { metrics }: Services): Promise<void> {
  return respond(exchange, { code: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: await metrics.text() })
}

function handleHealth(exchange: Exchange, name: string, check: string | undefined): Promise<void> {
  if (check !== undefined && !checks.includes(check)) return notFoundText(exchange)
  if (!exchange.query.has('verbose')) return respondText(exchange, 200, 'ok')
  const lines = [...checks.map((passed) => `[+]${passed} ok`), `${name} check passed`, '']
  return respondText(exchange, 200, lines.join('\n'))
}

function versionJson(): JsonObject {
  return {
    ...serverVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}

function index({ discovery }: Services): JsonObject {
  const health = ['healthz', 'livez', 'readyz'].flatMap((name) => [`/${name}`, ...checks.map((check) => `/${name}/${check}`)])
  return { paths: [...discovery.paths(), ...health, '/metrics', '/openapi/v2', '/openapi/v3', '/version'].sort() }
}
