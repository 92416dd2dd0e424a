/** Matches PersistentVolumes with PersistentVolumeClaims (k8s.io/component-helpers/storage/volume: FindMatchingVolume). */
import type { DeepReadonly } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'
import type { ReadonlyNode } from '../api-types.ts'
import { matchesTerms } from '../scheduler/node-affinity.ts'
import { selects } from '../workloads/dependents.ts'

export type Claim = DeepReadonly<core.PersistentVolumeClaim>
export type Volume = DeepReadonly<core.PersistentVolume>

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** Returns the name of the storage class of a claim or volume. Returns an empty string if the claim or volume has no class. */
export function classOf({ metadata, spec }: Claim | Volume): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
}

/** Returns true when the volume is reserved for the claim or bound to it. */
export function isReservedFor({ spec }: Volume, { metadata }: Claim): boolean {
  const reference = spec?.claimRef
  if (reference?.name !== metadata.name || reference.namespace !== metadata.namespace) return false
  return !reference.uid || reference.uid === metadata.uid
}

/**
 * Returns the reason why a volume does not satisfy a claim. Returns undefined if the volume satisfies the claim (checkVolumeSatisfyClaim).
 */
export function mismatch(volume: Volume, claim: Claim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) return `the volume is marked for deletion "${volume.metadata.name}"`
  if (sizeOf(volume) < requestedSize(claim)) return 'requested PV is too small'
  if (classOf(volume) !== classOf(claim)) return 'storageClassName does not match'
  if (attributesOf(volume) !== attributesOf(claim)) return 'volumeAttributesClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode'
}

function sizeOf({ spec }: Volume): number {
  return parseQuantity(spec?.capacity?.['storage']) ?? 0
}

function requestedSize({ spec }: Claim): number {
  return parseQuantity(spec?.resources?.requests?.['storage']) ?? 0
}

function attributesOf({ spec }: Claim | Volume): string {
  return spec?.volumeAttributesClassName ?? ''
}

/** Returns the volume mode; `Filesystem` when the mode is absent. */
export function modeOf({ spec }: Claim | Volume): string {
  return spec?.volumeMode ?? 'Filesystem'
}

function hasAccessModes({ spec }: Volume, claim: Claim): boolean {
  return (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode) === true)
}

/**
 * Returns the volume to which a claim can be bound:
 *
 * - If a suitable volume is reserved for the claim, only this volume can be returned.
 * - Otherwise, returns the suitable available volume with the fewest access modes. Among volumes with equally many access modes, returns
 *   the smallest volume.
 *
 * @param options If `onlyReserved` is true, only a reserved volume is returned. If `node` is given, only a volume that this node can reach
 *   is returned.
 */
export function findVolume(
  claim: Claim,
  volumes: readonly Volume[],
  { onlyReserved = false, node }: { readonly onlyReserved?: boolean; readonly node?: ReadonlyNode } = {},
): Volume | undefined {
  const fitting = volumes.filter((volume) => {
    if (volume.spec?.claimRef !== undefined && !isReservedFor(volume, claim)) return false
    const fits = volume.metadata.deletionTimestamp === undefined && sizeOf(volume) >= requestedSize(claim)
    return fits && modeOf(volume) === modeOf(claim) && attributesOf(volume) === attributesOf(claim) && hasAccessModes(volume, claim)
  })
  const reserved = fitting.find((volume) => isReservedFor(volume, claim))
  if (reserved !== undefined) return node === undefined || isReachable(reserved, node) ? reserved : undefined
  if (onlyReserved) return undefined
  const { selector } = claim.spec ?? {}
  const available = fitting.filter(
    (volume) =>
      volume.status?.phase === 'Available' &&
      (selector === undefined || selects(selector, volume)) &&
      classOf(volume) === classOf(claim) &&
      (node === undefined || isReachable(volume, node)),
  )
  const modes = ({ spec }: Volume): number => new Set(spec?.accessModes).size
  return available.sort((a, b) => modes(a) - modes(b) || sizeOf(a) - sizeOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

/** Returns true when the node affinity of the volume matches the node, or when the volume has no node affinity. */
export function isReachable({ spec }: Volume, node: ReadonlyNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || matchesTerms(terms, node)
}
