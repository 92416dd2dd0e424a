/** The status of a Deployment. */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import { findCondition } from '../../../../api/conditions.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { Conditions, Progress } from './conditions.ts'
import { progressDeadlineMs, replaced, withCondition, without } from './conditions.ts'
import { rollingLimits, totalOf, totalSize } from './replica-counts.ts'

type Deployment = DeepReadonly<apps.Deployment>
type ReplicaSet = DeepReadonly<apps.ReplicaSet>

export interface ReplicaSets {
  /** The ReplicaSet with the Pod template of the Deployment, if it exists. */
  readonly newest: ReplicaSet | undefined
  /** All other ReplicaSets, oldest first. */
  readonly old: readonly ReplicaSet[]
}

export interface DeploymentStatus {
  readonly observedGeneration: number
  readonly replicas: number
  readonly updatedReplicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly unavailableReplicas: number
  readonly terminatingReplicas: number
  readonly conditions: Conditions
}

/**
 * Returns the counters of the status, and `conditions` with an updated condition `Available`
 * (k8s.io/kubernetes/pkg/controller/deployment: calculateStatus).
 */
export function statusOf(deployment: Deployment, { newest, old }: ReplicaSets, conditions: Conditions, now: number): DeploymentStatus {
  const all = newest === undefined ? old : [...old, newest]
  const available = totalOf(all, 'availableReplicas')
  const isAvailable = available >= (deployment.spec?.replicas ?? 0) - rollingLimits(deployment).unavailable
  const condition: Progress = isAvailable
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : { status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' }
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: totalOf(all, 'replicas'),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: totalOf(all, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalSize(all) - available),
    terminatingReplicas: totalOf(all, 'terminatingReplicas'),
    conditions: withCondition(conditions, 'Available', condition, now),
  }
}

/**
 * Returns true when all Pods of the Deployment have the current Pod template and are available
 * (k8s.io/kubernetes/pkg/controller/deployment/util: DeploymentComplete).
 */
export function isComplete({ spec }: Deployment, { replicas, updatedReplicas, availableReplicas }: DeploymentStatus): boolean {
  const wanted = spec?.replicas ?? 0
  return replicas === wanted && updatedReplicas === wanted && availableReplicas === wanted
}

/**
 * Returns the status during and after a rollout, with the conditions `Progressing` and `ReplicaFailure`
 * (k8s.io/kubernetes/pkg/controller/deployment: syncRolloutStatus).
 */
export function rolloutStatusOf(deployment: Deployment, replicaSets: ReplicaSets, conditions: Conditions, now: number): DeploymentStatus {
  const status = statusOf(deployment, replicaSets, conditions, now)
  const { newest, old } = replicaSets
  const failed = [newest, ...old].flatMap((one) => findCondition(one?.status?.conditions, 'ReplicaFailure') ?? []).at(0)
  let changed = withProgress(deployment, status, newest, now)
  if (failed === undefined) changed = without(changed, 'ReplicaFailure')
  else changed = withCondition(changed, 'ReplicaFailure', failed as Progress, now)
  return { ...status, conditions: changed }
}

function withProgress(deployment: Deployment, status: DeploymentStatus, newest: ReplicaSet | undefined, now: number): Conditions {
  const { conditions } = status
  const deadlineMs = progressDeadlineMs(deployment)
  if (deadlineMs === undefined) return without(conditions, 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  if (current?.reason === 'NewReplicaSetAvailable' && status.replicas === status.updatedReplicas) return conditions
  const subject = newest === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newest.metadata.name}"`
  if (isComplete(deployment, status)) {
    const complete: Progress = { status: 'True', reason: 'NewReplicaSetAvailable', message: `${subject} has successfully progressed.` }
    return withCondition(conditions, 'Progressing', complete, now)
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const message = `${subject} is progressing.`
    return replaced(conditions, 'Progressing', { status: 'True', reason: 'ReplicaSetUpdated', message }, now)
  }
  if (current === undefined || current.reason === 'NewReplicaSetAvailable') return conditions
  if (Date.parse(current.lastUpdateTime ?? '') + deadlineMs >= now) return conditions
  const message = `${subject} has timed out progressing.`
  return withCondition(conditions, 'Progressing', { status: 'False', reason: 'ProgressDeadlineExceeded', message }, now)
}

/**
 * Returns true if the number of old Pods has decreased, or if the number of updated, ready or available Pods has increased
 * (k8s.io/kubernetes/pkg/controller/deployment/util: DeploymentProgressing).
 */
function hasProgressed(before: Partial<DeploymentStatus>, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: Partial<DeploymentStatus>): number => replicas - updatedReplicas
  return (
    after.updatedReplicas > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    after.readyReplicas > (before.readyReplicas ?? 0) ||
    after.availableReplicas > (before.availableReplicas ?? 0)
  )
}

/**
 * Returns the time in milliseconds until the next reconcile must check the progress deadline; undefined when there is no deadline, or when
 * the rollout is complete or has failed.
 */
export function deadlineInMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadlineMs = progressDeadlineMs(deployment)
  const current = findCondition(status.conditions, 'Progressing')
  if (deadlineMs === undefined || current === undefined || isComplete(deployment, status)) return undefined
  if (current.reason === 'ProgressDeadlineExceeded' || current.reason === 'NewReplicaSetAvailable') return undefined
  // One second is added, as in Kubernetes, so that the deadline has passed when the next reconcile begins.
  return Math.max(0, Date.parse(current.lastUpdateTime ?? '') + deadlineMs - now) + 1000
}
