/** Decides which Pods a DaemonSet must create and delete on a node (k8s.io/kubernetes/pkg/controller/daemon: podsShouldBeOnNode). */
import type { ReadonlyPod } from '../../api-types.ts'
import { isAvailable, isReady } from '../pod-state.ts'
import { podRevision } from '../revisions/revision.ts'
import type { NodeFit } from './nodes.ts'
import type { DaemonSet } from './pods.ts'

export interface NodePlan {
  readonly needsPod: boolean
  readonly delete: readonly ReadonlyPod[]
  /**
   * The Pods that have ended. The caller must delete these Pods, so that a later reconcile creates a new Pod. If a Pod has failed, the
   * caller may have to wait for the end of a back-off before the deletion.
   */
  readonly ended: readonly ReadonlyPod[]
}

const nothing: NodePlan = { needsPod: false, delete: [], ended: [] }

/**
 * Returns the plan for a node.
 *
 * @param pods the Pods on the node, in the order of `compareDaemonPods`; undefined if the node has no Pods of the DaemonSet.
 * @param surges true if a node may have an old and a new Pod at the same time during an update.
 */
export function planNode(
  set: DaemonSet,
  { shouldRun, shouldContinue }: NodeFit,
  pods: readonly ReadonlyPod[] | undefined,
  { hash, surges, now }: { readonly hash: string; readonly surges: boolean; readonly now: number },
): NodePlan {
  if (shouldRun && pods === undefined) return { ...nothing, needsPod: true }
  const kept = (pods ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (!shouldContinue) return { ...nothing, delete: kept }
  const ended = kept.filter(({ status }) => status?.phase === 'Failed' || status?.phase === 'Succeeded')
  const running = kept.filter((pod) => !ended.includes(pod))
  if (!surges) return { ...nothing, delete: running.slice(1), ended }
  if (running.length <= 1) return { needsPod: running.length === 0 && shouldRun, delete: [], ended }
  return { needsPod: false, delete: superfluous(set, running, hash, now), ended }
}

/**
 * Returns the surplus Pods on a node where one old Pod and one new Pod may run at the same time. A new Pod has the revision `hash`, and an
 * old Pod has a different revision. All Pods other than one old Pod and one new Pod are surplus. The old Pod is surplus, too, if the node
 * has a new Pod, and one of these conditions is true:
 *
 * - The old Pod is not ready.
 * - The new Pod is available.
 */
function superfluous(set: DaemonSet, running: readonly ReadonlyPod[], hash: string, now: number): readonly ReadonlyPod[] {
  const newest = running.find((pod) => podRevision(pod) === hash)
  const old = running.find((pod) => podRevision(pod) !== hash)
  const others = running.filter((pod) => pod !== newest && pod !== old)
  if (newest === undefined || old === undefined) return others
  const isReplaced = !isReady(old) || isAvailable(newest, set.spec?.minReadySeconds ?? 0, now)
  return isReplaced ? [...others, old] : others
}
