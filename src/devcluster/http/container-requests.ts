/**
 * Handles the requests that a real cluster forwards to a node or a container. Pods are simulated, so there is no container that could
 * answer: logs are one line that explains it, and every other request is refused with the explanation. Discovery does not list these
 * subresources.
 */
import { isObject } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { StatusError, badRequest } from '../apimachinery/status-error.ts'
import type { Exchange } from './exchange.ts'
import { keyOf } from './read.ts'
import type { RequestInfo } from './request-info.ts'
import { flag } from './request-info.ts'
import { respond, respondText } from './respond.ts'
import type { ResourceRequest, Services } from './services.ts'

/** The verbs that each subresource has. Only the path of a proxy has further segments. */
const streamVerbs = ['get', 'create']
const proxyVerbs = ['get', 'create', 'update', 'patch', 'delete']
const subresources: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  pods: { attach: streamVerbs, exec: streamVerbs, log: ['get'], portforward: streamVerbs, proxy: proxyVerbs },
  services: { proxy: proxyVerbs },
  nodes: { proxy: proxyVerbs },
}

const explanation = 'Pods of the embedded cluster are simulated and run no containers'

/**
 * True for a request that needs a container or a node. Such requests may run for long, so kube-apiserver ignores their query parameter
 * `timeout` (k8s.io/kubernetes/pkg/controlplane/apiserver: BuildGenericConfig, LongRunningFunc).
 */
export function needsContainer({ verb, group, resource, subresource, namespace, rest }: RequestInfo): boolean {
  if (group !== '' || (namespace === '') !== (resource === 'nodes') || (rest.length > 0 && subresource !== 'proxy')) return false
  const offered = Object.hasOwn(subresources, resource) ? subresources[resource]! : {}
  return Object.hasOwn(offered, subresource) && offered[subresource]!.includes(verb)
}

/**
 * Responds with the log of a simulated Pod; with 204 for a Pod without a node.
 *
 * @throws {StatusError} for a Pod that does not exist, and 501 for a request that needs a container. kubectl prints the message of a 501.
 */
export async function answerWithoutContainer(exchange: Exchange, request: ResourceRequest, { registry, clock }: Services): Promise<void> {
  const { resource, subresource, name } = request.target
  if (subresource === 'proxy') throw notImplemented(`${resource}/proxy`)
  const { spec } = registry.get(request.info, keyOf(request))
  const isScheduled = isObject(spec) && Boolean(spec.nodeName)
  if (subresource !== 'log') {
    // k8s.io/kubernetes/pkg/registry/core/pod: streamLocation, PortForwardLocation.
    throw isScheduled ? notImplemented(subresource) : badRequest(`pod ${name} does not have a host assigned`)
  }
  if (!isScheduled) return respond(exchange, { code: 204, body: '' })
  const time = flag(exchange.query, 'timestamps') ? `${new Date(clock.now()).toISOString()} ` : ''
  return respondText(exchange, 200, `${time}${explanation}: there are no logs\n`)
}

function notImplemented(subresource: string): StatusError {
  return new StatusError(failure(501, 'NotImplemented', `${explanation}: ${subresource} is not available`, {}))
}
