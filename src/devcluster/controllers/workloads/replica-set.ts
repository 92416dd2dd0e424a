/** The ReplicaSet controller: keeps the number of Pods at `spec.replicas` (k8s.io/kubernetes/pkg/controller/replicaset). */
import type { Pod } from '../../../api/builtin.ts'
import { pod as podType } from '../../../api/builtin.ts'
import { apps } from '../../../api/kubernetes/apps.ts'
import { formatTime } from '../../../api/conditions.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { controllerOf } from '../../../api/owner-reference.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController, replicaSetsByController } from './dependents.ts'
import { createPod, deletePods, podFromTemplate, slowStart } from './pod-control.ts'
import { availableInMs, isActive, isAvailable, isReady, isTerminating } from './pod-state.ts'
import { podsToDelete } from './pods-to-delete.ts'
import { retryRefused } from './retry-refused.ts'
import { writeStatus } from './workload-status.ts'

type ReplicaSet = DeepReadonly<apps.ReplicaSet>
type ReadonlyPod = DeepReadonly<Pod>

/** Maximum number of Pods that one reconcile creates or deletes (k8s.io/kubernetes/pkg/controller/replicaset: BurstReplicas). */
const burst = 500

export function replicaSetController(): ControllerDefinition {
  return defineController(apps.replicaSet, {
    name: 'replicaset',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [{ type: podType, map: mayAdopt(apps.replicaSet) }],
    indexes: [podsByController, replicaSetsByController],
    reconcile: retryRefused(reconcileReplicaSet),
  })
}

async function reconcileReplicaSet(replicaSet: ReplicaSet, context: ReconcileContext): Promise<Result> {
  const { deletionTimestamp } = replicaSet.metadata
  const claimed = await claimDependents(podsByController, replicaSet, context, isActive)
  const before = controlledBy(podsByController, replicaSet, context)
  // The cache also contains the Pods that an earlier reconcile has just created, so no Pod is created twice.
  const failure = deletionTimestamp === undefined ? await scale(replicaSet, claimed, context) : undefined
  const now = context.clock.now()
  const write = (current: ReplicaSet, counted: readonly ReadonlyPod[]): Promise<ReplicaSet> =>
    writeStatus(apps.replicaSet, current, statusOf(current, counted, failure, now), context, ['replicas', 'terminatingReplicas'])
  // kube-controller-manager counts the Pods with which its reconcile began, and the new ones in the next reconcile. A client can therefore
  // see that a Pod is missing (k8s.io/kubernetes/pkg/controller/replicaset: syncReplicaSet).
  const counted = await write(replicaSet, before)
  const pods = controlledBy(podsByController, replicaSet, context)
  await write(counted, pods)
  if (failure !== undefined) throw failure.error
  const { minReadySeconds = 0 } = replicaSet.spec ?? {}
  const waits = pods.filter(isActive).map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0)
  const next = Math.min(...waits.filter((ms) => ms > 0))
  return Number.isFinite(next) ? { requeueAfterMs: next } : undefined
}

interface Failure {
  readonly reason: 'FailedCreate' | 'FailedDelete'
  readonly error: unknown
}

/** Creates missing Pods, or deletes surplus Pods. Resolves with the failure; with undefined on success. */
async function scale(replicaSet: ReplicaSet, pods: readonly ReadonlyPod[], context: ReconcileContext): Promise<Failure | undefined> {
  const missing = (replicaSet.spec?.replicas ?? 0) - pods.length
  try {
    if (missing > 0) {
      await slowStart(Math.min(missing, burst), () =>
        createPod(podFromTemplate(replicaSet.spec?.template, replicaSet), replicaSet, context),
      )
    } else if (missing < 0) {
      const count = Math.min(-missing, burst)
      const chosen = podsToDelete(pods, relatedPods(replicaSet, context), { count, now: context.clock.now() })
      await deletePods(chosen, replicaSet, context)
    }
    return undefined
  } catch (error) {
    return { reason: missing > 0 ? 'FailedCreate' : 'FailedDelete', error }
  }
}

/** Returns the active Pods of all ReplicaSets of the same owner, e.g. of the same Deployment. */
function relatedPods(replicaSet: ReplicaSet, context: ReconcileContext): readonly ReadonlyPod[] {
  const uid = controllerOf(replicaSet)?.uid
  const { namespace } = replicaSet.metadata
  const replicaSets =
    uid === undefined ? [replicaSet] : context.cache.list(apps.replicaSet, { namespace, index: [replicaSetsByController, uid] })
  return replicaSets.flatMap((one) => controlledBy(podsByController, one, context)).filter(isActive)
}

function statusOf(
  replicaSet: ReplicaSet,
  all: readonly ReadonlyPod[],
  failure: Failure | undefined,
  now: number,
): Readonly<Record<string, unknown>> {
  const { minReadySeconds = 0, template } = replicaSet.spec ?? {}
  const pods = all.filter(isActive)
  const labels = Object.entries(template?.metadata?.labels ?? {})
  return {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value)).length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: pods.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    terminatingReplicas: all.filter(isTerminating).length,
    observedGeneration: replicaSet.metadata.generation,
    conditions: conditionsOf(replicaSet, failure, now),
  }
}

/**
 * Returns the conditions. `ReplicaFailure` is present only if the current reconcile has failed. If the condition already exists, it keeps
 * its message.
 */
function conditionsOf({ status }: ReplicaSet, failure: Failure | undefined, now: number): readonly object[] {
  const failed = status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  const others = (status?.conditions ?? []).filter((condition) => condition !== failed)
  if (failure === undefined) return others
  const message = failure.error instanceof Error ? failure.error.message : String(failure.error)
  const condition = { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message, lastTransitionTime: formatTime(now) }
  return [...others, failed ?? condition]
}
