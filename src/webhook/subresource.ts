/** Subresources that webhooks can be about: with which operation the API server reviews them, and what the object is then. */
import type { models } from '../api/kubernetes/models.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { resourceType } from '../api/group-version-kind.ts'
import type { Operation } from './context.ts'

/**
 * All types of all groups, for `defineWebhook(anyResource, { subresource: 'scale', … })`: one webhook for the scale of whatever can be scaled.
 * Without a subresource it is about every object that the API server stores, which is rarely what is wanted.
 */
export const anyResource: ResourceType = resourceType({ group: '*', version: '*', kind: '*', plural: '*' })

/** `kubectl exec`. */
export interface PodExecOptions {
  apiVersion: 'v1'
  kind: 'PodExecOptions'
  stdin?: boolean
  stdout?: boolean
  stderr?: boolean
  tty?: boolean
  /** Absent: the only one, or the default one. */
  container?: string
  command: string[]
}

/** `kubectl attach`. */
export interface PodAttachOptions extends Omit<PodExecOptions, 'kind' | 'command'> {
  kind: 'PodAttachOptions'
}

/** `kubectl port-forward`. */
export interface PodPortForwardOptions {
  apiVersion: 'v1'
  kind: 'PodPortForwardOptions'
  /** Absent with the protocol that names them later. */
  ports?: number[]
}

/** A request that the API server passes on to a Pod, a Service or a Node. */
export interface ProxyOptions<Kind extends string> {
  apiVersion: 'v1'
  kind: Kind
  path?: string
}

type Sent<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind'> & {
  apiVersion: ApiVersion
  kind: Kind
}

/** How many replicas there are, and are asked for: of a Deployment as of a custom resource. */
export type Scale = Sent<models.V1Scale, 'autoscaling/v1', 'Scale'>
/** A request to remove a Pod that respects its PodDisruptionBudget. */
export type Eviction = Sent<models.V1Eviction, 'policy/v1', 'Eviction'>
/** The scheduler's decision. */
export type Binding = Sent<models.V1Binding, 'v1', 'Binding'>
/** A token for a ServiceAccount. */
export type TokenRequest = Sent<models.AuthenticationV1TokenRequest, 'authentication.k8s.io/v1', 'TokenRequest'>

/** Whose object is another one than that of the resource. */
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

/** What a handler for a subresource is given; with an empty one the object itself. */
export type ReviewedObject<R extends ResourceType, Subresource extends string> = Subresource extends 'scale'
  ? Scale
  : ObjectOf<R> extends { kind: infer Kind extends keyof ObjectsOf }
    ? Subresource extends keyof ObjectsOf[Kind]
      ? ObjectsOf[Kind][Subresource]
      : ObjectOf<R>
    : ObjectOf<R>

/** Of any type, in the core group's words; the others are updated. */
const requestedBy: Readonly<Record<string, Operation>> = {
  exec: 'CONNECT',
  attach: 'CONNECT',
  portforward: 'CONNECT',
  proxy: 'CONNECT',
  eviction: 'CREATE',
  binding: 'CREATE',
  token: 'CREATE',
}

/** The operation with which the API server reviews a subresource. */
export function operationOf(subresource: string): Operation {
  return Object.hasOwn(requestedBy, subresource) ? requestedBy[subresource]! : 'UPDATE'
}
