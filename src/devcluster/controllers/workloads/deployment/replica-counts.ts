/** Computes the numbers of Pods in a rollout: how many Pods may be added or be unavailable, and how many Pods each ReplicaSet gets. */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { scaledNumber } from '../int-or-percent.ts'
import { annotations } from './annotations.ts'

type Deployment = DeepReadonly<apps.Deployment>
type ReplicaSet = DeepReadonly<apps.ReplicaSet>

/** A ReplicaSet, and the new value of `spec.replicas`. */
export interface NewSize {
  readonly replicaSet: ReplicaSet
  readonly replicas: number
}

/** Returns `spec.replicas` of a ReplicaSet. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 0
}

/** Returns the sum of the `spec.replicas` of ReplicaSets. */
export function totalSize(replicaSets: readonly ReplicaSet[]): number {
  return replicaSets.reduce((sum, one) => sum + sizeOf(one), 0)
}

/** Returns the sum of a status field of ReplicaSets. */
export function totalOf(
  replicaSets: readonly ReplicaSet[],
  field: 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas',
): number {
  return replicaSets.reduce((sum, { status }) => sum + (status?.[field] ?? 0), 0)
}

/**
 * Returns the limits of a rolling update (k8s.io/kubernetes/pkg/controller/deployment/util: ResolveFenceposts, MaxUnavailable):
 *
 * - `surge`: the number of Pods that the update may add
 * - `unavailable`: the number of Pods that may be unavailable
 *
 * With the strategy `Recreate`, both numbers are 0. If `maxSurge` and `maxUnavailable` are both 0 after rounding, one Pod may be
 * unavailable, so that the rollout can begin.
 */
export function rollingLimits({ spec }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { replicas = 0, strategy } = spec ?? {}
  if (strategy?.type !== 'RollingUpdate') return { surge: 0, unavailable: 0 }
  const { maxSurge, maxUnavailable } = strategy.rollingUpdate ?? {}
  const surge = scaledNumber(maxSurge, replicas, { roundsUp: true })
  const unavailable = scaledNumber(maxUnavailable, replicas, { roundsUp: false })
  return { surge, unavailable: Math.min(replicas, surge === 0 && unavailable === 0 ? 1 : unavailable) }
}

/** Returns the annotations of a ReplicaSet that record the size of its Deployment. */
export function sizeAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const { replicas = 0 } = deployment.spec ?? {}
  return {
    [annotations.desiredReplicas]: String(replicas),
    [annotations.maxReplicas]: String(replicas + rollingLimits(deployment).surge),
  }
}

/**
 * Returns the size of the new ReplicaSet, at most `spec.replicas` of the Deployment. In a rolling update, the size is increased only as far
 * as the surge permits. With the strategy `Recreate`, the size is `spec.replicas` (k8s.io/kubernetes/pkg/controller/deployment/util:
 * NewRSNewReplicas).
 *
 * @param all the ReplicaSets of the Deployment.
 * @param current `spec.replicas` of the new ReplicaSet; 0 if the ReplicaSet does not exist.
 */
export function newReplicaSetSize(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const { replicas = 0, strategy } = deployment.spec ?? {}
  if (strategy?.type !== 'RollingUpdate' || current > replicas) return replicas
  const free = replicas + rollingLimits(deployment).surge - totalSize(all)
  return current + Math.max(0, Math.min(free, replicas - current))
}

/**
 * Returns the new sizes of the old ReplicaSets that a rolling update scales down (k8s.io/kubernetes/pkg/controller/deployment:
 * reconcileOldReplicaSets). There are two steps, which scale down the oldest ReplicaSets first:
 *
 * 1. Pods that are not available are removed, because this does not reduce the number of available Pods.
 * 2. Other Pods are removed as far as `maxUnavailable` permits.
 */
export function oldReplicaSetSizes(deployment: Deployment, newest: ReplicaSet, old: readonly ReplicaSet[]): readonly NewSize[] {
  const minAvailable = (deployment.spec?.replicas ?? 0) - rollingLimits(deployment).unavailable
  const notAvailable = sizeOf(newest) - (newest.status?.availableReplicas ?? 0)
  let removable = totalSize([...old, newest]) - minAvailable - notAvailable
  if (removable <= 0) return []
  const sizes = new Map(old.map((one) => [one, sizeOf(one)]))
  for (const [one, size] of sizes) {
    const removed = Math.max(0, Math.min(removable, size - (one.status?.availableReplicas ?? 0)))
    sizes.set(one, size - removed)
    removable -= removed
  }
  let surplus = totalOf([...old, newest], 'availableReplicas') - minAvailable
  for (const [one, size] of sizes) {
    const removed = Math.max(0, Math.min(surplus, size))
    sizes.set(one, size - removed)
    surplus -= removed
  }
  return [...sizes].filter(([one, size]) => size !== sizeOf(one)).map(([replicaSet, replicas]) => ({ replicaSet, replicas }))
}

/**
 * Returns the sizes of ReplicaSets after a change of the Deployment's `spec.replicas` during a rollout. Each ReplicaSet keeps its share of
 * the Pods (k8s.io/kubernetes/pkg/controller/deployment: scale).
 */
export function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): readonly NewSize[] {
  const { replicas = 0 } = deployment.spec ?? {}
  const allowed = replicas === 0 ? 0 : replicas + rollingLimits(deployment).surge
  const toAdd = allowed - totalSize(active)
  const age = toAdd > 0 ? -1 : 1
  const ordered = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || age * compareAges(a, b))
  let added = 0
  const sizes = ordered.map((replicaSet) => {
    const share = toAdd === 0 || added === toAdd ? 0 : shareOf(replicaSet, deployment, toAdd - added)
    added += share
    return { replicaSet, replicas: sizeOf(replicaSet) + share }
  })
  // Rounding can leave a remainder. The largest ReplicaSet gets this remainder.
  return sizes.map((size, index) => (index === 0 ? { ...size, replicas: Math.max(0, size.replicas + toAdd - added) } : size))
}

/**
 * Returns the number of Pods to add to a ReplicaSet; negative if Pods are to be removed (k8s.io/kubernetes/pkg/controller/deployment/util:
 * GetReplicaSetProportion).
 *
 * @param left the part of the total change that no ReplicaSet has received yet. A positive `left` is the maximum of the result, and a
 *   negative `left` is the minimum.
 */
function shareOf(replicaSet: ReplicaSet, deployment: Deployment, left: number): number {
  const size = sizeOf(replicaSet)
  if (size === 0) return 0
  const { replicas = 0 } = deployment.spec ?? {}
  const before = Number(replicaSet.metadata.annotations?.[annotations.maxReplicas]) || (deployment.status?.replicas ?? 0)
  let share = -size
  if (replicas !== 0) share = before === 0 ? 0 : Math.round((size * (replicas + rollingLimits(deployment).surge)) / before) - size
  return left > 0 ? Math.min(share, left) : Math.max(share, left)
}

/** Compares ReplicaSets by age, oldest first. ReplicaSets of the same age are compared by name. */
export function compareAges({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  return Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp) || (a.name < b.name ? -1 : 1)
}
