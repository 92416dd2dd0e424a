/** The Deployment controller: rolls out a Pod template with ReplicaSets (k8s.io/kubernetes/pkg/controller/deployment). */
import { pod as podType } from '../../../../api/builtin.ts'
import { findCondition } from '../../../../api/conditions.ts'
import { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { jsonEqual } from '../../../../api/json.ts'
import type { ObjectKey } from '../../../../api/object.ts'
import { controllerOf, refersTo } from '../../../../api/owner-reference.ts'
import type { CacheReader } from '../../../../cache/cache.ts'
import { isNotFound } from '../../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import type { ReadonlyObject } from '../../api-types.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController, replicaSetsByController } from '../dependents.ts'
import { isNamespaceTerminating } from '../pod-control.ts'
import { retryRefused } from '../../retry-refused.ts'
import { writeStatus } from '../workload-status.ts'
import { annotations, revisionOf } from './annotations.ts'
import type { Conditions, Progress } from './conditions.ts'
import { pauseConditions, progressDeadlineMs, withCondition } from './conditions.ts'
import { HashCollision, createNewReplicaSet, hasTemplateOf, newReplicaSetName, updateNewReplicaSet } from './new-replica-set.ts'
import type { NewSize } from './replica-counts.ts'
import {
  compareAges,
  newReplicaSetSize,
  oldReplicaSetSizes,
  proportionalSizes,
  sizeAnnotations,
  sizeOf,
  totalOf,
} from './replica-counts.ts'
import type { DeploymentStatus, ReplicaSets } from './status.ts'
import { deadlineInMs, isComplete, rolloutStatusOf, statusOf } from './status.ts'

type Deployment = DeepReadonly<apps.Deployment>
type ReplicaSet = DeepReadonly<apps.ReplicaSet>

/** If `revisionHistoryLimit` has this value, all old ReplicaSets are kept. */
const maxInt32 = 2_147_483_647

export function deploymentController(): ControllerDefinition {
  return defineController(apps.deployment, {
    name: 'deployment',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [apps.replicaSet],
    watches: [
      { type: apps.replicaSet, map: mayAdopt(apps.deployment) },
      { type: podType, map: recreatedDeployment },
    ],
    indexes: [podsByController, replicaSetsByController],
    reconcile: retryRefused(reconcileDeployment),
  })
}

/**
 * Returns the key of a Pod's Deployment if the Deployment has the strategy `Recreate`. Such a Deployment waits until its old Pods have
 * ended, so each change of a Pod triggers a reconcile.
 */
function recreatedDeployment(pod: ReadonlyObject, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const { namespace } = pod.metadata
  const owner = controllerOf(pod)
  if (owner === undefined || !refersTo(owner, apps.replicaSet)) return []
  const deployment = controllerOf(cache.get(apps.replicaSet, { namespace, name: owner.name }) ?? pod)
  if (deployment === undefined || !refersTo(deployment, apps.deployment)) return []
  const key = { namespace, name: deployment.name } as ObjectKey
  return cache.get(apps.deployment, key)?.spec?.strategy?.type === 'Recreate' ? [key] : []
}

async function reconcileDeployment(found: Deployment, context: ReconcileContext): Promise<Result> {
  await claimDependents(replicaSetsByController, found, context)
  const now = context.clock.now()
  const isDeleted = found.metadata.deletionTimestamp !== undefined
  const deployment = isDeleted ? found : await withStoredConditions(found, pauseConditions(found, now), context)
  if (!isDeleted) await updateNewest(deployment, context)
  if (!isDeleted && deployment.spec?.paused !== true) return rollOut(deployment, { isResumed: deployment !== found }, context)
  if (!isDeleted) {
    await scale(deployment, context)
    await deleteHistory(deployment, context)
  }
  const replicaSets = replicaSetsOf(deployment, context)
  await write(deployment, replicaSets, statusOf(deployment, replicaSets, conditionsOf(deployment), now), context)
  return undefined
}

function conditionsOf({ status }: Deployment): Conditions {
  return status?.conditions ?? []
}

/**
 * Writes the conditions to the status if they have changed, and resolves with the Deployment that has the conditions. Later, the same
 * reconcile writes the status again, and this second write can replace the reasons of the conditions. Because of the first write, a client
 * can see reasons such as `DeploymentResumed` and `FoundNewReplicaSet`, as in kube-controller-manager
 * (k8s.io/kubernetes/pkg/controller/deployment: checkPausedConditions, getNewReplicaSet).
 */
async function withStoredConditions(deployment: Deployment, conditions: Conditions, context: ReconcileContext): Promise<Deployment> {
  if (jsonEqual(conditions, conditionsOf(deployment))) return deployment
  return writeStatus(apps.deployment, deployment, { conditions }, context, [])
}

/** Returns the ReplicaSets of a Deployment from the cache. The cache includes the writes of the current reconcile. */
function replicaSetsOf(deployment: Deployment, context: ReconcileContext): ReplicaSets {
  const all = controlledBy(replicaSetsByController, deployment, context).toSorted(compareAges)
  const newest = all.find((one) => hasTemplateOf(deployment, one))
  return { newest, old: all.filter((one) => one !== newest) }
}

async function updateNewest(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const { newest, old } = replicaSetsOf(deployment, context)
  if (newest !== undefined) await updateNewReplicaSet(deployment, newest, old, context)
}

/**
 * @param isResumed true if this reconcile has already written the reason `DeploymentResumed`. If `isResumed` is true, this reconcile does
 *   not write the reason `NewReplicaSetCreated`, as in kube-controller-manager: there, the update of the status with `NewReplicaSetCreated`
 *   fails with a conflict, and the next reconcile does not repeat this update, because the new ReplicaSet already exists.
 */
async function rollOut(before: Deployment, { isResumed }: { readonly isResumed: boolean }, context: ReconcileContext): Promise<Result> {
  if (isScaled(before, context)) await scale(before, context)
  const isRecreate = before.spec?.strategy?.type === 'Recreate'
  const waits = isRecreate && (await stopOld(before, context))
  const creation = waits ? {} : await findOrCreateNewest(before, context)
  const isFailed = creation.error !== undefined || creation.collisionCount !== undefined
  const now = context.clock.now()
  const hasDeadline = progressDeadlineMs(before) !== undefined
  const progress = isResumed && !isFailed ? undefined : creation.progress
  const stored = conditionsOf(before)
  const conditions = progress === undefined || !hasDeadline ? stored : withCondition(stored, 'Progressing', progress, now)
  const deployment = await withStoredConditions(before, conditions, context)
  if (!waits && !isFailed) await resize(deployment, context)
  const replicaSets = replicaSetsOf(deployment, context)
  const status = isFailed ? statusOf(deployment, replicaSets, conditions, now) : rolloutStatusOf(deployment, replicaSets, conditions, now)
  if (isComplete(deployment, status)) await deleteHistory(deployment, context)
  await write(deployment, replicaSets, status, context, creation.collisionCount)
  if (creation.error !== undefined) throw creation.error
  if (creation.collisionCount !== undefined) return { requeue: true }
  const requeueAfterMs = deadlineInMs(deployment, status, now)
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

/** Scales the old ReplicaSets to 0. Resolves with true if the rollout must wait until all Pods of the old ReplicaSets have ended. */
async function stopOld(deployment: Deployment, context: ReconcileContext): Promise<boolean> {
  const { old } = replicaSetsOf(deployment, context)
  const running = old.filter((one) => sizeOf(one) > 0)
  for (const replicaSet of running) await resizeOne(deployment, { replicaSet, replicas: 0 }, context)
  if (running.length > 0 || totalOf(old, 'replicas') > 0) return true
  const pods = old.flatMap((one) => controlledBy(podsByController, one, context))
  return pods.some(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
}

/**
 * The result of `findOrCreateNewest`. `progress` is the new condition `Progressing`. If another ReplicaSet already has the name of the new
 * ReplicaSet, `collisionCount` is set. If the creation fails for another reason, `error` is set.
 */
interface Creation {
  readonly progress?: Progress
  readonly collisionCount?: number
  readonly error?: Error
}

async function findOrCreateNewest(deployment: Deployment, context: ReconcileContext): Promise<Creation> {
  const { newest, old } = replicaSetsOf(deployment, context)
  if (newest !== undefined) {
    if (findCondition(deployment.status?.conditions, 'Progressing') !== undefined) return {}
    return { progress: { status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set "${newest.metadata.name}"` } }
  }
  try {
    const { metadata } = await createNewReplicaSet(deployment, old, context)
    return { progress: { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${metadata.name}"` } }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (error instanceof HashCollision) return { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
    if (isNamespaceTerminating(error)) return { error }
    const message = `Failed to create new replica set "${newReplicaSetName(deployment)}": ${error.message}`
    context.events.event(deployment, 'Warning', 'ReplicaSetCreateError', message)
    return { error, progress: { status: 'False', reason: 'ReplicaSetCreateError', message } }
  }
}

/**
 * Resizes ReplicaSets for one step of a rollout. If the size of the new ReplicaSet must change, only this size is changed. Otherwise, the
 * old ReplicaSets are scaled down.
 */
async function resize(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const { newest, old } = replicaSetsOf(deployment, context)
  if (newest === undefined) return
  const replicas = newReplicaSetSize(deployment, [...old, newest], sizeOf(newest))
  if (await resizeOne(deployment, { replicaSet: newest, replicas }, context)) return
  for (const size of oldReplicaSetSizes(deployment, newest, old)) await resizeOne(deployment, size, context)
}

/** Returns true when `spec.replicas` of the Deployment has changed since the ReplicaSets of the Deployment were last scaled. */
function isScaled(deployment: Deployment, context: ReconcileContext): boolean {
  const { newest, old } = replicaSetsOf(deployment, context)
  const active = [...old, ...(newest === undefined ? [] : [newest])].filter((one) => sizeOf(one) > 0)
  const wanted = String(deployment.spec?.replicas ?? 0)
  return active.some(({ metadata }) => /^\d+$/.test(desiredOf(metadata)) && desiredOf(metadata) !== wanted)
}

function desiredOf({ annotations: values }: ReplicaSet['metadata']): string {
  return values?.[annotations.desiredReplicas] ?? ''
}

/** Distributes a changed `spec.replicas` to the ReplicaSets (k8s.io/kubernetes/pkg/controller/deployment: scale). */
async function scale(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const { newest, old } = replicaSetsOf(deployment, context)
  const { replicas = 0, strategy } = deployment.spec ?? {}
  const all = newest === undefined ? old : [...old, newest]
  const active = all.filter((one) => sizeOf(one) > 0)
  if (active.length <= 1) {
    const only = active[0] ?? newest ?? old.at(-1)
    if (only !== undefined) await resizeOne(deployment, { replicaSet: only, replicas }, context)
    return
  }
  if (newest !== undefined && isSaturated(deployment, newest)) {
    for (const replicaSet of old) await resizeOne(deployment, { replicaSet, replicas: 0 }, context)
    return
  }
  if (strategy?.type !== 'RollingUpdate') return
  for (const size of proportionalSizes(deployment, active)) await resizeOne(deployment, size, context, { isForced: true })
}

/** Returns true when the new ReplicaSet has all Pods of the Deployment, and all of these Pods are available. */
function isSaturated({ spec }: Deployment, newest: ReplicaSet): boolean {
  const { replicas = 0 } = spec ?? {}
  return sizeOf(newest) === replicas && desiredOf(newest.metadata) === String(replicas) && newest.status?.availableReplicas === replicas
}

/**
 * Sets the size of a ReplicaSet, and the annotations that record the size of the Deployment. Resolves with true when the size has changed.
 * If the ReplicaSet already has this size, the annotations are written only if `isForced` is true.
 */
async function resizeOne(
  deployment: Deployment,
  { replicaSet, replicas }: NewSize,
  { client, events }: ReconcileContext,
  { isForced = false }: { readonly isForced?: boolean } = {},
): Promise<boolean> {
  const { metadata } = replicaSet
  const before = sizeOf(replicaSet)
  const wanted = sizeAnnotations(deployment)
  const isMarked = Object.entries(wanted).every(([name, value]) => metadata.annotations?.[name] === value)
  if (before === replicas && (isMarked || !isForced)) return false
  await client.patch(apps.replicaSet, metadata, { metadata: { annotations: wanted }, spec: { replicas } })
  if (before === replicas) return false
  const direction = before < replicas ? 'up' : 'down'
  const message = `Scaled ${direction} replica set ${metadata.name} from ${before} to ${replicas}`
  events.event(deployment, 'Normal', 'ScalingReplicaSet', message)
  return true
}

/**
 * Deletes the oldest ReplicaSets that exceed `revisionHistoryLimit`. A ReplicaSet that still has Pods is not deleted
 * (k8s.io/kubernetes/pkg/controller/deployment: cleanupDeployment).
 */
async function deleteHistory(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const limit = deployment.spec?.revisionHistoryLimit ?? maxInt32
  if (limit === maxInt32) return
  const { old } = replicaSetsOf(deployment, context)
  const kept = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const surplus = kept.toSorted((a, b) => revisionOf(a) - revisionOf(b) || compareAges(a, b)).slice(0, Math.max(0, kept.length - limit))
  for (const one of surplus) {
    const { metadata, status } = one
    if (sizeOf(one) !== 0 || status?.replicas !== 0 || (metadata.generation ?? 0) > (status.observedGeneration ?? 0)) continue
    await context.client.delete(apps.replicaSet, metadata).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}

/**
 * Writes the status of a Deployment, and the annotation with the revision. One request to the subresource `status` writes both, because a
 * request to the Deployment itself would increment `metadata.generation`.
 */
async function write(
  deployment: Deployment,
  { newest }: ReplicaSets,
  status: DeploymentStatus,
  context: ReconcileContext,
  collisionCount?: number,
): Promise<void> {
  const fields = { ...status, ...(collisionCount !== undefined && { collisionCount }) }
  const revision = newest?.metadata.annotations?.[annotations.revision]
  const isMarked = revision === undefined || revision === deployment.metadata.annotations?.[annotations.revision]
  const marks = isMarked ? undefined : { [annotations.revision]: revision }
  await writeStatus(apps.deployment, deployment, fields, context, ['terminatingReplicas'], marks)
}
