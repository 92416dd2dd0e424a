/**
 * A controller that updates Node objects as the kubelets of the nodes would:
 *
 * - Writes the labels and the status of a node that is not ready although its kubelet runs. A node is in this state after a user has
 *   created the node, and after a stopped kubelet has started again.
 * - Records the Events of the kubelets about nodes.
 */
import { node as nodeType } from '../../../api/builtin.ts'
import { findCondition } from '../../../api/conditions.ts'
import { isConflict, isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { EventRecorder } from '../../../telemetry/event-recorder.ts'
import type { ReadonlyNode } from '../api-types.ts'
import { addressOf, hasKubelet, nodeAddress, nodeStatus, ownLabels } from './node.ts'

export interface NodeRegistrationOptions {
  /** The version of the kubelets. */
  readonly version: string
  /** Returns the recorder with which the kubelet of a node records Events. */
  eventsOf(node: string): EventRecorder
}

export function nodeRegistration({ version, eventsOf }: NodeRegistrationOptions): ControllerDefinition {
  /** The value of `spec.unschedulable` at the last reconcile of each node, keyed by the name of the node. */
  const cordoned = new Map<string, boolean>()
  return defineController(nodeType, {
    name: 'node-registration',
    resyncPeriodMs: 0,
    async reconcile(node, { client, cache, clock }) {
      const { metadata, spec, status } = node
      const { name } = metadata
      if (!hasKubelet(node)) return undefined
      const isCordoned = spec?.unschedulable === true
      const report = (reason: string): void => eventsOf(name).event(node, 'Normal', reason, `Node ${name} status is now: ${reason}`)
      // k8s.io/kubernetes/pkg/kubelet: Kubelet.recordNodeSchedulableEvent
      if (isCordoned !== (cordoned.get(name) ?? false)) report(isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable')
      cordoned.set(name, isCordoned)
      if (findCondition(status?.conditions, 'Ready')?.status === 'True') return undefined
      try {
        const labels = { ...ownLabels(name), ...metadata.labels }
        await client.patch(nodeType, { name }, { metadata: { labels } })
        const address = addressOf(node) || freeAddress(cache.list(nodeType))
        await client.patchStatus(
          nodeType,
          { name },
          { status: nodeStatus(name, { address, capacity: status?.capacity, now: clock.now(), version }) },
        )
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) return undefined
        throw error
      }
      report('NodeReady')
      return undefined
    },
    deleted({ name }) {
      cordoned.delete(name)
      return Promise.resolve()
    },
  })
}

/** Returns the first address that no node has. */
function freeAddress(nodes: readonly ReadonlyNode[]): string {
  const taken = new Set(nodes.map(addressOf))
  let index = 0
  while (taken.has(nodeAddress(index))) index += 1
  return nodeAddress(index)
}
