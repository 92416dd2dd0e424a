/**
 * Creates the PersistentVolumeClaims of a StatefulSet's Pods, and sets their owner references
 * (k8s.io/kubernetes/pkg/controller/statefulset: stateful_pod_control).
 */
import { core } from '../../../../api/kubernetes/core.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { NamespacedKey, ObjectInput } from '../../../../api/object.ts'
import { isAlreadyExists, isApiError } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { Refusal } from '../../retry-refused.ts'
import { hasOtherController, hasWantedOwners, isOfEarlier, wantedReferences } from './claim-owners.ts'
import type { StatefulSet } from './ordinals.ts'
import { ordinalOf, podNameOf } from './ordinals.ts'

type Claim = DeepReadonly<core.PersistentVolumeClaim>

function templatesOf({ spec }: StatefulSet): NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']> {
  return spec?.volumeClaimTemplates ?? []
}

/** Returns the keys of the claims of the Pod with this ordinal. `volume` is the name of the Pod's volume that uses the claim. */
export function claimKeys(set: StatefulSet, ordinal: number): readonly (NamespacedKey & { readonly volume: string })[] {
  const { name, namespace } = set.metadata
  return templatesOf(set).map(({ metadata }) => {
    const volume = metadata?.name ?? ''
    return { volume, namespace, name: `${volume}-${name}-${ordinal}` }
  })
}

/**
 * Returns the claims to create for the Pod with this ordinal. The labels in `spec.selector.matchLabels` of the StatefulSet are added to
 * each claim.
 */
export function claimsOf(set: StatefulSet, ordinal: number): readonly ObjectInput<core.PersistentVolumeClaim>[] {
  const keys = claimKeys(set, ordinal)
  return templatesOf(set).map(({ metadata, spec }, index) => {
    const { name, namespace } = keys[index]!
    const labels = { ...metadata?.labels, ...set.spec?.selector.matchLabels }
    return { metadata: { ...metadata, name, namespace, labels }, spec } as ObjectInput<core.PersistentVolumeClaim>
  })
}

/** Returns the PersistentVolumeClaims of the Pod with this ordinal. Claims that are not in the cache are omitted. */
function existingClaims(set: StatefulSet, ordinal: number, { cache }: ReconcileContext): readonly Claim[] {
  return claimKeys(set, ordinal).flatMap((key) => cache.get(core.persistentVolumeClaim, key) ?? [])
}

/**
 * Creates the missing claims of the Pod with this ordinal.
 *
 * @throws {Refusal} when a claim cannot be created or is being deleted. The message lists the problems of all claims.
 */
export async function createClaims(set: StatefulSet, ordinal: number, context: ReconcileContext): Promise<void> {
  const problems: string[] = []
  const subject = `Pod ${podNameOf(set, ordinal)} in StatefulSet ${set.metadata.name}`
  for (const claim of claimsOf(set, ordinal)) {
    const { name, namespace } = claim.metadata as NamespacedKey
    const existing = context.cache.get(core.persistentVolumeClaim, { name, namespace })
    if (existing?.metadata.deletionTimestamp !== undefined) problems.push(`pvc ${name} is being deleted`)
    if (existing !== undefined) continue
    try {
      await context.client.create(core.persistentVolumeClaim, claim)
      context.events.event(set, 'Normal', 'SuccessfulCreate', `Create Claim ${name} ${subject} success`)
    } catch (error) {
      if (!isApiError(error)) throw error
      problems.push(`failed to create PVC ${name}: ${error.message}`)
      const message = `Create Claim ${name} for ${subject} failed error: ${error.message}`
      if (!isAlreadyExists(error)) context.events.event(set, 'Warning', 'FailedCreate', message)
    }
  }
  if (problems.length > 0) throw new Refusal(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
}

/**
 * Returns true when the Pod with this ordinal cannot be created yet. This is the case while a claim of the Pod has an owner reference to a
 * deleted Pod that had the same name. The garbage collector must first delete this claim (…/statefulset: PodClaimIsStale).
 */
export function isWaitingForClaims(set: StatefulSet, ordinal: number, context: ReconcileContext): boolean {
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: podNameOf(set, ordinal), uid: '' } } as ReadonlyPod
  return existingClaims(set, ordinal, context).some((claim) => isOfEarlier(claim, pod))
}

/** Returns true when the owner references of the Pod's claims need no change. */
export function matchRetention(set: StatefulSet, pod: ReadonlyPod, context: ReconcileContext): boolean {
  return existingClaims(set, ordinalOf(pod)!, context).every((claim) => hasWantedOwners(claim, set, pod))
}

/**
 * Sets the owner references of the Pod's claims according to the retention policy.
 *
 * @throws {Refusal} when the API server rejects a patch.
 */
export async function applyRetention(set: StatefulSet, pod: ReadonlyPod, context: ReconcileContext): Promise<void> {
  const { client, events } = context
  for (const claim of existingClaims(set, ordinalOf(pod)!, context)) {
    const { name, resourceVersion } = claim.metadata
    if (hasOtherController(claim, set, pod))
      // The message is copied from Kubernetes, including the misspelling "manging".
      events.event(
        set,
        'Warning',
        'ConflictingController',
        `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
      )
    if (hasWantedOwners(claim, set, pod)) continue
    const patch: object = { metadata: { resourceVersion, ownerReferences: wantedReferences(claim, set, pod) } }
    try {
      await client.patch(core.persistentVolumeClaim, claim.metadata, patch)
    } catch (cause) {
      if (!isApiError(cause)) throw cause
      throw new Refusal(`could not update claim ${name} for delete policy ownerRefs: ${cause.message}`, { cause })
    }
  }
}
