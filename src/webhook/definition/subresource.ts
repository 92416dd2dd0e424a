/**
 * The subresources for which webhooks can be defined. For each subresource, this file defines the operation of the admission requests and
 * the type of the object in these requests.
 */
import type { models } from '../../api/kubernetes/models.ts'
import type { ObjectOf, ResourceType } from '../../api/group-version-kind.ts'
import { resourceType } from '../../api/group-version-kind.ts'
import type { Operation } from './context.ts'

/**
 * All types of all API groups. `defineWebhook(anyResource, { subresource: 'scale', … })` defines one webhook for the `scale` subresource of
 * every type. Without a `subresource`, the API server calls the webhook for every object, which is rarely intended.
 */
export const anyResource: ResourceType = resourceType({ group: '*', version: '*', kind: '*', plural: '*' })

/** The object of the `exec` subresource of a Pod. `kubectl exec` connects to this subresource. */
export interface PodExecOptions {
  apiVersion: 'v1'
  kind: 'PodExecOptions'
  stdin?: boolean
  stdout?: boolean
  stderr?: boolean
  tty?: boolean
  /**
   * The name of the container. Default: the only container of the Pod. The API server does not read the annotation
   * `kubectl.kubernetes.io/default-container`. kubectl reads the annotation and sends the name of the container.
   */
  container?: string
  command: string[]
}

/** The object of the `attach` subresource of a Pod. `kubectl attach` connects to this subresource. */
export interface PodAttachOptions extends Omit<PodExecOptions, 'kind' | 'command'> {
  kind: 'PodAttachOptions'
}

/** The object of the `portforward` subresource of a Pod. `kubectl port-forward` connects to this subresource. */
export interface PodPortForwardOptions {
  apiVersion: 'v1'
  kind: 'PodPortForwardOptions'
  /** Absent when the client uses a protocol in which the ports are negotiated after the request. */
  ports?: number[]
}

/** The object of the `proxy` subresource: a request that the API server forwards to a Pod, a Service or a Node. */
export interface ProxyOptions<Kind extends string> {
  apiVersion: 'v1'
  kind: Kind
  path?: string
}

type Sent<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind'> & {
  apiVersion: ApiVersion
  kind: Kind
}

/**
 * The object of the `scale` subresource, for example of a Deployment or a custom resource: the desired and the current number of replicas.
 */
export type Scale = Sent<models.V1Scale, 'autoscaling/v1', 'Scale'>
/** The object of the `eviction` subresource of a Pod: a request to delete the Pod if its PodDisruptionBudget allows this. */
export type Eviction = Sent<models.V1Eviction, 'policy/v1', 'Eviction'>
/** The object of the `binding` subresource of a Pod: a scheduler's request to assign the Pod to a node. */
export type Binding = Sent<models.V1Binding, 'v1', 'Binding'>
/** The object of the `token` subresource of a ServiceAccount: a request for a token. */
export type TokenRequest = Sent<models.AuthenticationV1TokenRequest, 'authentication.k8s.io/v1', 'TokenRequest'>

/** The types of the request bodies, keyed by the kind of the resource and by the subresource. */
type ObjectsOf = {
  Pod: {
    exec: PodExecOptions
    attach: PodAttachOptions
    portforward: PodPortForwardOptions
    proxy: ProxyOptions<'PodProxyOptions'>
    eviction: Eviction
    binding: Binding
  }
  Service: { proxy: ProxyOptions<'ServiceProxyOptions'> }
  Node: { proxy: ProxyOptions<'NodeProxyOptions'> }
  ServiceAccount: { token: TokenRequest }
}

/**
 * The type of the object that the handlers receive. For a webhook of a subresource, this is the type of the request body. For any other
 * webhook, this is the type for which the webhook is defined.
 */
export type ReviewedObject<R extends ResourceType, Subresource extends string> = Subresource extends 'scale'
  ? Scale
  : ObjectOf<R> extends { kind: infer Kind extends keyof ObjectsOf }
    ? Subresource extends keyof ObjectsOf[Kind]
      ? ObjectsOf[Kind][Subresource]
      : ObjectOf<R>
    : ObjectOf<R>

/** The operation of requests to these subresources. A request to any other subresource is an UPDATE. */
const requestedBy: Readonly<Record<string, Operation>> = {
  exec: 'CONNECT',
  attach: 'CONNECT',
  portforward: 'CONNECT',
  proxy: 'CONNECT',
  eviction: 'CREATE',
  binding: 'CREATE',
  token: 'CREATE',
}

/** Returns the operation of admission requests for a subresource. */
export function operationOf(subresource: string): Operation {
  return Object.hasOwn(requestedBy, subresource) ? requestedBy[subresource]! : 'UPDATE'
}
