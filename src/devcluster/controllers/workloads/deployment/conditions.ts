/** The conditions of a Deployment. */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import { findCondition, formatTime } from '../../../../api/conditions.ts'
import type { DeepReadonly } from '../../../../api/json.ts'

type Deployment = DeepReadonly<apps.Deployment>
export type DeploymentCondition = NonNullable<NonNullable<Deployment['status']>['conditions']>[number]
export type Conditions = readonly DeploymentCondition[]

/** The status, reason and message of a condition, e.g. of `Progressing`. */
export interface Progress {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** If `progressDeadlineSeconds` has this value, the Deployment has no progress deadline. */
const maxInt32 = 2_147_483_647

/** Returns the progress deadline in milliseconds; undefined when a rollout has no deadline. */
export function progressDeadlineMs({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === maxInt32 ? undefined : seconds * 1000
}

/**
 * Returns the conditions, in which `condition` replaces the current condition of this type. If the current condition has the same status
 * and reason, the conditions are returned unchanged. If the status stays the same and only the reason changes, the new condition keeps the
 * `lastTransitionTime` of the current condition (k8s.io/kubernetes/pkg/controller/deployment/util: SetDeploymentCondition).
 */
export function withCondition(conditions: Conditions, type: string, condition: Progress, now: number): Conditions {
  const current = findCondition(conditions, type)
  if (current?.status === condition.status && current.reason === condition.reason) return conditions
  return replaced(conditions, type, condition, now)
}

/** Returns the conditions with a new condition of this type. An existing condition of this type is always replaced. */
export function replaced(conditions: Conditions, type: string, { status, reason, message }: Progress, now: number): Conditions {
  const current = findCondition(conditions, type)
  const time = formatTime(now)
  const lastTransitionTime = current?.status === status ? (current.lastTransitionTime ?? time) : time
  return [...without(conditions, type), { type, status, lastUpdateTime: time, lastTransitionTime, reason, message }]
}

export function without(conditions: Conditions, type: string): Conditions {
  return conditions.filter((condition) => condition.type !== type)
}

/**
 * Returns the conditions of a Deployment. If the Deployment has just been paused or resumed, the condition `Progressing` becomes `Unknown`.
 * This change restarts the progress deadline, because the time of a pause must not count towards the deadline
 * (k8s.io/kubernetes/pkg/controller/deployment: checkPausedConditions).
 */
export function pauseConditions(deployment: Deployment, now: number): Conditions {
  const { conditions = [] } = deployment.status ?? {}
  const current = findCondition(conditions, 'Progressing')?.reason
  if (progressDeadlineMs(deployment) === undefined || current === 'ProgressDeadlineExceeded') return conditions
  const isPaused = deployment.spec?.paused === true
  if (isPaused === (current === 'DeploymentPaused')) return conditions
  const [reason, message] = isPaused ? ['DeploymentPaused', 'Deployment is paused'] : ['DeploymentResumed', 'Deployment is resumed']
  return withCondition(conditions, 'Progressing', { status: 'Unknown', reason, message }, now)
}
