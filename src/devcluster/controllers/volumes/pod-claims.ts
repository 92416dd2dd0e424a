/** The PersistentVolumeClaims that a Pod uses. */
import type { core } from '../../../api/kubernetes/core.ts'
import type { DeepReadonly } from '../../../api/json.ts'

type PodLike = Pick<DeepReadonly<core.Pod>, 'spec' | 'status'>

/** Returns the names of the claims in the volumes of a Pod. */
export function claimNamesOf({ spec }: Pick<PodLike, 'spec'>): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? [])
}

/** Returns true when the Pod has not ended and one of its volumes uses the claim. */
export function isUsing(pod: PodLike, claimName: string): boolean {
  return pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed' && claimNamesOf(pod).includes(claimName)
}
