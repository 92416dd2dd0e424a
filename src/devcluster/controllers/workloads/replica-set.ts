/**
 * The controllers of ReplicaSets and ReplicationControllers: keep the number of Pods at `spec.replicas`
 * (k8s.io/kubernetes/pkg/controller/replicaset, k8s.io/kubernetes/pkg/controller/replication).
 */
import type { Pod } from '../../../api/builtin.ts'
import { pod as podType } from '../../../api/builtin.ts'
import { apps } from '../../../api/kubernetes/apps.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { formatTime } from '../../../api/conditions.ts'
import type { ObjectOf, ResourceType } from '../../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { controllerOf } from '../../../api/owner-reference.ts'
import type { CacheIndex } from '../../../cache/cache-index.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { claimDependents, controlledBy, controllerIndex, mayAdopt, podsByController, replicaSetsByController } from './dependents.ts'
import { createPod, deletePods, podFromTemplate, slowStart } from './pod-control.ts'
import { availableInMs, isActive, isAvailable, isReady, isTerminating } from './pod-state.ts'
import { podsToDelete } from './pods-to-delete.ts'
import { retryRefused } from './retry-refused.ts'
import { writeStatus } from './workload-status.ts'

type ReplicaSet = DeepReadonly<apps.ReplicaSet>
type ReadonlyPod = DeepReadonly<Pod>

/** Maximum number of Pods that one reconcile creates or deletes (k8s.io/kubernetes/pkg/controller/replicaset: BurstReplicas). */
const burst = 500

/** A type whose objects keep a number of Pods. */
interface ReplicatedType<R extends ResourceType> {
  readonly type: R
  readonly name: string
  /** An index of the objects by the UID of their controller. */
  readonly byController: CacheIndex<R>
  /** Returns an object with its own kind and with the spec of a ReplicaSet. */
  readonly asReplicaSet: (object: DeepReadonly<ObjectOf<R>>) => ReplicaSet
  /** Names of the fields that the status has even if they are 0. */
  readonly statusFields: readonly string[]
}

const replicaSets: ReplicatedType<typeof apps.replicaSet> = {
  type: apps.replicaSet,
  name: 'replicaset',
  byController: replicaSetsByController,
  asReplicaSet: (object) => object,
  statusFields: ['replicas', 'terminatingReplicas'],
}

const replicationControllers: ReplicatedType<typeof core.replicationController> = {
  type: core.replicationController,
  name: 'replicationcontroller',
  byController: controllerIndex(core.replicationController),
  // The selector of a ReplicationController is a map (k8s.io/kubernetes/pkg/controller/replication: convertRCtoRS).
  asReplicaSet: (object) =>
    ({ ...object, spec: { ...object.spec, selector: { matchLabels: object.spec?.selector ?? {} } } }) as unknown as ReplicaSet,
  statusFields: ['replicas'],
}

export function replicaSetController(): ControllerDefinition {
  return controllerOfType(replicaSets)
}

export function replicationController(): ControllerDefinition {
  return controllerOfType(replicationControllers)
}

function controllerOfType<R extends ResourceType>(replicated: ReplicatedType<R>): ControllerDefinition {
  const { type, name, byController, asReplicaSet } = replicated
  return defineController<R, readonly [typeof podType]>(type, {
    name,
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [{ type: podType, map: mayAdopt(type, (object) => asReplicaSet(object).spec?.selector) }],
    indexes: [podsByController, byController],
    reconcile: retryRefused((object: DeepReadonly<ObjectOf<R>>, context) => reconcileReplicas(replicated, asReplicaSet(object), context)),
  })
}

async function reconcileReplicas<R extends ResourceType>(
  replicated: ReplicatedType<R>,
  replicaSet: ReplicaSet,
  context: ReconcileContext,
): Promise<Result> {
  const { deletionTimestamp } = replicaSet.metadata
  const claimed = await claimDependents(podsByController, replicaSet, context, isActive)
  // The cache also contains the Pods that an earlier reconcile has just created, so no Pod is created twice.
  const failure = deletionTimestamp === undefined ? await scale(replicated, replicaSet, claimed, context) : undefined
  const pods = controlledBy(podsByController, replicaSet, context)
  const now = context.clock.now()
  const { terminatingReplicas, ...status } = statusOf(replicaSet, pods, failure, now)
  const hasTerminating = replicated.statusFields.includes('terminatingReplicas')
  const written = hasTerminating ? { ...status, terminatingReplicas } : status
  await writeStatus(replicated.type, replicaSet as DeepReadonly<ObjectOf<R>>, written, context, replicated.statusFields)
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
async function scale<R extends ResourceType>(
  replicated: ReplicatedType<R>,
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
      const chosen = podsToDelete(pods, relatedPods(replicated, replicaSet, context), { count, now: context.clock.now() })
      await deletePods(chosen, replicaSet, context)
    }
    return undefined
  } catch (error) {
    return { reason: missing > 0 ? 'FailedCreate' : 'FailedDelete', error }
  }
}

/** Returns the active Pods of all objects of the type with the same owner, e.g. of all ReplicaSets of the same Deployment. */
function relatedPods<R extends ResourceType>(
  { type, byController, asReplicaSet }: ReplicatedType<R>,
  replicaSet: ReplicaSet,
  context: ReconcileContext,
): readonly ReadonlyPod[] {
  const uid = controllerOf(replicaSet)?.uid
  const { namespace } = replicaSet.metadata
  const related = uid === undefined ? [replicaSet] : context.cache.list(type, { namespace, index: [byController, uid] }).map(asReplicaSet)
  return related.flatMap((one) => controlledBy(podsByController, one, context)).filter(isActive)
}

/** Returns the status of a ReplicaSet. A ReplicationController has the same, without `terminatingReplicas`. */
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
