/** The status of a Memcached, derived from its Deployment and Pods. */
import { isControlledBy, mergeConditions } from 'proreus'
import type { apps, ConditionInput, core, DeepReadonly, StatusPatch } from 'proreus'
import { labelsOf, nameLabel } from './deployment.ts'
import type { memcached, Memcached } from './kind.ts'

export interface Observed {
  /** The Deployment that has the name of the Memcached and that the Memcached controls. Undefined when there is no such Deployment. */
  readonly deployment: DeepReadonly<apps.Deployment> | undefined
  /** The Pods of the Deployment that are not being deleted. */
  readonly pods: readonly DeepReadonly<core.Pod>[]
  /** The problem that prevents the creation or update of the Deployment; absent if there is no problem. */
  readonly degraded?: { readonly reason: string; readonly message: string }
}

/**
 * Matches the values that the API server accepts as the `reason` of a condition. The `reason` of the condition Available can come from a
 * waiting container, where it can be any text. The text is therefore checked against this pattern before it is used.
 */
const isReason = /^[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/

const asExpected = { status: 'False', reason: 'AsExpected', message: '' } as const

export function statusOf(object: DeepReadonly<Memcached>, observed: Observed, now: number): StatusPatch<typeof memcached> {
  const { deployment, pods, degraded } = observed
  const { generation, name } = object.metadata
  const { app } = labelsOf(name)
  const conditions: readonly ConditionInput[] = [
    { type: 'Available', ...availability(object, observed) },
    { type: 'Progressing', ...progress(object, observed) },
    { type: 'Degraded', ...(degraded === undefined ? asExpected : { status: 'True', ...degraded }) },
  ]
  return {
    nodes: pods.map(({ metadata }) => metadata.name).sort(),
    replicas: deployment?.status?.replicas ?? 0,
    readyReplicas: deployment?.status?.readyReplicas ?? 0,
    selector: `app=${app},${nameLabel}=${name}`,
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, [...conditions], { now, generation }),
  }
}

/**
 * Returns the condition Available. It is True if the operator was able to write the Deployment, and at least `spec.size` Pods are
 * available.
 */
function availability({ spec }: DeepReadonly<Memcached>, { deployment, pods, degraded }: Observed): Omit<ConditionInput, 'type'> {
  const available = deployment?.status?.availableReplicas ?? 0
  const message = `${available} of ${spec.size} Pods are available.`
  if (degraded !== undefined) return { status: 'False', ...degraded }
  if (available >= spec.size) return { status: 'True', reason: 'PodsAvailable', message }
  // The status of a Pod contains the reason why a container does not run, for example CrashLoopBackOff.
  const waiting = pods.flatMap(({ status }) => status?.containerStatuses ?? []).map(({ state }) => state?.waiting)
  const { reason = '', message: why = '' } = waiting.find((state) => state?.message !== undefined) ?? {}
  return {
    status: 'False',
    reason: isReason.test(reason) ? reason : 'PodsStarting',
    message: `${message} ${why}`.trim(),
  }
}

function progress({ spec }: DeepReadonly<Memcached>, { deployment }: Observed): Omit<ConditionInput, 'type'> {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  const isDone =
    deployment === undefined ||
    (observedGeneration >= (deployment.metadata.generation ?? 0) && replicas === spec.size && updatedReplicas === spec.size)
  if (isDone) return asExpected
  return { status: 'True', reason: 'RollingOut', message: `${updatedReplicas} of ${spec.size} Pods have the current template.` }
}

/** Returns the Pods that are not being deleted and that a ReplicaSet of the Deployment controls. */
export function podsOf(
  deployment: DeepReadonly<apps.Deployment>,
  replicaSets: readonly DeepReadonly<apps.ReplicaSet>[],
  pods: readonly DeepReadonly<core.Pod>[],
): readonly DeepReadonly<core.Pod>[] {
  const own = replicaSets.filter((one) => isControlledBy(one, deployment))
  const isOwn = (pod: DeepReadonly<core.Pod>): boolean => own.some((one) => isControlledBy(pod, one))
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && isOwn(pod))
}
