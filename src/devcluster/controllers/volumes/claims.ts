/**
 * The controller of PersistentVolumeClaims: binds each claim to a volume, and creates simulated volumes
 * (k8s.io/kubernetes/pkg/controller/volume/persistentvolume: syncClaim).
 */
import { core } from '../../../api/kubernetes/core.ts'
import { storage } from '../../../api/kubernetes/storage.ts'
import type { ObjectInput, ObjectKey } from '../../../api/object.ts'
import { isAlreadyExists } from '../../../client/api-error.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { retryRefused } from '../retry-refused.ts'
import { claimNamesOf, isUsing } from './pod-claims.ts'
import type { StorageClass } from './storage-class.ts'
import { defaultClassName, simulatedProvisioner, storageClassOf, waitsForConsumer } from './storage-class.ts'
import type { Claim, Volume } from './volume-match.ts'
import { classOf, findVolume, isReservedFor, mismatch } from './volume-match.ts'
import { bind, bindCompleted, changeClaim, selectedNode, setClaimPhase } from './writes.ts'

export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
const provisionerAnnotations = ['volume.beta.kubernetes.io/storage-provisioner', 'volume.kubernetes.io/storage-provisioner']

export function claimController(): ControllerDefinition {
  return defineController(core.persistentVolumeClaim, {
    name: 'persistentvolumeclaim',
    resyncPeriodMs: 0,
    watches: [
      { type: core.persistentVolume, map: claimsOfVolume },
      { type: storage.storageClass, map: (_class, { cache }) => cache.list(core.persistentVolumeClaim).filter(isUnbound).map(keyOf) },
      { type: core.pod, map: ({ metadata, ...pod }) => claimNamesOf(pod).map((name) => ({ namespace: metadata.namespace, name })) },
    ],
    reconcile: retryRefused((claim: Claim, context: ReconcileContext) =>
      isUnbound(claim) ? syncUnbound(claim, context) : syncBound(claim, context),
    ),
  })
}

function isUnbound({ metadata }: Claim): boolean {
  return metadata.annotations?.[bindCompleted] === undefined
}

function keyOf({ metadata: { namespace, name } }: Claim): ObjectKey {
  return { namespace, name }
}

/**
 * Returns the claims that a change of the volume may affect:
 *
 * - the claims whose `volumeName` is the name of the volume
 * - if the volume has a `claimRef`: the claim in the `claimRef`, if this claim is unbound and has no `volumeName`
 * - if the volume has no `claimRef`: the unbound claims that have the class of the volume and no `volumeName`
 */
function claimsOfVolume(volume: Volume, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const { spec, metadata } = volume
  const claims = cache.list(core.persistentVolumeClaim).filter((claim) => {
    if (claim.spec?.volumeName) return claim.spec.volumeName === metadata.name
    return isUnbound(claim) && (spec?.claimRef === undefined ? classOf(claim) === classOf(volume) : isReservedFor(volume, claim))
  })
  return claims.map(keyOf)
}

async function syncUnbound(claim: Claim, context: ReconcileContext): Promise<Result> {
  const name = claim.spec?.volumeName
  if (name) return syncNamed(claim, name, context)
  const storageClass = storageClassOf(claim, context)
  const isDelayed = waitsForConsumer(storageClass)
  const volume = findVolume(claim, context.cache.list(core.persistentVolume), { onlyReserved: isDelayed })
  if (volume !== undefined) {
    await bind(volume, claim, context)
    return
  }
  const hasClass = claim.spec?.storageClassName !== undefined || classOf(claim) !== ''
  const defaultClass = hasClass ? undefined : defaultClassName(context)
  if (defaultClass !== undefined) {
    const assigned = await changeClaim(claim, { spec: { storageClassName: defaultClass } }, context)
    return syncUnbound(assigned, context)
  }
  if (isDelayed && claim.metadata.annotations?.[selectedNode] === undefined) {
    context.events.event(claim, 'Normal', ...consumerEvent(claim, context))
  } else if (classOf(claim) !== '') {
    return provision(claim, storageClass, context)
  } else {
    const message = 'no persistent volumes available for this claim and no storage class is set'
    context.events.event(claim, 'Normal', 'FailedBinding', message)
  }
  await setClaimPhase(claim, 'Pending', context)
}

/**
 * Returns the reason and the message of the Event for a claim whose StorageClass has the volumeBindingMode WaitForFirstConsumer. If no
 * unscheduled Pod uses the claim, the claim waits for the first Pod. If unscheduled Pods use the claim, the claim waits until one of these
 * Pods is scheduled.
 */
function consumerEvent({ metadata }: Claim, { cache }: ReconcileContext): [reason: string, message: string] {
  const isWaiting = (pod: ReadonlyPod): boolean => isUsing(pod, metadata.name) && !pod.spec?.nodeName
  const pods = cache.list(core.pod, { namespace: metadata.namespace }).filter(isWaiting)
  const names = pods.map((pod) => pod.metadata.name)
  if (names.length === 0) return ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding']
  return ['WaitForPodScheduled', `waiting for pod${names.length > 1 ? 's' : ''} ${names.join(',')} to be scheduled`]
}

/**
 * Binds a claim to the PersistentVolume with the name `spec.volumeName` of the claim. The phase of the claim is set to Pending if the
 * volume is missing, does not match the claim, or is bound to another claim.
 */
async function syncNamed(claim: Claim, name: string, context: ReconcileContext): Promise<Result> {
  const volume = context.cache.get(core.persistentVolume, { name })
  if (volume === undefined) return setClaimPhase(claim, 'Pending', context)
  const { claimRef } = volume.spec ?? {}
  const problem = claimRef === undefined ? mismatch(volume, claim) : undefined
  if (problem === undefined && (claimRef === undefined || isReservedFor(volume, claim))) return bind(volume, claim, context)
  if (problem === undefined) {
    context.events.event(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`)
  } else {
    context.events.event(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${problem}`)
  }
  return setClaimPhase(claim, 'Pending', context)
}

/** Checks the volume of a claim that was bound earlier. Sets the phase Lost when the volume is missing or belongs to another claim. */
async function syncBound(claim: Claim, context: ReconcileContext): Promise<Result> {
  const name = claim.spec?.volumeName
  const volume = name ? context.cache.get(core.persistentVolume, { name }) : undefined
  const claimRef = volume?.spec?.claimRef
  if (volume !== undefined && (claimRef === undefined || claimRef.uid === claim.metadata.uid)) return bind(volume, claim, context)
  if (claim.status?.phase === 'Lost') return
  await setClaimPhase(claim, 'Lost', context)
  const lost = `Bound claim has lost ${name ? 'its' : 'reference to'} PersistentVolume. Data on the volume is lost!`
  if (volume === undefined) context.events.event(claim, 'Warning', 'ClaimLost', lost)
  else {
    const message = 'Two claims are bound to the same volume, this one is bound incorrectly'
    context.events.event(claim, 'Warning', 'ClaimMisbound', message)
  }
}

/**
 * Annotates a claim with the provisioner of the storage class, and records the Event `ExternalProvisioning`. If the provisioner is
 * `simulatedProvisioner`, also creates a volume and binds the claim to the volume.
 */
async function provision(claim: Claim, storageClass: StorageClass | undefined, context: ReconcileContext): Promise<Result> {
  const { events } = context
  if (storageClass === undefined) {
    events.event(claim, 'Warning', 'ProvisioningFailed', `storageclass.storage.k8s.io "${classOf(claim)}" not found`)
    return
  }
  const { provisioner } = storageClass
  const annotations = Object.fromEntries(provisionerAnnotations.map((name) => [name, provisioner]))
  const isAnnotated = provisionerAnnotations.every((name) => claim.metadata.annotations?.[name] === provisioner)
  const marked = isAnnotated ? claim : await changeClaim(claim, { metadata: { annotations } }, context)
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If ` +
    'volume creation is delayed, please verify that the provisioner is running and correctly registered.'
  events.event(claim, 'Normal', 'ExternalProvisioning', message)
  if (provisioner !== simulatedProvisioner) return
  const volume = await createVolume(marked, storageClass, context)
  events.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata.name}`)
  await bind(volume, marked, context)
}

async function createVolume(claim: Claim, storageClass: StorageClass, { client }: ReconcileContext): Promise<Volume> {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const { reclaimPolicy, mountOptions } = storageClass
  const volumeName = `pvc-${uid}`
  const volume = {
    metadata: { name: volumeName, annotations: { [provisionedBy]: simulatedProvisioner } },
    spec: {
      capacity: claim.spec?.resources?.requests,
      accessModes: claim.spec?.accessModes,
      volumeMode: claim.spec?.volumeMode,
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: reclaimPolicy ?? 'Delete',
      ...(mountOptions !== undefined && { mountOptions }),
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
      csi: { driver: simulatedProvisioner, volumeHandle: volumeName },
    },
  }
  try {
    return await client.create(core.persistentVolume, volume as unknown as ObjectInput<core.PersistentVolume>)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return client.get(core.persistentVolume, { name: volumeName })
  }
}
