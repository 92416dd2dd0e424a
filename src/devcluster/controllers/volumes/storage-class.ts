/** Storage classes, and the built-in class whose volumes are simulated. */
import type { DeepReadonly } from '../../../api/json.ts'
import { storage } from '../../../api/kubernetes/storage.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { Client } from '../../../client/client.ts'
import { defaultClassAnnotation, defaultClassOf } from '../../resources/default-storage-class.ts'
import type { Claim } from './volume-match.ts'
import { classOf } from './volume-match.ts'

export type StorageClass = DeepReadonly<storage.StorageClass>

/** The provisioner of simulated volumes. Users can specify this provisioner in their own classes. */
export const simulatedProvisioner = 'proreus.dev/simulated'

/** The provisioner of classes whose volumes are created by hand (NotSupportedProvisioner). */
export const noProvisioner = 'kubernetes.io/no-provisioner'

/** Creates the default class `standard`, if it does not exist. Claims of this class are bound immediately, to simulated volumes. */
export async function createStandardClass(client: Client): Promise<void> {
  const name = 'standard'
  try {
    // The class is read first, and a create request is sent only if the class does not exist. If an earlier run has created the class, a
    // webhook from that run could reject a create request, and the error would not be AlreadyExists.
    await client.get(storage.storageClass, { name })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const metadata = { name, annotations: { [defaultClassAnnotation]: 'true' } }
    await client.create(storage.storageClass, { metadata, provisioner: simulatedProvisioner })
  }
}

/** Returns the storage class of a claim. Returns undefined when the claim names no class, or a class that does not exist. */
export function storageClassOf(claim: Claim, { cache }: { readonly cache: CacheReader }): StorageClass | undefined {
  const name = classOf(claim)
  return name === '' ? undefined : cache.get(storage.storageClass, { name })
}

/** Returns true when a claim of the class is bound only after a Pod that uses the claim is scheduled. */
export function waitsForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}

/** Returns the name of the default storage class. Returns undefined if no storage class is marked as the default. */
export function defaultClassName({ cache }: { readonly cache: CacheReader }): string | undefined {
  return defaultClassOf(cache.list(storage.storageClass))?.metadata.name
}
