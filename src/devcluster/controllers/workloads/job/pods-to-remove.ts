/** Chooses the Pods that a Job deletes when it has too many Pods (k8s.io/kubernetes/pkg/controller/job: activePodsForRemoval). */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { podsToDelete } from '../pods-to-delete.ts'
import { indexOf } from './indexes.ts'
import { isIndexed } from './pods.ts'

/**
 * Returns the active Pods to delete. `count` is the minimum number of Pods to delete. An Indexed Job needs only one Pod for each index. The
 * following Pods are always deleted, even if they are more than `count`:
 *
 * - all Pods of an index except one
 * - all Pods without a valid index
 *
 * If these Pods are fewer than `count`, `podsToDelete` chooses further Pods.
 */
export function podsToRemove(
  job: DeepReadonly<batch.Job>,
  active: readonly ReadonlyPod[],
  count: number,
  now: number,
): readonly ReadonlyPod[] {
  const useless = isIndexed(job) ? withoutNeed(active, job.spec?.completions ?? 0, now) : []
  const others = active.filter((pod) => !useless.includes(pod))
  return [...useless, ...podsToDelete(others, [], { count: Math.max(0, count - useless.length), now })]
}

function withoutNeed(active: readonly ReadonlyPod[], completions: number, now: number): readonly ReadonlyPod[] {
  const byIndex = Map.groupBy(active, (pod) => indexOf(pod) ?? Infinity)
  return [...byIndex].flatMap(([index, pods]) =>
    podsToDelete(pods, [], { count: index < completions ? pods.length - 1 : pods.length, now }),
  )
}
