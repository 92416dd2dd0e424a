/**
 * The controllers of the protection finalizers of claims and volumes. A finalizer delays the deletion of an object until the object is not
 * in use (k8s.io/kubernetes/pkg/controller/volume/pvcprotection and pvprotection).
 */
import { core } from '../../../api/kubernetes/core.ts'
import type { ResourceType } from '../../../api/group-version-kind.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import { isNotFound } from '../../../client/api-error.ts'
import { claimProtection, volumeProtection } from '../../resources/storage-protection.ts'
import { retryRefused } from '../retry-refused.ts'
import { claimNamesOf } from './pod-claims.ts'
import type { Claim, Volume } from './volume-match.ts'

/**
 * Returns the controller that adds the protection finalizer to PersistentVolumeClaims. If a claim is being deleted and is not in use, the
 * controller removes the finalizer. A claim is in use while a Pod that is bound to a node has a volume that refers to the claim, even if
 * the Pod has ended.
 */
export function claimProtectionController(): ControllerDefinition {
  return defineController(core.persistentVolumeClaim, {
    name: 'pvcprotection',
    resyncPeriodMs: 0,
    watches: [
      { type: core.pod, map: ({ metadata, ...pod }) => claimNamesOf(pod).map((name) => ({ namespace: metadata.namespace, name })) },
    ],
    reconcile: retryRefused(async (claim: Claim, context: ReconcileContext) => {
      const { namespace, name } = claim.metadata
      const pods = context.cache.list(core.pod, { namespace })
      const isUsed = pods.some((pod) => !!pod.spec?.nodeName && claimNamesOf(pod).includes(name))
      await protect(core.persistentVolumeClaim, claim, { finalizer: claimProtection, isUsed }, context)
    }),
  })
}

/** Returns the controller that adds and removes the finalizers of volumes. A volume is in use while the phase of the volume is Bound. */
export function volumeProtectionController(): ControllerDefinition {
  return defineController(core.persistentVolume, {
    name: 'pvprotection',
    resyncPeriodMs: 0,
    reconcile: retryRefused((volume: Volume, context: ReconcileContext) =>
      protect(core.persistentVolume, volume, { finalizer: volumeProtection, isUsed: volume.status?.phase === 'Bound' }, context),
    ),
  })
}

/** Removes the finalizer if the object is being deleted and is not in use. Adds the finalizer if the object is not being deleted. */
async function protect(
  type: ResourceType,
  { metadata }: Claim | Volume,
  { finalizer, isUsed }: { readonly finalizer: string; readonly isUsed: boolean },
  { client }: ReconcileContext,
): Promise<void> {
  const { finalizers = [], deletionTimestamp, resourceVersion } = metadata
  const isProtected = finalizers.includes(finalizer)
  const isWanted = deletionTimestamp === undefined || (isProtected && isUsed)
  if (isProtected === isWanted) return
  const changed = isWanted ? [...finalizers, finalizer] : finalizers.filter((one) => one !== finalizer)
  const patch: object = { metadata: { resourceVersion, finalizers: changed } }
  try {
    await client.patch(type, metadata, patch)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
