/**
 * Computes the owner references of a StatefulSet's claims. Because of these references, the garbage collector deletes the claims according to
 * `spec.persistentVolumeClaimRetentionPolicy` (k8s.io/kubernetes/pkg/controller/statefulset: isClaimOwnerUpToDate,
 * updateClaimOwnerRefForSetAndPod).
 */
import type { DeepReadonly } from '../../../../api/json.ts'
import type { OwnerReference } from '../../../../api/object.ts'
import { controllerReference } from '../../../../api/owner-reference.ts'
import type { ReadonlyObject, ReadonlyPod } from '../../api-types.ts'
import type { StatefulSet } from './ordinals.ts'
import { isInRange, ordinalOf } from './ordinals.ts'

type Reference = DeepReadonly<OwnerReference>

/**
 * Returns true when an owner reference has the type and name of an object. The UIDs are not compared, so the reference may refer to a
 * deleted object with the same name.
 */
function names(reference: Reference, { apiVersion, kind, metadata }: ReadonlyObject): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === metadata.name
}

function referencesOf({ metadata }: ReadonlyObject): readonly Reference[] {
  return metadata.ownerReferences ?? []
}

function refersToUid(claim: ReadonlyObject, { metadata }: ReadonlyObject): boolean {
  return referencesOf(claim).some(({ uid }) => uid === metadata.uid)
}

/**
 * Returns true when a claim has an owner reference with the type and name of `object`, but with another UID. Such a reference refers to a
 * deleted object that had the same name.
 */
export function isOfEarlier(claim: ReadonlyObject, object: ReadonlyObject): boolean {
  const reference = referencesOf(claim).find((one) => names(one, object))
  return reference !== undefined && reference.uid !== object.metadata.uid
}

/**
 * Returns the Pod or the StatefulSet, depending on which of them must own the claims of the Pod. Returns undefined when neither of them
 * must own the claims.
 */
function wantedOwner(set: StatefulSet, pod: ReadonlyPod): ReadonlyObject | undefined {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const isScaledDown = whenScaled === 'Delete' && !isInRange(set, ordinalOf(pod) ?? -1)
  if (isScaledDown) return pod
  return whenDeleted === 'Delete' ? set : undefined
}

/**
 * Returns true when the retention policy cannot be applied to a claim. If the policy keeps all claims, the result is always false. If the
 * policy deletes claims, the result is true in two cases:
 *
 * - An object other than `set` and `pod` controls the claim.
 * - An owner reference of the claim has the type and name of `set` or `pod`, but another UID. This owner reference refers to a deleted
 *   StatefulSet or Pod.
 */
export function hasOtherController(claim: ReadonlyObject, set: StatefulSet, pod: ReadonlyPod): boolean {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  if (whenDeleted !== 'Delete' && whenScaled !== 'Delete') return false
  return referencesOf(claim).some((reference) => {
    const owner = [set, pod].find((one) => names(reference, one))
    return owner === undefined ? reference.controller === true : reference.uid !== owner.metadata.uid
  })
}

/** Returns true when the owner references of a claim need no change. */
export function hasWantedOwners(claim: ReadonlyObject, set: StatefulSet, pod: ReadonlyPod): boolean {
  const own = [set, pod]
  // If a claim has an owner reference to a deleted StatefulSet or Pod that had the name of `set` or `pod`, the claim is not changed. The
  // garbage collector is possibly about to delete the claim.
  if (own.some((object) => isOfEarlier(claim, object))) return true
  if (hasOtherController(claim, set, pod)) return !own.some((object) => refersToUid(claim, object))
  const uids = own.map(({ metadata }) => metadata.uid)
  if (referencesOf(claim).some(({ uid, controller }) => uids.includes(uid) && controller !== true)) return false
  const wanted = wantedOwner(set, pod)
  return own.every((object) => refersToUid(claim, object) === (object === wanted))
}

/** Returns the owner references that a claim must have. References to objects other than the StatefulSet and the Pod are preserved. */
export function wantedReferences(claim: ReadonlyObject, set: StatefulSet, pod: ReadonlyPod): readonly Reference[] {
  const others = referencesOf(claim).filter((reference) => !names(reference, set) && !names(reference, pod))
  const wanted = hasOtherController(claim, set, pod) ? undefined : wantedOwner(set, pod)
  return wanted === undefined ? others : [...others, controllerReference(wanted)]
}
