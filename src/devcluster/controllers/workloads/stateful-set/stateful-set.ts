/** The StatefulSet controller: creates Pods with stable names and claims, in order (k8s.io/kubernetes/pkg/controller/statefulset). */
import type { Pod } from '../../../../api/builtin.ts'
import { pod as podType } from '../../../../api/builtin.ts'
import { apps } from '../../../../api/kubernetes/apps.ts'
import { core } from '../../../../api/kubernetes/core.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { claimDependents, mayAdopt, podsByController } from '../dependents.ts'
import { availableInMs } from '../pod-state.ts'
import { requeueAfterFirst } from '../../requeue-at.ts'
import { retryRefused } from '../../retry-refused.ts'
import { deleteRevisions, revisionsByController, surplusRevisions } from '../revisions/history.ts'
import { podRevision, restoredTemplate } from '../revisions/revision.ts'
import { writeStatus } from '../workload-status.ts'
import type { StatefulSet } from './ordinals.ts'
import { isMember } from './ordinals.ts'
import { PodWrites } from './pod-writes.ts'
import { isBeforeUpdate, podOf } from './pods.ts'
import type { Revisions } from './revisions.ts'
import { findRevisions } from './revisions.ts'
import type { RolloutState, StatefulSetStatus } from './status.ts'
import { statusOf } from './status.ts'
import { syncPods } from './sync-pods.ts'

export function statefulSetController(): ControllerDefinition {
  return defineController(apps.statefulSet, {
    name: 'statefulset',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [
      { type: podType, map: mayAdopt(apps.statefulSet) },
      // These watches add claims and revisions to the cache, but cause no reconcile. As in Kubernetes, only events of Pods and StatefulSets
      // cause a reconcile.
      { type: core.persistentVolumeClaim, map: () => [] },
      { type: apps.controllerRevision, map: () => [] },
    ],
    indexes: [podsByController, revisionsByController],
    reconcile: retryRefused(reconcileStatefulSet),
  })
}

async function reconcileStatefulSet(set: StatefulSet, context: ReconcileContext): Promise<Result> {
  const pods = await claimDependents(podsByController, set, context, undefined, (pod) => isMember(set, pod))
  const now = context.clock.now()
  if (set.metadata.deletionTimestamp !== undefined) {
    const { currentRevision: current, updateRevision: update } = set.status ?? {}
    await report(set, pods, { current, update, deletedForUpdate: 0 }, {}, context)
    return undefined
  }
  const revisions = await findRevisions(set, context)
  const writes = new PodWrites(set, context)
  const names = { current: revisions.current.metadata.name, update: revisions.update.metadata.name }
  let deletedForUpdate = 0
  let failure: Error | undefined
  try {
    const newPod = (ordinal: number): ObjectInput<Pod> => podOfRevision(set, ordinal, revisions)
    deletedForUpdate = await syncPods({ set, pods, writes, newPod, updateRevision: names.update, context, now })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    failure = error
  }
  const { collisionCount } = revisions
  const { currentRevision, updateRevision } = await report(set, pods, { ...names, deletedForUpdate }, { collisionCount }, context)
  const inUse = new Set([currentRevision, updateRevision, ...pods.map(podRevision)])
  await deleteRevisions(surplusRevisions(revisions.history, inUse, set.spec?.revisionHistoryLimit), context)
  if (failure !== undefined) throw failure
  // The writes of this controller cause no reconcile, so the next step needs a requeue. In Kubernetes, the watch events of these writes
  // cause the next reconcile.
  if (writes.isUnfinished) return { requeue: true }
  const { minReadySeconds = 0 } = set.spec ?? {}
  return requeueAfterFirst(pods.map((pod) => availableInMs(pod, minReadySeconds, now)))
}

function podOfRevision(set: StatefulSet, ordinal: number, { current, update }: Revisions): ObjectInput<Pod> {
  const revision = isBeforeUpdate(set, ordinal) ? current : update
  return podOf(set, ordinal, restoredTemplate(apps.statefulSet, set.spec?.template, revision), revision.metadata.name)
}

/**
 * Computes the status from `pods`, writes the status, and resolves with the status. `pods` are the Pods from the beginning of this
 * reconcile.
 */
async function report(
  set: StatefulSet,
  pods: readonly ReadonlyPod[],
  state: RolloutState,
  others: { readonly collisionCount?: number },
  context: ReconcileContext,
): Promise<StatefulSetStatus> {
  const status = { ...statusOf(set, pods, state, context.clock.now()), ...others }
  await writeStatus(apps.statefulSet, set, status, context, ['replicas', 'availableReplicas', 'collisionCount'])
  return status
}
