/** Paths that are no resources: discovery, OpenAPI, version, health, and the index at `/`. */
import type { JsonObject } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { StatusError, methodNotAllowed } from '../registry/status-error.ts'
import type { Exchange } from './exchange.ts'
import { negotiateDiscovery, notAcceptable, parseAccept } from './negotiate.ts'
import { respond, respondText } from './respond.ts'
import type { Services } from './services.ts'

/** The version that the server says it has: the one whose API it follows. */
export const serverVersion = { major: '1', minor: '36', gitVersion: 'v1.36.3+proreus' }

// An `@` is allowed in no media type; clients ask with it all the same, and servers answer with a dot in its place.
const openApiV2Protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
/**
 * A document of OpenAPI v2 without definitions: the field `swagger` with `2.0`, in protobuf. kubectl asks for it about types that v3
 * does not know, and with this answer says by itself that the type is not installed; an error here would end the command with another text.
 */
const emptyOpenApiV2 = '\n\u00032.0'

const healthPath = /^\/(healthz|livez|readyz)(?:\/(.+))?$/
const checks = ['ping']

/** Whether everybody may see a path, without credentials. */
export function isOpen(path: string): boolean {
  return path === '/version' || path === '/version/' || healthPath.test(path)
}

export async function handlePath(exchange: Exchange, services: Services): Promise<void> {
  if (exchange.method !== 'GET') throw methodNotAllowed()
  const path = exchange.path.length > 1 ? exchange.path.replace(/\/$/, '') : exchange.path
  const health = healthPath.exec(path)
  if (health !== null) return handleHealth(exchange, health[1]!, health[2])
  if (path === '/version') return json(exchange, versionJson())
  if (path === '/') return json(exchange, index(services))
  if (path === '/api' || path === '/apis') return handleDiscoveryRoot(exchange, services, path === '/api')
  const [, root, group = '', version] = path.split('/')
  if (root === 'api' || root === 'apis') {
    return handleDiscovery(exchange, services, root === 'api' ? '' : group, root === 'api' ? group : version)
  }
  if (path.startsWith('/openapi/')) return handleOpenApi(exchange, services, path)
  return json(exchange, index(services), 404)
}

/** What an unknown group or version is told, by the API server's outermost layer. */
export function notFoundText(exchange: Exchange): Promise<void> {
  return respondText(exchange, 404, '404 page not found\n')
}

async function handleDiscoveryRoot(exchange: Exchange, { discovery }: Services, core: boolean): Promise<void> {
  exchange.response.setHeader('Vary', 'Accept')
  const form = negotiateDiscovery(exchange.request.headers.accept)
  if (form !== 'legacy') {
    const { text, etag } = discovery.aggregated(core, form)
    return document(exchange, text, `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`, etag)
  }
  if (core) return json(exchange, discovery.coreVersions(exchange.request.headers.host ?? ''))
  const { text, etag } = discovery.groupList()
  return document(exchange, text, 'application/json', etag)
}

/** `/apis/GROUP`, and with a version `/api/VERSION` or `/apis/GROUP/VERSION`. */
function handleDiscovery(exchange: Exchange, { discovery }: Services, group: string, version: string | undefined): Promise<void> {
  const description = version === undefined ? discovery.group(group) : undefined
  if (description !== undefined) return json(exchange, description)
  const list = version === undefined ? undefined : discovery.resourceList(group, version)
  return list === undefined ? notFoundText(exchange) : document(exchange, list.text, 'application/json', list.etag)
}

async function handleOpenApi(exchange: Exchange, { openApi }: Services, path: string): Promise<void> {
  const ranges = parseAccept(exchange.request.headers.accept)
  const acceptsJson = ranges.some(({ type }) => type === 'application/json' || type === '*/*' || type === 'application/*')
  if (path === '/openapi/v2') {
    if (ranges.some(({ type }) => type === openApiV2Protobuf))
      return respond(exchange, { code: 200, contentType: openApiV2Protobuf.replace('@', '.'), body: emptyOpenApiV2 })
    const text = 'this API server describes itself in OpenAPI v3 only: see /openapi/v3'
    throw new StatusError(failure(404, 'NotFound', text, {}))
  }
  if (!acceptsJson) throw notAcceptable(ranges)
  if (path === '/openapi/v3') return json(exchange, openApi.index())
  const found = path.startsWith('/openapi/v3/') ? openApi.document(path.slice('/openapi/v3/'.length)) : undefined
  if (found === undefined) return notFoundText(exchange)
  const hash = exchange.query.get('hash')
  if (hash !== null && hash !== found.hash) {
    // An address from an older index: what it named is gone, the document as it is now stands elsewhere.
    const location = `${path}?hash=${found.hash}`
    return respond(exchange, { code: 301, contentType: 'text/plain; charset=utf-8', body: '', headers: { Location: location } })
  }
  return document(exchange, found.text, 'application/json', `"${found.hash}"`, hash === null ? 'no-cache, private' : 'public, immutable')
}

/** A document with an entity tag; 304 when the client has it already. */
function document(exchange: Exchange, body: string, contentType: string, etag: string, cacheControl = 'public'): Promise<void> {
  const known = (exchange.request.headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  return respond(exchange, { code: known ? 304 : 200, contentType, body, headers: { ETag: etag, 'Cache-Control': cacheControl } })
}

function json(exchange: Exchange, value: JsonObject, code = 200): Promise<void> {
  return respond(exchange, { code, contentType: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` })
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
    platform: `${process.platform}/${process.arch}`,
  }
}

function index({ discovery }: Services): JsonObject {
  const health = ['healthz', 'livez', 'readyz'].flatMap((name) => [`/${name}`, ...checks.map((check) => `/${name}/${check}`)])
  return { paths: [...discovery.paths(), ...health, '/openapi/v3', '/version'].sort() }
}
