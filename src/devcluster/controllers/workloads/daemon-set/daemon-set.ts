/** The DaemonSet controller: runs one Pod on each suitable node (k8s.io/kubernetes/pkg/controller/daemon). */
import { node as nodeType, pod as podType } from '../../../../api/builtin.ts'
import { apps } from '../../../../api/kubernetes/apps.ts'
import { formatKey } from '../../../../api/object.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController } from '../dependents.ts'
import { createPod, deletePods, slowStart } from '../pod-control.ts'
import { availableInMs } from '../pod-state.ts'
import { requeueAfterFirst } from '../../requeue-at.ts'
import { retryRefused } from '../../retry-refused.ts'
import { deleteRevisions, revisionsByController } from '../revisions/history.ts'
import { writeStatus } from '../workload-status.ts'
import { FailedPodDelays } from './failed-pod-delays.ts'
import { planNode } from './manage.ts'
import type { NodeFit } from './nodes.ts'
import { fitOf } from './nodes.ts'
import type { DaemonSet, PodsByNode } from './pods.ts'
import { podFor, podsByNode } from './pods.ts'
import { findRevisions, surplusOf } from './revisions.ts'
import { statusOf } from './status.ts'
import { updateLimits, updateStep } from './rolling-update.ts'

/**
 * Maximum number of Pods that one call of `carryOut` creates. The same maximum applies to the deleted Pods
 * (k8s.io/kubernetes/pkg/controller/daemon: BurstReplicas).
 */
const burst = 250

/** The fields of the status that are written even if the value is 0, because the Go struct has no `omitempty` for these fields. */
const alwaysWritten = ['desiredNumberScheduled', 'currentNumberScheduled', 'numberMisscheduled', 'numberReady']

export function daemonSetController(): ControllerDefinition {
  const delays = new FailedPodDelays()
  return defineController(apps.daemonSet, {
    name: 'daemonset',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType, apps.controllerRevision],
    watches: [
      { type: podType, map: mayAdopt(apps.daemonSet) },
      { type: apps.controllerRevision, map: mayAdopt(apps.daemonSet) },
      { type: nodeType, map: (_node, { cache }) => cache.list(apps.daemonSet).map(({ metadata }) => metadata) },
    ],
    indexes: [podsByController, revisionsByController],
    reconcile: retryRefused((set: DaemonSet, context: ReconcileContext) => reconcileDaemonSet(set, delays, context)),
    deleted: (key) => Promise.resolve(delays.forget(`${formatKey(key)}/`)),
  })
}

/** The names of the nodes on which a Pod is created, and the Pods to delete. */
interface Changes {
  readonly create: readonly string[]
  readonly delete: readonly ReadonlyPod[]
}

async function reconcileDaemonSet(set: DaemonSet, delays: FailedPodDelays, context: ReconcileContext): Promise<Result> {
  // While a DaemonSet is being deleted, its revisions are possibly deleted already. Without the revisions, the status cannot be computed.
  if (set.metadata.deletionTimestamp !== undefined) return undefined
  const pods = await claimDependents(podsByController, set, context)
  const { hash, old, collisionCount } = await findRevisions(set, pods, context)
  const now = context.clock.now()
  const fits = new Map(context.cache.list(nodeType).map((node) => [node.metadata.name, fitOf(set, node)]))
  const state = { set, pods: podsByNode(pods), fits, hash, now }
  const { changes, waitsMs } = planAll(state, delays, context)
  let [isUnfinished, failure]: [boolean, Error | undefined] = [false, undefined]
  try {
    isUnfinished = await carryOut(set, changes, hash, context)
    // The rolling update waits until there is no missing Pod to create and no surplus Pod to delete.
    if (!isUnfinished && set.spec?.updateStrategy?.type === 'RollingUpdate')
      isUnfinished = await carryOut(set, updateStep(state), hash, context)
    await deleteRevisions(surplusOf(set, old, pods), context)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    failure = error
  }
  const current = controlledBy(podsByController, set, context)
  const status = { ...statusOf(set, { ...state, pods: podsByNode(current) }), ...(collisionCount !== undefined && { collisionCount }) }
  await writeStatus(apps.daemonSet, set, status, context, alwaysWritten)
  if (failure !== undefined) throw failure
  // The watch events of this controller's own writes trigger no reconcile, so the next step needs a requeue. In Kubernetes, such events
  // trigger the next step.
  if (isUnfinished) return { requeue: true }
  const { minReadySeconds = 0 } = set.spec ?? {}
  return requeueAfterFirst([...waitsMs, ...current.map((pod) => availableInMs(pod, minReadySeconds, now))])
}

/**
 * Returns the Pods to create and to delete, so that each node that should have a Pod has one Pod. For each failed Pod that must not be
 * replaced yet, the result `waitsMs` contains the time in milliseconds after which the Pod may be replaced.
 */
function planAll(
  { set, pods, fits, hash, now }: { set: DaemonSet; pods: PodsByNode; fits: ReadonlyMap<string, NodeFit>; hash: string; now: number },
  delays: FailedPodDelays,
  { events }: ReconcileContext,
): { readonly changes: Changes; readonly waitsMs: readonly number[] } {
  const create: string[] = []
  // Each Pod of a DaemonSet is created for one node. If this node no longer exists, and the Pod is not bound yet, the scheduler can never
  // bind the Pod, so the Pod is deleted.
  const deleted = [...pods].flatMap(([node, some]) => (fits.has(node) ? [] : some.filter(({ spec }) => !spec?.nodeName)))
  const waitsMs: number[] = []
  const surges = updateLimits(set, 1).surge > 0
  for (const [node, fit] of fits) {
    const plan = planNode(set, fit, pods.get(node), { hash, surges, now })
    if (plan.needsPod) create.push(node)
    deleted.push(...plan.delete)
    for (const pod of plan.ended) {
      const { name, namespace } = pod.metadata
      const isFailed = pod.status?.phase === 'Failed'
      const scope = `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}`
      const delayMs = isFailed ? delays.replace(`${formatKey(set.metadata)}/${node}`, scope, now) : 0
      if (delayMs > 0) {
        waitsMs.push(delayMs)
        continue
      }
      if (isFailed)
        events.event(set, 'Warning', 'FailedDaemonPod', `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`)
      else
        events.event(
          set,
          'Normal',
          'SucceededDaemonPod',
          `Found succeeded daemon pod ${namespace}/${name} on node ${node}, will try to delete it`,
        )
      deleted.push(pod)
    }
  }
  return { changes: { create, delete: deleted }, waitsMs }
}

/** Creates and deletes Pods, at most `burst` of each. Resolves with true if there was a Pod to create or delete. */
async function carryOut(set: DaemonSet, { create, delete: deleted }: Changes, hash: string, context: ReconcileContext): Promise<boolean> {
  await slowStart(Math.min(create.length, burst), (index) => createPod(podFor(set, create[index]!, hash), set, context))
  await deletePods(deleted.slice(0, burst), set, context)
  return create.length + deleted.length > 0
}
