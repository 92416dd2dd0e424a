/** What has become of the owners that an object names. */
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
  /** They are there. */
  readonly solid: readonly Reference[]
  /** They are being deleted and wait for their dependents. */
  readonly waiting: readonly Reference[]
  /** They are gone, or never were in this namespace. */
  readonly absent: readonly Reference[]
  /** Nobody can tell: their type is not served. */
  readonly unknown: readonly Reference[]
}

/** Where owners are looked up. */
export interface OwnerSources {
  readonly client: Client
  readonly source: TypeSource
  /** Whether the owner of this uid was seen to be deleted: the only witness when its type is no longer served. */
  readonly isGone: (uid: string) => boolean
}

/**
 * Looks the owners up with the API server itself, for what is deleted on a mistaken belief does not come back.
 * A name that now belongs to another object counts as absent; so does an owner in another namespace, which a reference cannot name.
 */
export async function findOwners(object: ReadonlyObject, { client, source, isGone }: OwnerSources, signal: AbortSignal): Promise<Owners> {
  const owners = { solid: [] as Reference[], waiting: [] as Reference[], absent: [] as Reference[], unknown: [] as Reference[] }
  const { namespace, ownerReferences = [] } = object.metadata
  for (const reference of ownerReferences) {
    const type = source.byKind(parseApiVersion(reference.apiVersion).group, reference.kind)
    // A cluster-scoped object that names a namespaced owner says nothing about which one: Kubernetes leaves it alone, too.
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
