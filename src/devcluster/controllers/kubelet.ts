/**
 * A simulated kubelet for all nodes. Each Pod that is bound to a node becomes running and ready. The containers of a Job's Pod end with
 * success after a moment. All other Pods run until they are deleted.
 */
import { pod as podType } from '../../api/builtin.ts'
import { formatKey } from '../../api/object.ts'
import { isConflict, isNotFound } from '../../client/api-error.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'
import type { ReconcileContext } from '../../controller/reconciler.ts'
import type { NodeOptions } from './node.ts'
import { nodeAddress } from './node.ts'
import { PodAddresses } from './pod-addresses.ts'
import { completedStatus, runningStatus } from './pod-status.ts'
import type { ReadonlyPod } from './place-pod.ts'
import { isOfJob } from './workloads/job/pods.ts'

/** Time in milliseconds that simulated containers take to stop. A Pod with a shorter grace period stops after its grace period. */
const stopMs = 100
/** Time in milliseconds that the containers of a Job's Pod run. */
const runMs = 100

export function kubelet(nodes: readonly NodeOptions[]): ControllerDefinition {
  const addresses = new PodAddresses()
  const hostIPs = new Map(nodes.map(({ name }, index) => [name, nodeAddress(index)]))
  /**
   * The Pods on all nodes, keyed by namespace and name. `uid` is the UID of the latest Pod with this name. The Pod's IP address is
   * allocated for this UID. `stoppedAt` is the time at which the Pod's containers stop.
   */
  const running = new Map<string, { readonly uid: string; stoppedAt?: number }>()

  return defineController(podType, {
    name: 'kubelet',
    resyncPeriodMs: 0,
    workers: 4,
    async reconcile(pod, context) {
      const hostIP = hostIPs.get(pod.spec?.nodeName ?? '')
      if (hostIP === undefined) return undefined
      const { uid, deletionTimestamp } = pod.metadata
      const key = formatKey(pod.metadata)
      let entry = running.get(key)
      if (entry?.uid !== uid) {
        if (entry !== undefined) addresses.release(entry.uid)
        entry = { uid }
        running.set(key, entry)
      }
      if (deletionTimestamp !== undefined) {
        const now = context.clock.now()
        entry.stoppedAt ??= now + Math.min(stopMs, (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000)
        if (entry.stoppedAt > now) return { requeueAfterMs: entry.stoppedAt - now }
        await remove(pod, context)
      } else if (pod.status?.phase === undefined || pod.status.phase === 'Pending' || pod.status.phase === 'Running') {
        const now = context.clock.now()
        const ends = isOfJob(pod)
        const isRunning = pod.status?.phase === 'Running'
        if (ends && isRunning && entry.stoppedAt !== undefined && entry.stoppedAt <= now)
          await writeStatus(pod, completedStatus(pod, now), context)
        else {
          await run(pod, { hostIP, podIP: addresses.addressOf(uid, pod.status?.podIP), now }, context)
          if (!ends) return undefined
          entry.stoppedAt ??= now + runMs
          return { requeueAfterMs: entry.stoppedAt - now }
        }
      }
      return undefined
    },
    deleted(key) {
      const entry = running.get(formatKey(key))
      if (entry !== undefined) addresses.release(entry.uid)
      running.delete(formatKey(key))
      return Promise.resolve()
    },
  })
}

async function run(pod: ReadonlyPod, place: Parameters<typeof runningStatus>[1], context: ReconcileContext): Promise<void> {
  const status = runningStatus(pod, place)
  if (status === undefined || !(await writeStatus(pod, status, context)) || pod.status?.phase === 'Running') return
  const { events } = context
  for (const { name, image } of pod.spec?.containers ?? []) {
    events.event(pod, 'Normal', 'Pulled', `Container image "${image}" already present on machine`)
    events.event(pod, 'Normal', 'Created', `Created container: ${name}`)
    events.event(pod, 'Normal', 'Started', `Started container ${name}`)
  }
}

/**
 * Writes the status of a Pod. Resolves with false when the Pod in the cache is outdated: the watch event of the newer Pod triggers another
 * reconcile.
 */
async function writeStatus({ metadata }: ReadonlyPod, status: object, { client }: ReconcileContext): Promise<boolean> {
  try {
    await client.patchStatus(podType, metadata, { status, metadata: { resourceVersion: metadata.resourceVersion } })
    return true
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false
    throw error
  }
}

/** Deletes the Pod with grace period 0 after its containers have stopped. Finalizers may still keep the object. */
async function remove({ metadata }: ReadonlyPod, { client }: ReconcileContext): Promise<void> {
  if (metadata.deletionGracePeriodSeconds === 0) return
  try {
    await client.delete(podType, metadata, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
