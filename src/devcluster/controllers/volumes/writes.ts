/** Writes that bind claims and volumes (k8s.io/kubernetes/pkg/controller/volume/persistentvolume). */
import { formatTime } from '../../../api/conditions.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { jsonEqual } from '../../../api/json.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { Claim, Volume } from './volume-match.ts'
import { isReservedFor } from './volume-match.ts'

export const bindCompleted = 'pv.kubernetes.io/bind-completed'
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
export const selectedNode = 'volume.kubernetes.io/selected-node'

/** Patches a claim. Rejects with a conflict when the claim has been changed since it was read. */
export function changeClaim({ metadata }: Claim, patch: object, { client }: ReconcileContext): Promise<Claim> {
  return client.patch(core.persistentVolumeClaim, metadata, atRevision(patch, metadata.resourceVersion))
}

/** Patches a volume. Rejects with a conflict when the volume has been changed since it was read. */
export function changeVolume({ metadata }: Volume, patch: object, { client }: ReconcileContext): Promise<Volume> {
  return client.patch(core.persistentVolume, metadata, atRevision(patch, metadata.resourceVersion))
}

function atRevision(patch: object & { readonly metadata?: object }, resourceVersion: string | undefined): object {
  return { ...patch, metadata: { ...patch.metadata, resourceVersion } }
}

/**
 * Writes the phase of a claim that is not bound. Removes the access modes and the capacity from the status, because only the status of a
 * bound claim has these fields.
 */
export async function setClaimPhase(claim: Claim, phase: 'Pending' | 'Lost', { client }: ReconcileContext): Promise<void> {
  const { phase: before, accessModes, capacity } = claim.status ?? {}
  if (before === phase && accessModes === undefined && capacity === undefined) return
  const status: object = { phase, accessModes: null, capacity: null }
  await client.patchStatus(core.persistentVolumeClaim, claim.metadata, { status })
}

/** Writes the phase of a volume and the time of the change. Resolves with the volume. */
export function setVolumePhase(
  volume: Volume,
  phase: 'Available' | 'Bound' | 'Released',
  { client, clock }: ReconcileContext,
): Promise<Volume> {
  if (volume.status?.phase === phase) return Promise.resolve(volume)
  return client.patchStatus(core.persistentVolume, volume.metadata, { status: { phase, lastPhaseTransitionTime: formatTime(clock.now()) } })
}

/** Binds a volume and a claim to each other. The volume is written before the claim (PersistentVolumeController.bind). */
export async function bind(volume: Volume, claim: Claim, context: ReconcileContext): Promise<void> {
  const reserved = await reserve(volume, claim, context)
  await setVolumePhase(reserved, 'Bound', context)
  const completed = await completeClaim(claim, volume.metadata.name, context)
  const { accessModes = [], capacity = {} } = volume.spec ?? {}
  const { status } = completed
  const isBound = status?.phase === 'Bound'
  if (isBound && jsonEqual(status.accessModes ?? [], accessModes)) return
  const changed: object = { phase: 'Bound', accessModes, ...(!isBound && { capacity }) }
  await context.client.patchStatus(core.persistentVolumeClaim, claim.metadata, { status: changed })
}

/** Sets the `claimRef` of a volume to the claim. Resolves with the updated volume. */
export async function reserve(volume: Volume, claim: Claim, context: ReconcileContext): Promise<Volume> {
  const { name, namespace, uid, resourceVersion } = claim.metadata
  if (volume.spec?.claimRef?.uid === uid) return volume
  const annotations = isReservedFor(volume, claim) ? {} : { annotations: { [boundByController]: 'yes' } }
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion }
  return changeVolume(volume, { metadata: annotations, spec: { claimRef } }, context)
}

/** Sets the `volumeName` of a claim, and marks the binding as completed. Resolves with the claim. */
async function completeClaim(claim: Claim, volumeName: string, context: ReconcileContext): Promise<Claim> {
  const isNamed = claim.spec?.volumeName === volumeName
  if (isNamed && claim.metadata.annotations?.[bindCompleted] !== undefined) return claim
  const annotations = { [bindCompleted]: 'yes', ...(!isNamed && { [boundByController]: 'yes' }) }
  return changeClaim(claim, { metadata: { annotations }, ...(!isNamed && { spec: { volumeName } }) }, context)
}
