/** Reads and writes the scale subresource of any type. */
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf, parseApiVersion, resourceType } from '../../api/group-version-kind.ts'
import type { KubernetesObject, NamespacedKey } from '../../api/object.ts'
import { isNotFound } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'
import { objectPath } from '../../client/resource-path.ts'
import type { TypeSource } from './type-source.ts'

/** The object of the scale subresource (autoscaling/v1 Scale). */
export interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly selector?: string }
}

/** Returns the type that a reference names; undefined when the type is not served. */
export function referencedType({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, source: TypeSource) {
  const { group, version } = parseApiVersion(apiVersion)
  const served = source.byKind(group, kind)
  return served === undefined ? undefined : resourceType({ ...served, version })
}

/** Thrown when a type has no scale subresource. */
export class NoScale extends Error {
  override readonly name = 'NoScale'

  constructor(type: ResourceType) {
    super(`${groupResourceOf(type)} does not implement the scale subresource`)
  }
}

/**
 * Reads the scale of an object.
 *
 * @throws {NoScale} when the type has no scale subresource.
 * @throws {ApiError} 404 when the object does not exist.
 */
export async function readScale(client: Client, type: ResourceType, key: NamespacedKey): Promise<Scale> {
  try {
    return (await client.raw(objectPath(type, key, 'scale'))) as Scale
  } catch (error) {
    // A 404 for a missing object contains the name of the object. A 404 for a missing subresource contains no name.
    throw isNotFound(error) && error.status.details?.name === undefined ? new NoScale(type) : error
  }
}

/** Writes the replicas of an object through its scale subresource. */
export async function writeReplicas(client: Client, type: ResourceType, scale: Scale, replicas: number): Promise<void> {
  const body = { ...scale, spec: { ...scale.spec, replicas } }
  await client.raw(objectPath(type, scale.metadata, 'scale'), { method: 'PUT', body, contentType: 'application/json' })
}
