/** Computes the status of a StatefulSet. */
import type { ReadonlyPod } from '../../api-types.ts'
import { isAvailable, isReady } from '../pod-state.ts'
import { podRevision } from '../revisions/revision.ts'
import type { StatefulSet } from './ordinals.ts'
import { replicasOf } from './ordinals.ts'
import { isDeleted } from './pods.ts'

export interface StatefulSetStatus {
  readonly observedGeneration: number
  readonly replicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly currentReplicas: number
  readonly updatedReplicas: number
  readonly currentRevision: string | undefined
  readonly updateRevision: string | undefined
}

export interface RolloutState {
  /** The name of the current revision; undefined before the first revision is created. */
  readonly current: string | undefined
  /**
   * The name of the update revision, which the status of the StatefulSet contains as `updateRevision`. Undefined before the first revision
   * is created.
   */
  readonly update: string | undefined
  /** The number of Pods that this reconcile has deleted because the Pods do not have the update revision. */
  readonly deletedForUpdate: number
}

/**
 * Returns the status. When all Pods have the update revision and are ready, a rolling update is complete, and the update revision becomes
 * the current revision (k8s.io/kubernetes/pkg/controller/statefulset: updateStatus, completeRollingUpdate).
 */
export function statusOf(
  set: StatefulSet,
  pods: readonly ReadonlyPod[],
  { current, update, deletedForUpdate }: RolloutState,
  now: number,
): StatefulSetStatus {
  const { minReadySeconds = 0, updateStrategy } = set.spec ?? {}
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod))
  const ofRevision = (name: string | undefined): number => pods.filter((pod) => !isDeleted(pod) && podRevision(pod) === name).length
  const counts = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    updatedReplicas: ofRevision(update),
    updateRevision: update,
  }
  const isComplete = [counts.updatedReplicas, counts.readyReplicas, counts.replicas].every((count) => count === replicasOf(set))
  if (isComplete && updateStrategy?.type === 'RollingUpdate')
    return { ...counts, currentReplicas: counts.updatedReplicas, currentRevision: update }
  return { ...counts, currentReplicas: Math.max(0, ofRevision(current) - deletedForUpdate), currentRevision: current }
}
