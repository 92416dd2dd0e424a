/** Looks up the owners of an object in the cluster. */
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { KubernetesObject, OwnerReference } from '../../api/object.ts'
import { isNotFound } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'
import type { TypeSource } from './type-source.ts'

export type ReadonlyObject = DeepReadonly<KubernetesObject>
export type Reference = DeepReadonly<OwnerReference>

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

export interface Owners {
  /** Owners that exist and are not in foreground deletion. */
  readonly solid: readonly Reference[]
  /** Owners in foreground deletion. They wait for their dependents to be deleted. */
  readonly waiting: readonly Reference[]
  /** Owners that do not exist: they were deleted, or never existed in the namespace of the object. */
  readonly absent: readonly Reference[]
  /** Owners that cannot be looked up: their type is not served, or their type is namespaced although the object is cluster-scoped. */
  readonly unknown: readonly Reference[]
}

/** The sources from which `findOwners` reads the state of the cluster. */
export interface OwnerSources {
  readonly client: Client
  readonly source: TypeSource
  /**
   * Returns true when the deletion of an object with this UID was observed. `findOwners` calls this function for an owner whose type is not
   * served, because such an owner cannot be looked up.
   */
  readonly isGone: (uid: string) => boolean
}

/**
 * Looks up the owners of an object. Each lookup is a request to the API server, because the cache may be outdated and a deletion cannot be
 * undone. An owner is absent if the object with its name has another UID. An owner in another namespace is also absent, because owner
 * references do not cross namespaces.
 */
export async function findOwners(object: ReadonlyObject, { client, source, isGone }: OwnerSources, signal: AbortSignal): Promise<Owners> {
  const owners = { solid: [] as Reference[], waiting: [] as Reference[], absent: [] as Reference[], unknown: [] as Reference[] }
  const { namespace, ownerReferences = [] } = object.metadata
  for (const reference of ownerReferences) {
    const type = source.byKind(parseApiVersion(reference.apiVersion).group, reference.kind)
    // The owner cannot be looked up: its type is not served, or its type is namespaced although the object is cluster-scoped. If the type
    // is not served and the deletion of the owner was observed, the owner is absent. Otherwise, the owner is unknown. As in Kubernetes, an
    // object with an unknown owner is not deleted.
    if (type === undefined || (type.namespaced && namespace === undefined)) {
      const list = type === undefined && isGone(reference.uid) ? owners.absent : owners.unknown
      list.push(reference)
      continue
    }
    const key = { name: reference.name, ...(type.namespaced ? { namespace } : {}) }
    const owner = await orMissing(client.get(type, key, { signal }))
    if (owner === undefined || owner.metadata.uid !== reference.uid) owners.absent.push(reference)
    else if (isWaitingForDependents(owner)) owners.waiting.push(reference)
    else owners.solid.push(reference)
  }
  return owners
}

async function orMissing(reading: Promise<ReadonlyObject>): Promise<ReadonlyObject | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

export function isBeingDeleted({ metadata }: ReadonlyObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

export function isWaitingForDependents(object: ReadonlyObject): boolean {
  return isBeingDeleted(object) && object.metadata.finalizers?.includes(foregroundFinalizer) === true
}

export function isOrphaning(object: ReadonlyObject): boolean {
  return isBeingDeleted(object) && object.metadata.finalizers?.includes(orphanFinalizer) === true
}
