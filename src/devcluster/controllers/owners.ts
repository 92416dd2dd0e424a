/** Looks up the owners of an object. */
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
  /** Owners in foreground deletion, which wait for their dependents. */
  readonly waiting: readonly Reference[]
  /** Missing owners, deleted or never created in this namespace. */
  readonly absent: readonly Reference[]
  /** Owners that cannot be looked up, because their type is not served. */
  readonly unknown: readonly Reference[]
}

/** The sources for the lookup of owners. */
export interface OwnerSources {
  readonly client: Client
  readonly source: TypeSource
  /**
   * Returns true when the deletion of an owner with this uid was observed. For a type that is no longer served, this is the only evidence.
   */
  readonly isGone: (uid: string) => boolean
}

/**
 * Looks up owners with live requests instead of the cache, because a deletion based on stale data cannot be undone. An owner is absent when
 * another object has its name now, and when it is in another namespace, because owner references do not cross namespaces.
 */
export async function findOwners(object: ReadonlyObject, { client, source, isGone }: OwnerSources, signal: AbortSignal): Promise<Owners> {
  const owners = { solid: [] as Reference[], waiting: [] as Reference[], absent: [] as Reference[], unknown: [] as Reference[] }
  const { namespace, ownerReferences = [] } = object.metadata
  for (const reference of ownerReferences) {
    const type = source.byKind(parseApiVersion(reference.apiVersion).group, reference.kind)
    // A cluster-scoped object cannot reference a namespaced owner; Kubernetes keeps such an object, too.
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
