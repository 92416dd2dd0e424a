/**
 * `kubelet`: a controller that acts as the kubelets of all nodes. For each Pod that is bound to a node, the kubelet of this node runs the
 * containers with a container runtime, and writes the status of the Pod.
 */
import { node as nodeType, pod as podType } from '../../../api/builtin.ts'
import { effectiveMergePatch } from '../../../api/merge-patch.ts'
import { formatKey } from '../../../api/object.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import { isConflict, isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { EventRecorder } from '../../../telemetry/event-recorder.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { addressOf, hasKubelet } from '../nodes/node.ts'
import { podsByNode, podsOfNode } from '../nodes/pods-by-node.ts'
import { requeueAt } from '../requeue-at.ts'
import type { ContainerRuntime } from './container-runtime.ts'
import type { NodeMachine } from './node-machines.ts'
import { NodeMachines } from './node-machines.ts'
import { PodAddresses, podAddressRange } from './pod-addresses.ts'
import type { PodPlace } from './pod-status.ts'
import { podStatus } from './pod-status.ts'
import type { PodEvent } from './pod-worker.ts'
import { PodWorker } from './pod-worker.ts'
import { Wakeups } from './wakeups.ts'

export interface KubeletOptions {
  readonly runtime: ContainerRuntime
  /** Allocates the addresses of Pods. Default: addresses from 10.244.0.0/16. */
  readonly addresses?: PodAddresses
  /** Returns the recorder with which the kubelet of a node records Events. */
  eventsOf(node: string): EventRecorder
}

interface Entry {
  readonly worker: PodWorker
  readonly place: PodPlace
  readonly machine: NodeMachine
  /** The errors in the Pod's annotations at the latest reconcile. The kubelet has already recorded an Event about them. */
  problems: string
  /**
   * True when the kubelet of the node was stopped at any time after its last write of the Pod's status. Other controllers may have changed
   * the status while the kubelet was stopped. When the kubelet runs again, it therefore writes the status even if the containers have not
   * changed.
   */
  wasAway: boolean
}

/** The time until the next attempt to start a Pod for which no address was free (k8s.io/kubernetes/pkg/kubelet: backOffPeriod). */
const retryMs = 10_000
/** The message about a Pod for which no address is free (k8s.io/kubernetes/pkg/kubelet/kuberuntime: SyncPod). */
const noAddress =
  'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: ' +
  `plugin type="host-local" failed (add): no IP addresses available in range set: ${podAddressRange}`

export function kubelet({ runtime, eventsOf, addresses = new PodAddresses() }: KubeletOptions): ControllerDefinition {
  const machines = new NodeMachines(eventsOf)
  /** The Pods on all nodes, keyed by namespace and name. */
  const entries = new Map<string, Entry>()
  const wakeups = new Wakeups()
  /** The uids of the Pods that have a reserved address but are not in `entries` yet. The keys are the namespaces and names of the Pods. */
  const reserved = new Map<string, string>()
  let areAddressesReserved = false

  const forget = (key: string): void => {
    const reservedBy = reserved.get(key)
    if (reservedBy !== undefined) addresses.release(reservedBy)
    reserved.delete(key)
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    const { worker } = entry
    const { events, removed } = worker.destroy()
    recordEvents(entry, worker.pod, events)
    // The address must stay reserved until the network of the Pod is removed.
    if (removed === undefined) addresses.release(worker.uid)
    else void removed.then(() => addresses.release(worker.uid))
  }
  const addressOfPod = ({ metadata, status }: ReadonlyPod): string | undefined => addresses.addressOf(metadata.uid, status?.podIP)
  /** Reserves the addresses of the Pods that ran before a restart of the embedded cluster, so that new Pods get other addresses. */
  const reserveAddresses = (cache: CacheReader): void => {
    if (areAddressesReserved) return
    areAddressesReserved = true
    for (const pod of cache.list(podType)) {
      if (pod.status?.podIP === undefined || isOnHost(pod) || isTerminal(pod)) continue
      addressOfPod(pod)
      reserved.set(formatKey(pod.metadata), pod.metadata.uid)
    }
  }

  return defineController(podType, {
    name: 'kubelet',
    resyncPeriodMs: 0,
    workers: 4,
    indexes: [podsByNode],
    watches: [{ type: nodeType, map: podsOfNode }, ...(runtime.watches ?? [])],
    sources: [wakeups],
    async reconcile(pod, context) {
      const nodeName = pod.spec?.nodeName ?? ''
      const node = nodeName === '' ? undefined : context.cache.get(nodeType, { name: nodeName })
      if (node === undefined) return undefined
      reserveAddresses(context.cache)
      const key = formatKey(pod.metadata)
      let entry = entries.get(key)
      if (!hasKubelet(node)) {
        if (entry !== undefined) entry.wasAway = true
        return undefined
      }
      const { uid, deletionTimestamp } = pod.metadata
      const now = context.clock.now()
      const machine = machines.of(node, (name) => context.cache.get(nodeType, { name }) !== undefined)
      if (entry?.worker.uid !== uid) {
        forget(key)
        if (isTerminal(pod)) return removeStopped(pod, context)
        const hostIP = addressOf(node)
        const podIP = isOnHost(pod) ? hostIP : (runtime.sharedAddress ?? addressOfPod(pod))
        if (podIP === undefined) {
          machine.events.event(pod, 'Warning', 'FailedCreatePodSandBox', noAddress)
          return deletionTimestamp === undefined ? { requeueAfterMs: retryMs } : removeStopped(pod, context)
        }
        const allocatable = node.status?.allocatable ?? {}
        entry = {
          worker: new PodWorker(pod, runtime, { machine, allocatable, podIP, now, wake: () => wakeups.wake(pod.metadata) }),
          place: { hostIP, podIP },
          machine,
          problems: '',
          wasAway: false,
        }
        entries.set(key, entry)
      }
      const { worker } = entry
      if (isTerminal(pod) && worker.outcome === undefined) {
        // Another client has set the phase of the Pod to Succeeded or Failed.
        forget(key)
        return removeStopped(pod, context)
      }
      const hasGates = (pod.spec?.readinessGates ?? []).length > 0
      let current = pod
      // While the status is written, further steps can become due, above all with a fake clock. In this case, the loop runs again.
      do {
        recordEvents(entry, current, worker.advance(current, context.clock.now()))
        reportProblems(current, entry, machine.events)
        if (!worker.isChanged && !entry.wasAway && !hasGates) break
        const written = await writeStatus(current, podStatus(worker, current, entry.place), context)
        if (written === undefined) return undefined
        current = written
        worker.isChanged = false
        entry.wasAway = false
      } while (worker.due <= context.clock.now())
      if (worker.end !== undefined) {
        if (!worker.isRemoved(context.clock.now())) return undefined
        addresses.release(uid)
        return deletionTimestamp === undefined ? undefined : removeStopped(pod, context)
      }
      return Number.isFinite(worker.due) ? requeueAt(worker.due, context) : undefined
    },
    deleted(key) {
      forget(formatKey(key))
      return Promise.resolve()
    },
  })
}

function recordEvents({ machine }: Entry, pod: ReadonlyPod, events: readonly PodEvent[]): void {
  for (const { type, reason, message, fieldPath } of events)
    machine.events.event(pod, type, reason, message, fieldPath === undefined ? {} : { fieldPath })
}

function isOnHost({ spec }: ReadonlyPod): boolean {
  return spec?.hostNetwork === true
}

function isTerminal({ status }: ReadonlyPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Records one Event about all errors in the annotations of a Pod. Records another Event only when the errors have changed. */
function reportProblems(pod: ReadonlyPod, entry: Entry, events: EventRecorder): void {
  const text = entry.worker.problems.join('; ')
  if (text !== '' && text !== entry.problems) events.event(pod, 'Warning', 'InvalidSimulation', text)
  entry.problems = text
}

/**
 * Writes `status` if it differs from the current status of the Pod. Resolves with the Pod. Resolves with undefined if another client has
 * changed or deleted the Pod since the kubelet read the Pod. The watch event of that change triggers another reconcile.
 */
async function writeStatus(pod: ReadonlyPod, status: object, { client }: ReconcileContext): Promise<ReadonlyPod | undefined> {
  const { metadata } = pod
  const patch = effectiveMergePatch(pod.status, status)
  if (patch === undefined) return pod
  try {
    return await client.patchStatus(podType, metadata, { status: patch as object, metadata: { resourceVersion: metadata.resourceVersion } })
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return undefined
    throw error
  }
}

/**
 * Completes the deletion of a Pod whose containers have stopped: deletes the Pod with a grace period of 0. If the Pod has finalizers, the
 * object remains. Does nothing for a Pod that is not being deleted.
 */
async function removeStopped({ metadata }: ReadonlyPod, { client }: ReconcileContext): Promise<undefined> {
  if (metadata.deletionTimestamp === undefined || metadata.deletionGracePeriodSeconds === 0) return
  try {
    await client.delete(podType, metadata, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
