/** Looks up the owners of an object in the cluster. */
import type { ResourceType } from '../../api/group-version-kind.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { ObjectKey, OwnerReference } from '../../api/object.ts'
import { isNotFound } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'
import type { ReadonlyObject } from './api-types.ts'
import type { AbsentOwners } from './absent-owners.ts'
import type { TypeSource } from './type-source.ts'

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
  /**
   * Owners that cannot be looked up, because their type is not served, or because their type is namespaced and the dependent is
   * cluster-scoped.
   */
  readonly unknown: readonly Reference[]
  /** True when an existing owner is not in the graph yet. It is possible that the graph never observes the deletion of such an owner. */
  readonly unobserved: boolean
}

/** The sources from which `findOwners` reads the state of the cluster. */
export interface OwnerSources {
  readonly client: Client
  readonly source: TypeSource
  /** Returns the owner from the graph. Returns undefined when the owner is not in the graph. */
  readonly observed: (place: OwnerPlace) => ReadonlyObject | undefined
  readonly absent: AbsentOwners
  /**
   * Returns true when the deletion of an object with this UID was observed. `findOwners` calls this function for an owner whose type is not
   * served, because such an owner cannot be looked up.
   */
  readonly isGone: (uid: string) => boolean
}

/** The object to which an owner reference refers. */
export interface OwnerPlace {
  readonly type: ResourceType
  readonly key: ObjectKey
  readonly uid: string
}

/**
 * Looks up the owners of an object. An owner is absent if no object of its type has its name and UID. A namespaced owner is looked up only
 * in the namespace of the object.
 *
 * - If the type of the owner is not served, or if the type is namespaced and the object is cluster-scoped, the owner cannot be looked up.
 * - If the owner is in the graph and not in foreground deletion, the owner is not read from the API server. If this owner is deleted later,
 *   the graph reports its dependents again.
 * - Otherwise, the owner is read from the API server, because the graph may be outdated, and the deletion of a dependent cannot be undone.
 *   An owner that is remembered as absent (`AbsentOwners`) is not read again.
 */
export async function findOwners(object: ReadonlyObject, sources: OwnerSources, signal: AbortSignal): Promise<Owners> {
  const { client, source, observed, absent, isGone } = sources
  const owners = { solid: [] as Reference[], waiting: [] as Reference[], absent: [] as Reference[], unknown: [] as Reference[] }
  let unobserved = false
  for (const reference of object.metadata.ownerReferences ?? []) {
    const place = placeOf(reference, object.metadata.namespace, source)
    // If the type of the owner is not served and the deletion of the owner was observed, the owner is absent. In all other cases, the owner
    // is unknown. As in Kubernetes, an object with an unknown owner is not deleted.
    if (place === undefined) {
      const list = !isServed(reference, source) && isGone(reference.uid) ? owners.absent : owners.unknown
      list.push(reference)
      continue
    }
    const known = observed(place)
    if (known !== undefined && !isWaitingForDependents(known)) {
      owners.solid.push(reference)
      continue
    }
    const owner = absent.has(place.type, place.key, place.uid) ? undefined : await orMissing(client.get(place.type, place.key, { signal }))
    if (owner === undefined || owner.metadata.uid !== reference.uid) {
      absent.add(place.type, place.key, place.uid)
      owners.absent.push(reference)
      continue
    }
    unobserved ||= known === undefined
    if (isWaitingForDependents(owner)) owners.waiting.push(reference)
    else owners.solid.push(reference)
  }
  return { ...owners, unobserved }
}

/**
 * Returns the object to which an owner reference refers. `namespace` is the namespace of the object that contains the reference. Returns
 * undefined if the type of the owner is not served, or if the type is namespaced and `namespace` is undefined.
 */
export function placeOf(reference: Reference, namespace: string | undefined, source: TypeSource): OwnerPlace | undefined {
  const { name, uid } = reference
  const type = typeOf(reference, source)
  if (type === undefined || (type.namespaced && namespace === undefined)) return undefined
  return { type, key: type.namespaced ? { name, namespace } : { name }, uid }
}

/** Returns true when the type of an owner is served. */
export function isServed(reference: Reference, source: TypeSource): boolean {
  return typeOf(reference, source) !== undefined
}

function typeOf({ apiVersion, kind }: Reference, source: TypeSource): ResourceType | undefined {
  return source.byKind(parseApiVersion(apiVersion).group, kind)
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
