/**
 * Handles the requests that a real cluster forwards to a node or a container. When Pods are simulated, there are no containers:
 *
 * - The log of a scheduled Pod is one line that explains that Pods are simulated. The log of any other Pod is empty.
 * - All requests except requests for a log are rejected.
 * - Discovery does not list the subresources `attach`, `exec`, `log` and `portforward` of Pods.
 */
import { isObject } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { StatusError, badRequest, forbidden } from '../apimachinery/status-error.ts'
import type { Exchange } from './exchange.ts'
import { keyOf } from './read.ts'
import type { RequestInfo } from './request-info.ts'
import { flag } from './request-info.ts'
import { respond, respondText } from './respond.ts'
import type { ResourceRequest, Services } from './services.ts'
import { sendLog } from './streams/log.ts'
import { servePortForward } from './streams/port-forward.ts'
import { serveCommand } from './streams/remote-command.ts'
import type { StoredPod } from './streams/target-container.ts'
import { storedPod } from './streams/target-container.ts'

/**
 * `subresources` lists, for each resource, the subresources whose requests a real cluster forwards to a node or a container, and the verbs
 * of these requests. If the subresource is `proxy`, the path of the request may have more segments after the subresource. For all other
 * subresources, the path ends with the subresource.
 */
const streamVerbs = ['get', 'create']
const proxyVerbs = ['get', 'create', 'update', 'patch', 'delete']
const subresources: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  pods: { attach: streamVerbs, exec: streamVerbs, log: ['get'], portforward: streamVerbs, proxy: proxyVerbs },
  services: { proxy: proxyVerbs },
  nodes: { proxy: proxyVerbs },
}

const explanation = 'Pods of the embedded cluster are simulated and run no containers'

/**
 * Returns true when a request needs a container or a node. Such a request may run for a long time, so kube-apiserver ignores the query
 * parameter `timeout` of the request (k8s.io/kubernetes/pkg/controlplane/apiserver: BuildGenericConfig, LongRunningFunc).
 */
export function needsContainer({ verb, group, resource, subresource, namespace, rest }: RequestInfo): boolean {
  if (group !== '' || (namespace === '') !== (resource === 'nodes') || (rest.length > 0 && subresource !== 'proxy')) return false
  const offered = Object.hasOwn(subresources, resource) ? subresources[resource]! : {}
  return Object.hasOwn(offered, subresource) && offered[subresource]!.includes(verb)
}

/**
 * Responds with the log of a container, or connects the client with a container or a port of a Pod until one side closes the connection.
 *
 * @throws {StatusError} when the Pod does not exist. If Pods are simulated, a request that needs a container fails with 501. kubectl prints
 *   the message of a 501.
 */
export async function handleContainerRequest(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const { info, target } = request
  const { containers, registry, clock, logger } = services
  if (containers === undefined) return answerWithoutContainer(exchange, request, services)
  const { subresource, name } = target
  if (subresource === 'proxy') throw notImplemented(`${target.resource}/proxy is not available in the embedded cluster`)
  const findPod = (): StoredPod => storedPod(registry.get(info, keyOf(request)))
  if (subresource === 'log') return sendLog(exchange, findPod, name, { containers, clock, logger })
  requireCreate(request, services)
  const pod = findPod()
  await untilUpgradedEnds(exchange, services, () =>
    subresource === 'portforward'
      ? servePortForward(exchange, pod, { containers, clock, logger })
      : serveCommand(exchange, pod, subresource === 'exec' ? 'exec' : 'attach', { containers, clock, logger }),
  )
}

/**
 * Throws 403 if the user may not `create` the subresource. This check is necessary, because a GET request can upgrade to a WebSocket, and
 * the GET request was authorized only for the verb `get` (k8s.io/kubernetes/pkg/registry/core/pod/rest: ensureAuthorizedForVerb).
 */
function requireCreate({ info, target, user }: ResourceRequest, { authorizer }: Services): void {
  if (target.verb === 'create') return
  const { group, version, resource, subresource, namespace, name } = target
  const { allowed, reason } = authorizer.authorize({ user, verb: 'create', group, version, resource, subresource, namespace, name })
  if (!allowed) throw forbidden(info, name, reason)
}

/** Serves a request that upgrades its connection. After the upgrade, no error response can be sent, so errors are logged instead. */
async function untilUpgradedEnds(
  { response, signal, path, upgrade }: Exchange,
  { logger }: Services,
  serve: () => Promise<void>,
): Promise<void> {
  const isUpgraded = (): boolean => response.statusCode === 101
  try {
    await serve()
  } catch (error) {
    if (!isUpgraded()) throw error
    if (!signal.aborted) logger.error({ err: error, path }, 'a connection to a container failed')
  } finally {
    if (isUpgraded()) upgrade?.socket.destroy()
  }
}

/** Responds with the log of a simulated Pod. If the Pod has no node, responds with 204. */
async function answerWithoutContainer(exchange: Exchange, request: ResourceRequest, { registry, clock }: Services): Promise<void> {
  const { resource, subresource, name } = request.target
  if (subresource === 'proxy') throw notImplemented(`${explanation}: ${resource}/proxy is not available`)
  const { spec } = registry.get(request.info, keyOf(request))
  const isScheduled = isObject(spec) && Boolean(spec.nodeName)
  if (subresource !== 'log') {
    // k8s.io/kubernetes/pkg/registry/core/pod: streamLocation, PortForwardLocation.
    if (!isScheduled) throw badRequest(`pod ${name} does not have a host assigned`)
    throw notImplemented(`${explanation}: ${subresource} is not available`)
  }
  if (!isScheduled) return respond(exchange, { code: 204, body: '' })
  const time = flag(exchange.query, 'timestamps') ? `${new Date(clock.now()).toISOString()} ` : ''
  return respondText(exchange, 200, `${time}${explanation}: there are no logs\n`)
}

function notImplemented(message: string): StatusError {
  return new StatusError(failure(501, 'NotImplemented', message, {}))
}
