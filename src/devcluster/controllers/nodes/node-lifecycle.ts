/**
 * The node lifecycle controller (k8s.io/kubernetes/pkg/controller/nodelifecycle):
 *
 * - If the kubelet of a node is stopped for longer than the grace period, the controller marks the node as unreachable and the Pods of the
 *   node as not ready.
 * - The controller updates the taints of all nodes.
 *
 * The simulated kubelets send no heartbeats. Instead, an annotation of the node marks its kubelet as stopped.
 */
import { node as nodeType, pod as podType } from '../../../api/builtin.ts'
import { findCondition, formatTime } from '../../../api/conditions.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import { requeueAt } from '../requeue-at.ts'
import { retryRefused } from '../retry-refused.ts'
import { isReady as isReadyPod } from '../workloads/pod-state.ts'
import { changedTaints } from './node-taints.ts'
import { hasKubelet } from './node.ts'
import { podsByNode } from './pods-by-node.ts'
import { evictsPods, isReady } from './zone-state.ts'

/** The default of kube-controller-manager's flag `--node-monitor-grace-period`. */
const defaultGraceMs = 50_000

const postedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

interface Seen {
  readonly uid: string
  /** The time at which the controller first noticed that the kubelet is stopped. Undefined while the kubelet runs. */
  awaySince: number | undefined
}

export function nodeLifecycle(graceMs: number = defaultGraceMs): ControllerDefinition {
  const seen = new Map<string, Seen>()
  return defineController(nodeType, {
    name: 'node-lifecycle',
    resyncPeriodMs: 0,
    indexes: [podsByNode],
    watches: [
      // If another client sets the condition Ready of a Pod on an unreachable node to True, the reconcile of the node sets the condition to
      // False again.
      { type: podType, map: unreachableNodeOf },
      // `evictsPods` depends on the readiness of all nodes. A change of one node therefore enqueues all other nodes that are not ready.
      {
        type: nodeType,
        map: ({ metadata }, { cache }) =>
          cache
            .list(nodeType)
            .filter((node) => node.metadata.name !== metadata.name && !isReady(node))
            .map((node) => ({ name: node.metadata.name })),
      },
    ],
    reconcile: retryRefused(async (node: ReadonlyNode, context) => {
      const { name, uid } = node.metadata
      const { clock, events } = context
      const now = clock.now()
      let entry = seen.get(name)
      if (entry?.uid !== uid) {
        entry = { uid, awaySince: undefined }
        seen.set(name, entry)
        events.event(node, 'Normal', 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`)
      }
      if (hasKubelet(node)) entry.awaySince = undefined
      else entry.awaySince ??= now
      const due = entry.awaySince === undefined ? Number.POSITIVE_INFINITY : entry.awaySince + graceMs
      const current = due > now ? node : await markUnknown(node, context)
      await updateTaints(current, context)
      if (due <= now) await markPodsNotReady(name, context)
      return due > now && Number.isFinite(due) ? requeueAt(due, context) : undefined
    }),
    deleted({ name }) {
      seen.delete(name)
      return Promise.resolve()
    },
  })
}

/** Maps a ready Pod to its node if the kubelet of the node is stopped. */
function unreachableNodeOf(pod: ReadonlyPod, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const name = pod.spec?.nodeName
  const node = name === undefined || !isReadyPod(pod) ? undefined : cache.get(nodeType, { name })
  return node === undefined || hasKubelet(node) ? [] : [{ name: node.metadata.name }]
}

/**
 * If the condition Ready of the node is not Unknown, sets all conditions in `postedConditions` to Unknown. Resolves with the resulting
 * node.
 */
async function markUnknown(node: ReadonlyNode, context: ReconcileContext): Promise<ReadonlyNode> {
  const conditions = node.status?.conditions ?? []
  if (findCondition(conditions, 'Ready')?.status === 'Unknown') return node
  const time = formatTime(context.clock.now())
  const { name, resourceVersion, creationTimestamp } = node.metadata
  const changed = [
    ...conditions.map((condition) =>
      postedConditions.includes(condition.type) && condition.status !== 'Unknown'
        ? {
            ...condition,
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
            lastTransitionTime: time,
          }
        : condition,
    ),
    ...postedConditions
      .filter((type) => findCondition(conditions, type) === undefined)
      .map((type) => ({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: creationTimestamp,
        lastTransitionTime: time,
      })),
  ]
  await context.client.patchStatus(nodeType, { name }, { metadata: { resourceVersion }, status: { conditions: changed } as object })
  if (isReady(node)) context.events.event(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
  return { ...node, status: { ...node.status, conditions: changed } }
}

/** Sets the condition Ready of all ready Pods on a node to False (k8s.io/kubernetes/pkg/controller/util/node: MarkPodsNotReady). */
async function markPodsNotReady(node: string, context: ReconcileContext): Promise<void> {
  const pods = context.cache.list(podType, { index: [podsByNode, node] })
  await Promise.all(pods.filter(isReadyPod).map((pod) => markNotReady(pod, context)))
}

async function markNotReady(pod: ReadonlyPod, { client, clock, events }: ReconcileContext): Promise<void> {
  const conditions = pod.status?.conditions ?? []
  const lastTransitionTime = formatTime(clock.now())
  const changed = conditions.map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
  )
  // If another controller has changed the Pod, the resourceVersion makes the patch fail. Without the resourceVersion, the patch could
  // overwrite the conditions of the other controller.
  const { resourceVersion } = pod.metadata
  await client.patchStatus(podType, pod.metadata, { metadata: { resourceVersion }, status: { conditions: changed } as object })
  events.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
}

async function updateTaints(node: ReadonlyNode, { client, cache, clock }: ReconcileContext): Promise<void> {
  const { name, resourceVersion, uid } = node.metadata
  const nodes = cache.list(nodeType).map((one) => (one.metadata.uid === uid ? node : one))
  const taints = changedTaints(node, { evicts: evictsPods(node, nodes), now: clock.now() })
  if (taints === undefined) return
  const current = cache.get(nodeType, { name })?.metadata.resourceVersion ?? resourceVersion
  const patch: object = { metadata: { resourceVersion: current }, spec: { taints } }
  await client.patch(nodeType, { name }, patch)
}
