/** The scheduler: binds each unscheduled Pod to a node on which the Pod fits. */
import { namespace as namespaceType, node as nodeType, pod as podType } from '../../../api/builtin.ts'
import { formatTime } from '../../../api/conditions.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { storage } from '../../../api/kubernetes/storage.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { formatKey } from '../../../api/object.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import { isConflict, isNotFound } from '../../../client/api-error.ts'
import { objectPath } from '../../../client/resource-path.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../api-types.ts'
import type { SimulationOptions } from '../kubelet/simulated/simulation.ts'
import { planOf } from '../kubelet/simulated/simulation.ts'
import { podsByNode, unbound } from '../nodes/pods-by-node.ts'
import { requeueAt } from '../requeue-at.ts'
import type { ClusterState } from './cluster-state.ts'
import { placePod } from './place-pod.ts'
import { claimNamesOf } from '../volumes/pod-claims.ts'
import { bindDelayed, claimsOfPod, volumeMisfit } from '../volumes/schedule-volumes.ts'

const schedulerName = 'default-scheduler'

/** A Pod that this scheduler has bound, but that the cache still shows without a node. */
interface Assumed {
  readonly pod: ReadonlyPod
  readonly node: string
}

/** Returns the controller that binds Pods to nodes. */
export function scheduler(simulation?: SimulationOptions): ControllerDefinition {
  const assumed = new Map<string, Assumed>()
  /** The time at which this scheduler first saw each waiting Pod, keyed by namespace and name. */
  const seen = new Map<string, { readonly uid: string; readonly at: number }>()
  const keysOf = (cache: CacheReader, isAffected: (pod: ReadonlyPod) => boolean): readonly ObjectKey[] =>
    cache
      .list(podType, { index: [podsByNode, unbound] })
      .filter((pod) => isWaiting(pod) && isAffected(pod))
      .map(({ metadata }) => metadata)
  const waiting = (_object: unknown, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] => keysOf(cache, () => true)
  const withClaims = (_object: unknown, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] =>
    keysOf(cache, (pod) => claimNamesOf(pod).length > 0)
  return defineController(podType, {
    name: 'scheduler',
    resyncPeriodMs: 0,
    indexes: [podsByNode],
    watches: [
      { type: nodeType, map: waiting },
      // A change of a bound Pod can make a waiting Pod schedulable. For example, the bound Pod frees resources, or satisfies the affinity
      // of the waiting Pod.
      { type: podType, map: (pod, context) => (pod.spec?.nodeName === undefined ? [] : waiting(pod, context)) },
      { type: namespaceType, map: (): readonly ObjectKey[] => [] },
      {
        type: core.persistentVolumeClaim,
        map: ({ metadata: { namespace, name } }, { cache }) =>
          keysOf(cache, (pod) => pod.metadata.namespace === namespace && claimNamesOf(pod).includes(name)),
      },
      { type: core.persistentVolume, map: withClaims },
      { type: storage.storageClass, map: withClaims },
    ],
    async reconcile(pod, context) {
      const { uid } = pod.metadata
      const key = formatKey(pod.metadata)
      if (pod.spec?.nodeName !== undefined || assumed.get(key)?.pod.metadata.uid !== uid) assumed.delete(key)
      if (!isWaiting(pod) || assumed.has(key)) {
        seen.delete(key)
        return undefined
      }
      const now = context.clock.now()
      const first = seen.get(key)
      const since = first?.uid === uid ? first.at : now
      seen.set(key, { uid, at: since })
      const due = since + planOf(pod, simulation).scheduleMs
      if (due > now) return requeueAt(due, context)
      const { node, requeue = false } = await nodeFor(pod, stateOf(context.cache, assumed), context)
      if (node !== undefined && (await bind(pod, node, context))) assumed.set(key, { pod, node })
      return requeue ? { requeue } : undefined
    },
    deleted(key) {
      assumed.delete(formatKey(key))
      seen.delete(formatKey(key))
      return Promise.resolve()
    },
  })
}

/**
 * Resolves with the node for a Pod. Resolves without a node in these cases:
 *
 * - The Pod fits on no node.
 * - Claims of the Pod are not bound yet, and their StorageClass has the volumeBindingMode WaitForFirstConsumer. The function starts to bind
 *   these claims. `requeue` is true if another client has changed such a claim or its volume since the scheduler read them.
 */
async function nodeFor(
  pod: ReadonlyPod,
  state: ClusterState,
  context: ReconcileContext,
): Promise<{ readonly node?: string; readonly requeue?: boolean }> {
  const claims = claimsOfPod(pod, context)
  if ('problem' in claims) {
    // A problem with a claim concerns all nodes, so kube-scheduler reports the problem once. kube-scheduler appends the result of
    // preemption, which is "not found" in this case.
    await reportProblem(pod, `0/${state.nodes.length} nodes are available: ${claims.problem}. not found`, context)
    return {}
  }
  const placement = placePod(pod, state, (node) => volumeMisfit(claims, node, context))
  if (!('node' in placement)) {
    await reportProblem(pod, placement.problem, context)
    return {}
  }
  if (claims.delayed.length === 0) return { node: placement.node }
  try {
    await bindDelayed(
      claims.delayed,
      state.nodes.find(({ metadata }) => metadata.name === placement.node)!,
      context,
    )
  } catch (error) {
    if (!isConflict(error)) throw error
    return { requeue: true }
  }
  return {}
}

function stateOf(cache: CacheReader, assumed: ReadonlyMap<string, Assumed>): ClusterState {
  const byNode = new Map<string, readonly ReadonlyPod[]>()
  return {
    nodes: cache.list(nodeType),
    podsOn(node) {
      const known = byNode.get(node)
      if (known !== undefined) return known
      const bound = cache.list(podType, { index: [podsByNode, node] }).filter((pod) => !hasEnded(pod))
      const uids = new Set(bound.map(({ metadata }) => metadata.uid))
      const own = [...assumed.values()].filter((one) => one.node === node && !uids.has(one.pod.metadata.uid))
      const pods = [...bound, ...own.map(({ pod }) => pod)]
      byNode.set(node, pods)
      return pods
    },
    namespace: (name) => cache.get(namespaceType, { name }),
  }
}

function hasEnded({ status }: ReadonlyPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function isWaiting({ metadata, spec, status }: ReadonlyPod): boolean {
  if (spec?.nodeName || metadata.deletionTimestamp !== undefined) return false
  if ((spec?.schedulingGates?.length ?? 0) > 0 || (spec?.schedulerName ?? schedulerName) !== schedulerName) return false
  return status?.phase === undefined || status.phase === 'Pending'
}

/** Binds a Pod to a node. Resolves with false when the Pod has been deleted, or is already bound. */
async function bind(pod: ReadonlyPod, node: string, { client, events }: ReconcileContext): Promise<boolean> {
  const { name, namespace, uid } = pod.metadata
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  }
  try {
    await client.raw(objectPath(podType, { name, namespace }, 'binding'), { method: 'POST', body, contentType: 'application/json' })
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false
    throw error
  }
  events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`)
  return true
}

async function reportProblem(pod: ReadonlyPod, message: string, { client, events, clock }: ReconcileContext): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message) return
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : formatTime(clock.now())
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastProbeTime: null, lastTransitionTime }
  // The TypeScript type does not allow null for a timestamp, but a condition of a Pod has `lastProbeTime: null`. Therefore, `status` has the
  // type `object`.
  const status: object = { conditions: [...others, condition] }
  try {
    await client.patchStatus(podType, pod.metadata, { status })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return
  }
  events.event(pod, 'Warning', 'FailedScheduling', message)
}
