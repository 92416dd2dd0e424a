/**
 * Finds the PersistentVolumes for the volumes of a Pod that refer to claims (k8s.io/kubernetes/pkg/kubelet/volumemanager/populator:
 * createVolumeSpec).
 */
import type { DeepReadonly } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'

export type ReadonlyClaim = DeepReadonly<core.PersistentVolumeClaim>
type Volume = NonNullable<NonNullable<ReadonlyPod['spec']>['volumes']>[number]

/** Reads claims. Resolves with undefined for a claim that does not exist. */
export interface ClaimSource {
  claim(namespace: string, name: string): Promise<ReadonlyClaim | undefined>
}

/** The error of a claim that is not usable. The Pod must wait until the claim is usable. The message is that of the kubelet. */
export class ClaimError extends Error {
  override readonly name = 'ClaimError'
}

export interface BoundVolume {
  /** The name of the PersistentVolume. */
  readonly volumeName: string
  readonly isReadOnly: boolean
}

const protectionFinalizer = 'kubernetes.io/pvc-protection'

/**
 * Resolves with the PersistentVolume of a volume of the type `persistentVolumeClaim` or `ephemeral`.
 *
 * @throws {ClaimError} in each of these cases:
 * - The claim cannot be read, or does not exist.
 * - The claim is being deleted and has no finalizer `kubernetes.io/pvc-protection`.
 * - The claim is not bound, or its spec names no volume.
 * - The Pod is not the controller of the claim of an `ephemeral` volume.
 * - The volume mode of the claim is not `Filesystem`.
 */
export async function boundVolumeOf(pod: ReadonlyPod, volume: Volume, source: ClaimSource): Promise<BoundVolume> {
  const { namespace, name: podName, uid } = pod.metadata
  const isEphemeral = volume.persistentVolumeClaim === undefined
  const claimName = volume.persistentVolumeClaim?.claimName ?? `${podName}-${volume.name}`
  const problem = (detail: string, cause?: unknown): ClaimError =>
    new ClaimError(`error processing PVC ${namespace}/${claimName}: ${detail}`, { cause })
  const claim = await source.claim(namespace, claimName).catch((error: unknown) => {
    throw problem(`failed to fetch PVC from API server: ${error instanceof Error ? error.message : String(error)}`, error)
  })
  if (claim === undefined) throw problem(`failed to fetch PVC from API server: persistentvolumeclaims "${claimName}" not found`)
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = claim.metadata
  if (deletionTimestamp !== undefined && !finalizers.includes(protectionFinalizer)) throw problem('PVC is being deleted')
  if (claim.status?.phase !== 'Bound') throw problem('PVC is not bound')
  const { volumeName = '', volumeMode = 'Filesystem' } = claim.spec ?? {}
  if (volumeName === '') throw problem('PVC has empty pvc.Spec.VolumeName')
  if (isEphemeral && !ownerReferences.some((owner) => owner.controller === true && owner.uid === uid)) {
    throw new ClaimError(`PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`)
  }
  if (volumeMode !== 'Filesystem') {
    throw new ClaimError(`volume ${volume.name} has volumeMode ${volumeMode}, but is specified in volumeMounts`)
  }
  return { volumeName, isReadOnly: volume.persistentVolumeClaim?.readOnly === true }
}
