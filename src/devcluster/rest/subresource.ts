/** The verbs of a type, and its subresources. */
import type { JsonObject } from '../../api/json.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import type { ClusterView } from './strategy.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** The verbs of a stored type, in the order in which discovery lists them. */
export const storedVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/**
 * Returns the path of the replicas field in a version of the scaled type. Returns undefined when this version does not exist, and null when
 * this version has no scale subresource.
 */
export type ReplicasPath = (apiVersion: string) => readonly string[] | null | undefined

/** The data that the `write` function of a subresource can read. */
export interface SubresourceContext {
  readonly now: number
  readonly cluster: ClusterView
}

export interface SubresourceInfo {
  readonly kind: string
  /** The group and the version of `kind`. Default: the group and the version of the type. */
  readonly group?: string
  readonly version?: string
  /**
   * Another apiVersion that a request body may have, e.g. `policy/v1beta1` for an Eviction. The fields of the body are the same for both
   * apiVersions.
   */
  readonly otherApiVersion?: string
  readonly verbs: readonly Verb[]
  /**
   * Converts an object of the type to the object of the subresource, e.g. a Deployment to its Scale. Default: returns the object unchanged.
   * `writing` is true when the call is part of a write request.
   */
  readonly read?: (object: JsonObject, options?: { readonly writing?: boolean }) => JsonObject
  /**
   * Returns the stored object with the body of a PUT, PATCH or POST merged in. If the body is an object of the type itself, as for
   * `status`, this function is not needed.
   */
  readonly write?: (object: JsonObject, written: JsonObject, context: SubresourceContext) => JsonObject
  /**
   * Returns `stored` with the changes of `written` that the subresource allows. This function is only for subresources whose request body
   * is an object of the type itself, e.g. a Pod for `pods/ephemeralcontainers`.
   *
   * Default for `status`: changes of the status are allowed, and for built-in types also changes of the metadata, except for
   * `keptMetadata`.
   */
  readonly part?: (written: JsonObject, stored: JsonObject) => JsonObject
  /** Only for `status` of a built-in type: the names of the metadata fields that a write to /status does not change. Default: none. */
  readonly keptMetadata?: readonly string[]
  /** Returns the path of the replicas field. Only scale subresources have this function. */
  readonly replicasPath?: ReplicasPath
  /** Returns the response to a POST. Default: the written object. */
  readonly created?: (object: JsonObject) => JsonObject
  /** Returns the `DeleteOptions` in the body of a POST that evicts the object. Throws a `StatusError` to reject the request. */
  readonly deletes?: (name: string, body: JsonObject, context: Pick<RequestContext, 'options'>) => JsonObject
  /** True when writes do not change `metadata.generation`. */
  readonly keepsGeneration?: boolean
  /** The steps of a POST that stores nothing, such as a TokenRequest. */
  readonly unstored?: UnstoredRequest
}

/**
 * The steps of a POST that stores nothing. Mutating admission runs after `applyDefaults`. Validating admission runs after `prepare`.
 */
export interface UnstoredRequest {
  /** Applies the defaults of the type to a request body. */
  readonly applyDefaults: (body: JsonObject) => JsonObject
  /**
   * Validates the body, and sets the fields that only the server sets. `object` is the stored object that has the subresource, e.g. the
   * ServiceAccount for a TokenRequest. Throws a `StatusError` to reject the request.
   */
  readonly prepare: (object: JsonObject, body: JsonObject) => JsonObject
  /** Processes the prepared request, and returns the response. Throws a `StatusError` to reject the request. */
  readonly respond: (object: JsonObject, prepared: JsonObject) => JsonObject
}
