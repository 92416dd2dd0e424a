/**
 * The controllers of ReplicaSets and ReplicationControllers. Each controller creates and deletes Pods until the number of Pods is
 * `spec.replicas` (k8s.io/kubernetes/pkg/controller/replicaset, k8s.io/kubernetes/pkg/controller/replication).
 */
import { pod as podType } from '../../../api/builtin.ts'
import { apps } from '../../../api/kubernetes/apps.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { formatTime } from '../../../api/conditions.ts'
import type { ResourceType } from '../../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { controllerOf } from '../../../api/owner-reference.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../api-types.ts'
import {
  claimDependents,
  controlledBy,
  controllerIndex,
  mayAdopt,
  podsByController,
  replicaSetsByController,
  selects,
} from './dependents.ts'
import { createPod, deletePods, podFromTemplate, slowStart } from './pod-control.ts'
import { availableInMs, isActive, isAvailable, isReady, isTerminating } from './pod-state.ts'
import { podsToDelete } from './pods-to-delete.ts'
import { requeueAfterFirst } from '../requeue-at.ts'
import { retryRefused } from '../retry-refused.ts'
import { writeStatus } from './workload-status.ts'

type ReplicaSet = DeepReadonly<apps.ReplicaSet>

/** Maximum number of Pods that one reconcile creates or deletes (k8s.io/kubernetes/pkg/controller/replicaset: BurstReplicas). */
const burst = 500

/** An index of ReplicationControllers by the UID of their controller. */
const replicationControllersByController = controllerIndex(core.replicationController)

/** The differences between ReplicaSets and ReplicationControllers. */
interface Kind {
  readonly type: ResourceType
  /** True when the status has the field `terminatingReplicas`. */
  readonly countsTerminating: boolean
  /** Returns the objects of this kind whose controller reference has this UID. */
  ofController(uid: string, namespace: string | undefined, context: ReconcileContext): readonly ReplicaSet[]
}

const replicaSetKind: Kind = {
  type: apps.replicaSet,
  countsTerminating: true,
  ofController: (uid, namespace, { cache }) => cache.list(apps.replicaSet, { namespace, index: [replicaSetsByController, uid] }),
}

const replicationControllerKind: Kind = {
  type: core.replicationController,
  countsTerminating: false,
  ofController: (uid, namespace, { cache }) =>
    cache.list(core.replicationController, { namespace, index: [replicationControllersByController, uid] }).map(asReplicaSet),
}

export function replicaSetController(): ControllerDefinition {
  return defineController(apps.replicaSet, {
    name: 'replicaset',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [{ type: podType, map: mayAdopt(apps.replicaSet) }],
    indexes: [podsByController, replicaSetsByController],
    reconcile: retryRefused((replicaSet, context) => reconcileReplicas(replicaSetKind, replicaSet, context)),
  })
}

export function replicationController(): ControllerDefinition {
  return defineController(core.replicationController, {
    name: 'replicationcontroller',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [{ type: podType, map: mayAdopt(core.replicationController, asReplicaSet) }],
    indexes: [podsByController, replicationControllersByController],
    reconcile: retryRefused((object, context) => reconcileReplicas(replicationControllerKind, asReplicaSet(object), context)),
  })
}

/**
 * Returns a ReplicationController in the form of a ReplicaSet: `spec.selector` is converted to a label selector. The kind does not change,
 * because the owner references of the Pods contain the kind ReplicationController.
 */
function asReplicaSet(object: DeepReadonly<core.ReplicationController>): ReplicaSet {
  const { spec } = object
  const matchLabels = spec?.selector
  const selector = matchLabels === undefined ? undefined : { selector: { matchLabels } }
  return { ...object, spec: { ...spec, ...selector } } as unknown as ReplicaSet
}

/** Creates missing Pods or deletes surplus Pods of a ReplicaSet or ReplicationController, and writes the status. */
async function reconcileReplicas(kind: Kind, replicaSet: ReplicaSet, context: ReconcileContext): Promise<Result> {
  const { deletionTimestamp } = replicaSet.metadata
  const claimed = await claimDependents(podsByController, replicaSet, context, isActive)
  const before = controlledBy(podsByController, replicaSet, context)
  // After each write, the written object is in the cache. The cache therefore contains the Pods that an earlier reconcile has created, and
  // no Pod is created twice.
  const failure = deletionTimestamp === undefined ? await scale(kind, replicaSet, claimed, context) : undefined
  const now = context.clock.now()
  const write = async (current: ReplicaSet, counted: readonly ReadonlyPod[]): Promise<ReplicaSet> => {
    const status = { ...statusOf(current, counted, failure, now), ...(kind.countsTerminating && terminatingReplicas(current, counted)) }
    const stored = await writeStatus(kind.type, current, status, context, ['replicas', 'terminatingReplicas'])
    const { status: after } = stored as ReplicaSet
    return after === undefined ? current : { ...current, status: after }
  }
  // The status is written twice. The first write counts the Pods that existed before this reconcile, so clients can see that Pods were
  // missing. The second write counts the Pods that exist now. kube-controller-manager makes the second write in the next reconcile
  // (k8s.io/kubernetes/pkg/controller/replicaset: syncReplicaSet).
  const counted = await write(replicaSet, before)
  const pods = controlledBy(podsByController, replicaSet, context)
  await write(counted, pods)
  if (failure !== undefined) throw failure.error
  const { minReadySeconds = 0 } = replicaSet.spec ?? {}
  return requeueAfterFirst(pods.filter(isActive).map((pod) => availableInMs(pod, minReadySeconds, now)))
}

/**
 * Counts the terminating Pods that the selector matches. The selector must be checked here, because a Pod that is being deleted is not
 * released when its labels change.
 */
function terminatingReplicas({ spec }: ReplicaSet, pods: readonly ReadonlyPod[]): object {
  return { terminatingReplicas: pods.filter((pod) => isTerminating(pod) && selects(spec?.selector, pod)).length }
}

interface Failure {
  readonly reason: 'FailedCreate' | 'FailedDelete'
  readonly error: unknown
}

/**
 * Creates missing Pods, or deletes surplus Pods. Resolves with the failure if a request fails. Resolves with undefined if all requests
 * succeed.
 */
async function scale(
  kind: Kind,
  replicaSet: ReplicaSet,
  pods: readonly ReadonlyPod[],
  context: ReconcileContext,
): Promise<Failure | undefined> {
  const missing = (replicaSet.spec?.replicas ?? 0) - pods.length
  try {
    if (missing > 0) {
      await slowStart(Math.min(missing, burst), () =>
        createPod(podFromTemplate(replicaSet.spec?.template, replicaSet), replicaSet, context),
      )
    } else if (missing < 0) {
      const count = Math.min(-missing, burst)
      const chosen = podsToDelete(pods, relatedPods(kind, replicaSet, context), { count, now: context.clock.now() })
      await deletePods(chosen, replicaSet, context)
    }
    return undefined
  } catch (error) {
    return { reason: missing > 0 ? 'FailedCreate' : 'FailedDelete', error }
  }
}

/**
 * Returns the active Pods of `replicaSet` and of the other objects of `kind` that have the same controller as `replicaSet`. For example, if
 * a Deployment controls `replicaSet`, returns the active Pods of all ReplicaSets of the Deployment. If `replicaSet` has no controller,
 * returns only the active Pods of `replicaSet`.
 */
function relatedPods(kind: Kind, replicaSet: ReplicaSet, context: ReconcileContext): readonly ReadonlyPod[] {
  const uid = controllerOf(replicaSet)?.uid
  const replicaSets = uid === undefined ? [replicaSet] : kind.ofController(uid, replicaSet.metadata.namespace, context)
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
    observedGeneration: replicaSet.metadata.generation,
    conditions: conditionsOf(replicaSet, failure, now),
  }
}

/**
 * Returns the conditions. If the reconcile has failed, the conditions contain `ReplicaFailure`, and an existing condition `ReplicaFailure`
 * does not change. If the reconcile has not failed, `ReplicaFailure` is removed.
 */
function conditionsOf({ status }: ReplicaSet, failure: Failure | undefined, now: number): readonly object[] {
  const failed = status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  const others = (status?.conditions ?? []).filter((condition) => condition !== failed)
  if (failure === undefined) return others
  const message = failure.error instanceof Error ? failure.error.message : String(failure.error)
  const condition = { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message, lastTransitionTime: formatTime(now) }
  return [...others, failed ?? condition]
}
