/** Handles every request: authentication, authorization, routing, and error responses. */
import { messageOf } from '../../api/errors.ts'
import type { Status } from '../../api/status.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError, badRequest, internalError, methodNotAllowed, notFound, unknownResource } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Verb } from '../rest/subresource.ts'
import type { TokenAuthenticator } from '../access/authenticate.ts'
import { authenticate } from '../access/authenticate.ts'
import { authenticateCertificate } from '../access/client-certificates.ts'
import { requireAllowed } from '../access/authorizer.ts'
import { impersonate } from '../access/impersonate.ts'
import { handleContainerRequest, needsContainer } from './container-requests.ts'
import type { Exchange } from './exchange.ts'
import { handlePath, notFoundText, unknownVersion } from './non-resource-paths.ts'
import { getObject, listObjects } from './read.ts'
import { timeoutOf } from './request-timeout.ts'
import type { RequestInfo } from './request-info.ts'
import { parseRequestInfo } from './request-info.ts'
import type { RunningRequest } from './request-metrics.ts'
import { respondStatus } from './respond.ts'
import type { ResourceRequest, Services } from './services.ts'
import { watchObjects } from './watch.ts'
import { createObject, deleteObject, deleteObjects, patchObject, updateObject } from './write.ts'

/**
 * The record of a request to which the server has responded. The embedded API server keeps the first 2048 characters of `user`, `path` and
 * `query`.
 */
export interface RequestRecord {
  /** Time at which the server received the request, in milliseconds since 1970. */
  readonly at: number
  readonly verb: string
  readonly user: string
  readonly path: string
  /** The query string after the `?`, as it was sent; empty for a request without a query string. */
  readonly query: string
  readonly code: number
  /**
   * Audit annotations. Only records from the audit log of a real kube-apiserver have annotations. If a webhook adds an annotation, the key
   * is `WEBHOOK_NAME/KEY`.
   */
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * Maximum length of each text in a `RequestRecord`. With this limit, the 10,000 records of an embedded cluster need less than 100 MB. The
 * URLs of real clients are shorter.
 */
const maxRecordedLength = 2048

const applyPatch = 'application/apply-patch'

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

type Handler = (exchange: Exchange, request: ResourceRequest, services: Services) => Promise<void>

const handlers: Readonly<Record<Verb, Handler>> = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteObjects,
}

/**
 * Handles a request, and resolves with the record of the request. If the request fails, this function sends a `Status` and does not reject.
 */
export async function handle(exchange: Exchange, tokens: TokenAuthenticator, services: Services): Promise<RequestRecord> {
  let verb = exchange.method.toLowerCase()
  let user = ''
  let running: RunningRequest | undefined
  try {
    if (!methods.has(exchange.method)) throw methodNotAllowed()
    const target = requestInfoOf(exchange)
    verb = target.verb
    running = started(exchange, target, services)
    if (target.verb !== 'watch' && !needsContainer(target)) timeoutOf(exchange.query)
    const attributes = attributesOf(target)
    const sender = authenticateCertificate(exchange.request.socket) ?? authenticate(exchange.request.headers, tokens)
    user = sender.username
    const requester = impersonate(sender, exchange.request, services.authorizer, attributes)
    user = requester.username
    requireAllowed(services.authorizer, { ...attributes, user: requester })
    await dispatch(exchange, target, requester, services)
  } catch (error) {
    await respondError(exchange, error, services)
  }
  const query = (exchange.request.url ?? '').split('?').slice(1).join('?')
  const { statusCode: code } = exchange.response
  running?.end(code, (services.clock.monotonicNow() - exchange.receivedAt) / 1000)
  return { at: exchange.since, verb, user: recorded(user), path: recorded(exchange.path), query: recorded(query), code }
}

function started({ request, query }: Exchange, target: RequestInfo, { catalog, metrics }: Services): RunningRequest {
  const served = target.isResource ? catalog.find(target.group, target.version, target.resource) : undefined
  const isApply = target.verb === 'patch' && request.headers['content-type']?.startsWith(applyPatch) === true
  return metrics.started(target, served, { isDryRun: query.has('dryRun'), isApply })
}

/** Returns a copy of the beginning of a text. In V8, a slice instead of a copy would keep the whole text in memory. */
function recorded(text: string): string {
  return Buffer.from(text.slice(0, maxRecordedLength)).toString()
}

function requestInfoOf({ method, path, query }: Exchange): RequestInfo {
  try {
    return parseRequestInfo(method, path, query)
  } catch (error) {
    if (error instanceof URIError) throw badRequest(`the path ${JSON.stringify(path)} is not properly percent-encoded`)
    throw error
  }
}

function attributesOf({ verb, group, version, resource, subresource, namespace, name, path, isResource }: RequestInfo) {
  return { verb, group, version, resource, subresource, namespace, name, ...(isResource ? {} : { path }) }
}

async function dispatch(exchange: Exchange, target: RequestInfo, user: UserInfo, services: Services): Promise<void> {
  if (!target.isResource) return handlePath(exchange, services)
  const { group, version, resource } = target
  const info = services.catalog.find(group, version, resource)
  if (info === undefined) {
    if (services.catalog.ofGroupVersion(group, version).length === 0) return unknownVersion(exchange, services, group)
    throw unknownResource()
  }
  if (info.deprecationWarning !== undefined) exchange.warnings.add(info.deprecationWarning)
  // For custom resources, kube-apiserver has no route that deletes a collection in all namespaces. Its router therefore responds with 404
  // in plain text.
  if (info.custom && target.verb === 'deletecollection' && info.namespaced && target.namespace === '') return notFoundText(exchange)
  if (needsContainer(target)) return handleContainerRequest(exchange, { info, target, user }, services)
  return handlers[verbOn(info, target)](exchange, { info, target, user }, services)
}

/** Returns the verb of the request. If the type does not support this verb on the requested path, throws 404 or 405. */
function verbOn(info: ResourceInfo, { verb, namespace, name, subresource, rest }: RequestInfo): Verb {
  const onCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection' || (verb === 'create' && name === '')
  const isNamespaces = info.group === '' && info.plural === 'namespaces'
  const misplaced = info.namespaced
    ? namespace === '' && name !== '' && !onCollection
    : namespace !== '' && !(isNamespaces && name === namespace)
  if (rest.length > 0 || misplaced) throw unknownResource()
  if (subresource !== '') {
    const offered = Object.hasOwn(info.subresources, subresource) ? info.subresources[subresource] : undefined
    if (offered === undefined) throw info.custom ? notFound(info, name) : unknownResource()
    return allowedVerb(verb, offered.verbs)
  }
  // A create or deletecollection of a namespaced type requires a namespace; lists and watches do not.
  if (info.namespaced && namespace === '' && (verb === 'create' || verb === 'deletecollection')) throw methodNotAllowed()
  // A POST must be sent to a collection; PUT and PATCH must be sent to an object.
  if ((verb === 'create') !== (name === '') && !onCollection) throw methodNotAllowed()
  return allowedVerb(verb, info.verbs)
}

function allowedVerb(verb: string, verbs: readonly Verb[]): Verb {
  const allowed = verbs.find((candidate) => candidate === verb)
  if (allowed === undefined) throw methodNotAllowed()
  return allowed
}

async function respondError(exchange: Exchange, error: unknown, { logger }: Services): Promise<void> {
  const { response, signal } = exchange
  if (signal.aborted && !response.writable) return
  let status: Status
  if (error instanceof StatusError) {
    status = error.status
  } else {
    if (!signal.aborted) logger.error({ err: error, method: exchange.method, path: exchange.path }, 'a request failed')
    status = internalError(messageOf(error)).status
  }
  if (response.headersSent) {
    // If the status code has already been sent, only a broken connection shows the client that the response is incomplete.
    response.destroy()
    return
  }
  // The rest of a body that is too large is not read, so the connection cannot be reused.
  const headers = status.code === 413 ? { Connection: 'close' } : {}
  try {
    await respondStatus(exchange, status, headers)
  } catch (failed) {
    logger.error({ err: failed, path: exchange.path }, 'a response could not be sent')
    response.destroy()
  }
}
