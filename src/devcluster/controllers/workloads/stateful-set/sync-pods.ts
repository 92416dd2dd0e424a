/**
 * Takes the next step of a StatefulSet. Missing Pods are created first. Then Pods whose ordinals are out of range are deleted. Last, a Pod
 * with an old revision is deleted (k8s.io/kubernetes/pkg/controller/statefulset: updateStatefulSet).
 */
import type { Pod } from '../../../../api/builtin.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { slowStart } from '../pod-control.ts'
import { isReady } from '../pod-state.ts'
import { podRevision } from '../revisions/revision.ts'
import { isWaitingForClaims, matchRetention } from './claims.ts'
import type { StatefulSet } from './ordinals.ts'
import { firstOrdinal, isInRange, ordinalOf, replicasOf } from './ordinals.ts'
import type { PodWrites } from './pod-writes.ts'
import { hasIdentity, hasStorage, isDeleted, isUnavailable } from './pods.ts'

/** If the policy is `Parallel`, at most this number of Pods is created or deleted at the same time (…/statefulset: MaxBatchSize). */
const maxBatch = 500

export interface PodSync {
  readonly set: StatefulSet
  readonly pods: readonly ReadonlyPod[]
  readonly writes: Pick<PodWrites, 'create' | 'delete' | 'repair' | 'completeClaims' | 'applyRetention' | 'waitForClaim'>
  /** Returns the Pod to create for an ordinal. */
  readonly newPod: (ordinal: number) => ObjectInput<Pod>
  /** The name of the revision to roll out. */
  readonly updateRevision: string
  readonly context: ReconcileContext
  readonly now: number
}

/** Returns the Pods whose ordinals are outside the range of the StatefulSet, highest ordinal first. */
export function condemnedPods(set: StatefulSet, pods: readonly ReadonlyPod[]): readonly ReadonlyPod[] {
  const condemned = pods.filter((pod) => ordinalOf(pod) !== undefined && !isInRange(set, ordinalOf(pod)!))
  return condemned.toSorted((a, b) => ordinalOf(b)! - ordinalOf(a)!)
}

/**
 * Takes the next step. With the policy `OrderedReady`, a step creates or deletes at most one Pod, and creates a Pod only when all Pods with
 * lower ordinals are available. Resolves with the number of Pods that this step has deleted because they have an old revision.
 */
export async function syncPods(sync: PodSync): Promise<number> {
  const { set, pods, writes } = sync
  const first = firstOrdinal(set)
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]))
  const condemned = condemnedPods(set, pods)
  const goesOn =
    (await forEach(set, replicasOf(set), (index) => syncReplica(sync, first + index, byOrdinal.get(first + index)))) &&
    (await forEach(set, condemned.length, (index) => syncClaims(sync, condemned[index]!))) &&
    (await forEach(set, condemned.length, (index) => removeCondemned(sync, condemned, index)))
  if (!goesOn || set.spec?.updateStrategy?.type === 'OnDelete') return 0
  const outdated = podToUpdate(set, byOrdinal, sync.updateRevision, sync.now)
  if (outdated === undefined) return 0
  await writes.delete(outdated)
  return 1
}

function isOrdered({ spec }: StatefulSet): boolean {
  return spec?.podManagementPolicy !== 'Parallel'
}

/**
 * Runs a task for each index.
 *
 * - With the policy `OrderedReady`, the tasks run one after the other. When a task resolves with false, no further task runs, and `forEach`
 *   resolves with false.
 * - With the policy `Parallel`, the tasks run in batches. `forEach` ignores their results, and resolves with true.
 */
async function forEach(set: StatefulSet, count: number, task: (index: number) => Promise<boolean>): Promise<boolean> {
  if (!isOrdered(set)) await slowStart(count, task, maxBatch)
  else for (let index = 0; index < count; index += 1) if (!(await task(index))) return false
  return true
}

/**
 * Creates a missing Pod, deletes an ended Pod, or repairs an existing Pod. Resolves with false when the Pod with the next ordinal must wait
 * (…/statefulset: processReplica).
 */
async function syncReplica(
  { set, writes, newPod, context, now }: PodSync,
  ordinal: number,
  pod: ReadonlyPod | undefined,
): Promise<boolean> {
  if (pod === undefined) {
    if (isWaitingForClaims(set, ordinal, context)) writes.waitForClaim()
    else await writes.create(newPod(ordinal), ordinal)
    return false
  }
  const { phase } = pod.status ?? {}
  if (phase === 'Failed' || phase === 'Succeeded') {
    if (!isDeleted(pod)) await writes.delete(pod)
    return false
  }
  if (phase === 'Pending') await writes.completeClaims(pod)
  if (isOrdered(set) && (!isRunningAndReady(pod) || isUnavailable(pod, set, now))) return false
  if (!hasIdentity(set, pod) || !hasStorage(set, pod) || !matchRetention(set, pod, context)) await writes.repair(pod)
  return true
}

function isRunningAndReady(pod: ReadonlyPod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod)
}

/**
 * Sets the owner references of the PersistentVolumeClaims of a Pod before the Pod is deleted. If `whenScaled` of the retention policy is
 * `Delete`, the garbage collector deletes the claims after the deletion of the Pod.
 */
async function syncClaims({ set, writes, context }: PodSync, pod: ReadonlyPod): Promise<boolean> {
  if (!matchRetention(set, pod, context)) await writes.applyRetention(pod)
  return true
}

/**
 * Deletes a Pod whose ordinal is out of range. With the policy `OrderedReady`, an unavailable Pod is deleted only when it has the lowest
 * ordinal of all unavailable Pods in `condemned` (…/statefulset: processCondemned).
 *
 * Always resolves with false:
 *
 * - With the policy `OrderedReady`, false ends the current step. The next Pod is therefore deleted only after this Pod has gone.
 * - With the policy `Parallel`, false has no effect.
 */
async function removeCondemned({ set, writes, now }: PodSync, condemned: readonly ReadonlyPod[], index: number): Promise<boolean> {
  const pod = condemned[index]!
  if (isDeleted(pod)) return false
  const lowestUnavailable = condemned.findLast((one) => isUnavailable(one, set, now))
  const isAvailable = isRunningAndReady(pod) && !isUnavailable(pod, set, now)
  if (!isOrdered(set) || isAvailable || pod === lowestUnavailable) await writes.delete(pod)
  return false
}

/**
 * Returns the Pod to delete for the update. Of the Pods without the update revision, this is the Pod with the highest ordinal. Returns
 * undefined while a Pod with a higher ordinal is missing or unavailable. The first `partition` Pods are not updated.
 */
export function podToUpdate(
  set: StatefulSet,
  pods: ReadonlyMap<number | undefined, ReadonlyPod>,
  revision: string,
  now: number,
): ReadonlyPod | undefined {
  const first = firstOrdinal(set)
  const lowest = first + (set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0)
  for (let ordinal = first + replicasOf(set) - 1; ordinal >= lowest; ordinal -= 1) {
    const pod = pods.get(ordinal)
    if (pod === undefined) return undefined
    if (podRevision(pod) !== revision && !isDeleted(pod)) return pod
    if (isUnavailable(pod, set, now)) return undefined
  }
  return undefined
}
