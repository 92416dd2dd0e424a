/** The subresources that webhooks can be defined for: the operation of their admission requests, and the type of their objects. */
import type { models } from '../../api/kubernetes/models.ts'
import type { ObjectOf, ResourceType } from '../../api/group-version-kind.ts'
import { resourceType } from '../../api/group-version-kind.ts'
import type { Operation } from './context.ts'

/**
 * All types of all groups, for `defineWebhook(anyResource, { subresource: 'scale', … })`: one webhook for the `scale` subresource of every
 * type. Without a `subresource` the webhook is called for every object that the API server stores, which is rarely intended.
 */
export const anyResource: ResourceType = resourceType({ group: '*', version: '*', kind: '*', plural: '*' })

/** The object of `kubectl exec`. */
export interface PodExecOptions {
  apiVersion: 'v1'
  kind: 'PodExecOptions'
  stdin?: boolean
  stdout?: boolean
  stderr?: boolean
  tty?: boolean
  /** Default: the only container, or the one of the annotation `kubectl.kubernetes.io/default-container`. */
  container?: string
  command: string[]
}

/** The object of `kubectl attach`. */
export interface PodAttachOptions extends Omit<PodExecOptions, 'kind' | 'command'> {
  kind: 'PodAttachOptions'
}

/** The object of `kubectl port-forward`. */
export interface PodPortForwardOptions {
  apiVersion: 'v1'
  kind: 'PodPortForwardOptions'
  /** Absent when the client uses the protocol that negotiates ports later. */
  ports?: number[]
}

/** A request that the API server proxies to a Pod, a Service or a Node. */
export interface ProxyOptions<Kind extends string> {
  apiVersion: 'v1'
  kind: Kind
  path?: string
}

type Sent<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind'> & {
  apiVersion: ApiVersion
  kind: Kind
}

/** The object of the `scale` subresource of a Deployment or a custom resource: the wanted and the current number of replicas. */
export type Scale = Sent<models.V1Scale, 'autoscaling/v1', 'Scale'>
/** A request to remove a Pod that respects its PodDisruptionBudget. */
export type Eviction = Sent<models.V1Eviction, 'policy/v1', 'Eviction'>
/** The scheduler's decision. */
export type Binding = Sent<models.V1Binding, 'v1', 'Binding'>
/** A request for a token of a ServiceAccount. */
export type TokenRequest = Sent<models.AuthenticationV1TokenRequest, 'authentication.k8s.io/v1', 'TokenRequest'>

/** Subresources whose object has a type of its own. */
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

/** The object that a handler for a subresource receives; for an empty subresource the object itself. */
export type ReviewedObject<R extends ResourceType, Subresource extends string> = Subresource extends 'scale'
  ? Scale
  : ObjectOf<R> extends { kind: infer Kind extends keyof ObjectsOf }
    ? Subresource extends keyof ObjectsOf[Kind]
      ? ObjectsOf[Kind][Subresource]
      : ObjectOf<R>
    : ObjectOf<R>

/** The operations of subresources in the core group; for all others webhooks are called with UPDATE. */
const requestedBy: Readonly<Record<string, Operation>> = {
  exec: 'CONNECT',
  attach: 'CONNECT',
  portforward: 'CONNECT',
  proxy: 'CONNECT',
  eviction: 'CREATE',
  binding: 'CREATE',
  token: 'CREATE',
}

/** Returns the operation with which the API server calls webhooks for a subresource. */
export function operationOf(subresource: string): Operation {
  return Object.hasOwn(requestedBy, subresource) ? requestedBy[subresource]! : 'UPDATE'
}
