/**
 * The controller of PersistentVolumes: sets the phase of volumes, and deletes simulated volumes whose claim no longer exists or is bound to
 * another volume (k8s.io/kubernetes/pkg/controller/volume/persistentvolume: syncVolume).
 */
import { core } from '../../../api/kubernetes/core.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { retryRefused } from '../retry-refused.ts'
import { provisionedBy } from './claims.ts'
import { simulatedProvisioner } from './storage-class.ts'
import type { Claim, Volume } from './volume-match.ts'
import { modeOf } from './volume-match.ts'
import { boundByController, changeVolume, setVolumePhase } from './writes.ts'

export function volumeController(): ControllerDefinition {
  return defineController(core.persistentVolume, {
    name: 'persistentvolume',
    resyncPeriodMs: 0,
    watches: [{ type: core.persistentVolumeClaim, map: volumesOfClaim }],
    reconcile: retryRefused(syncVolume),
  })
}

/** Maps a claim to the volumes whose `claimRef` contains the namespace and the name of the claim. */
function volumesOfClaim({ metadata }: Claim, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const isOwn = ({ spec }: Volume): boolean => spec?.claimRef?.name === metadata.name && spec.claimRef.namespace === metadata.namespace
  return cache
    .list(core.persistentVolume)
    .filter(isOwn)
    .map((volume) => ({ name: volume.metadata.name }))
}

async function syncVolume(volume: Volume, context: ReconcileContext): Promise<Result> {
  const { claimRef } = volume.spec ?? {}
  if (!claimRef?.uid) {
    await setVolumePhase(volume, 'Available', context)
    return
  }
  const claim = await claimOf(volume, context)
  if (claim === undefined) return release(volume, context)
  const name = claim.spec?.volumeName
  // A claim without `volumeName` is not bound yet. The controller of claims binds the claim to the volume only if both have the same volume
  // mode. If the volume modes differ, the mismatch is reported in Events of the volume and of the claim.
  if (!name) return modeOf(claim) === modeOf(volume) ? undefined : reportMode(volume, claim, context)
  if (name === volume.metadata.name) {
    await setVolumePhase(volume, 'Bound', context)
    return
  }
  return isSimulated(volume) ? release(volume, context) : unbind(volume, context)
}

/**
 * Resolves with the claim in the `claimRef` of the volume. Resolves with undefined if the claim does not exist. A claim that is missing in
 * the cache is read from the API server, because the cache may be outdated and the volume of an existing claim must not be deleted.
 */
async function claimOf({ spec }: Volume, { client, cache }: ReconcileContext): Promise<Claim | undefined> {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {}
  const cached = cache.get(core.persistentVolumeClaim, { namespace, name })
  if (cached?.metadata.uid === uid) return cached
  try {
    const claim = await client.get(core.persistentVolumeClaim, { namespace, name })
    return claim.metadata.uid === uid ? claim : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function isSimulated({ metadata, spec }: Volume): boolean {
  return metadata.annotations?.[provisionedBy] === simulatedProvisioner && spec?.persistentVolumeReclaimPolicy === 'Delete'
}

/**
 * Releases a volume whose claim no longer exists or is bound to another volume. Then deletes the volume if it is simulated and has the
 * reclaim policy Delete. External provisioners delete the volumes that they have created.
 */
async function release(volume: Volume, context: ReconcileContext): Promise<void> {
  if (volume.status?.phase !== 'Failed') await setVolumePhase(volume, 'Released', context)
  if (!isSimulated(volume) || volume.metadata.deletionTimestamp !== undefined) return
  try {
    await context.client.delete(core.persistentVolume, volume.metadata)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/**
 * Makes a volume available again after its claim has been bound to another volume (PersistentVolumeController.unbindVolume). Removes the
 * `claimRef` if a controller has set the `claimRef`. If a user has set the `claimRef`, removes only the uid from the `claimRef`.
 */
async function unbind(volume: Volume, context: ReconcileContext): Promise<void> {
  const isOurs = volume.metadata.annotations?.[boundByController] !== undefined
  const patch = isOurs
    ? { metadata: { annotations: { [boundByController]: null } }, spec: { claimRef: null } }
    : { spec: { claimRef: { uid: null } } }
  await setVolumePhase(await changeVolume(volume, patch, context), 'Available', context)
}

function reportMode(volume: Volume, claim: Claim, { events }: ReconcileContext): void {
  const [volumeName, claimName] = [volume.metadata.name, claim.metadata.name]
  const because = 'due to incompatible volumeMode.'
  events.event(
    volume,
    'Warning',
    'VolumeMismatch',
    `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claimName}" ${because}`,
  )
  events.event(
    claim,
    'Warning',
    'VolumeMismatch',
    `Cannot bind PersistentVolume "${volumeName}" to requested PersistentVolumeClaim ${because}`,
  )
}
