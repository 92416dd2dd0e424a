/** The verbs of a type, and its subresources. */
import type { JsonObject } from '../../api/json.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** The verbs of a stored type, in the order of discovery. */
export const storedVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/**
 * Returns the path of replicas in a version of the type; undefined when the version does not exist, null when the version has no scale
 * subresource.
 */
export type ReplicasPath = (apiVersion: string) => readonly string[] | null | undefined

export interface SubresourceInfo {
  readonly kind: string
  /** Default: the group and version of the type. */
  readonly group?: string
  readonly version?: string
  /** Another apiVersion that the body may have; its fields are the same. */
  readonly otherApiVersion?: string
  readonly verbs: readonly Verb[]
  /**
   * Converts the object to the object of the subresource, e.g. a Scale. Default: returns the object itself. `writing` is true when a write
   * needs the result.
   */
  readonly read?: (object: JsonObject, options?: { readonly writing?: boolean }) => JsonObject
  /** Merges the written body (PUT, PATCH, POST) into the stored object; default: the strategy's `prepareForUpdate`. */
  readonly write?: (object: JsonObject, written: JsonObject, context: { readonly now: number }) => JsonObject
  /** For a scale subresource: the path of the object's replicas field. */
  readonly replicasPath?: ReplicasPath
  /** Makes the response to a POST. Default: the written object. */
  readonly created?: (object: JsonObject) => JsonObject
  /**
   * For a POST that deletes the object: returns the `DeleteOptions` that the body contains. Throws a `StatusError` to reject the request.
   */
  readonly deletes?: (name: string, body: JsonObject, context: Pick<RequestContext, 'options'>) => JsonObject
  /** True when writes do not change `metadata.generation`. */
  readonly keepsGeneration?: boolean
  /** For a POST that writes nothing: makes the response from the stored object and the body. */
  readonly answer?: (object: JsonObject, body: JsonObject) => JsonObject
}
