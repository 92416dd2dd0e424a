/** `metadataOnly`: returns a resource type whose requests return only the metadata of objects. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'

/** The `apiVersion`, `kind` and `metadata` of an object. */
export type MetadataOf<R extends ResourceType> = Pick<ObjectOf<R>, 'apiVersion' | 'kind' | 'metadata'>

/**
 * Returns a type for which `get`, `list`, `watch`, `patch` and `apply` return only `apiVersion`, `kind` and `metadata`. The API server
 * removes the other fields before it sends an object, so a list of large objects needs little memory. `create` and `update` throw an error,
 * because they would store an object without its other fields.
 *
 * @example
 *
 * const { items } = await client.list(metadataOnly(core.secret))
 */
export function metadataOnly<R extends ResourceType>(type: R): ResourceType<MetadataOf<R>> {
  const { group, version, kind, plural, namespaced } = type
  const partial: Partial = { group, version, kind, plural, namespaced, metadataOnly: true }
  return Object.freeze(partial) as ResourceType<MetadataOf<R>>
}

interface Partial extends ResourceType {
  readonly metadataOnly: true
}

export function isMetadataOnly(type: ResourceType): boolean {
  return 'metadataOnly' in type
}

/** Returns the `Accept` header of a request for a metadata-only type; undefined for any other type. */
export function acceptOf(type: ResourceType, verb: string): string | undefined {
  if (!isMetadataOnly(type)) return undefined
  return `application/json;as=PartialObjectMetadata${verb === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`
}

/**
 * Returns the object with the apiVersion and kind of `type`, as controller-runtime does. The API server sends the kind
 * `PartialObjectMetadata`.
 */
export function withKindOf<T extends KubernetesObject>(type: ResourceType, object: T): T {
  return { ...object, apiVersion: apiVersionOf(type), kind: type.kind }
}
