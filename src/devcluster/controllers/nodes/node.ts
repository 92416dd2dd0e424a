/** The Node objects of the simulated nodes, and the status that their kubelets post. */
import { node as nodeType } from '../../../api/builtin.ts'
import type { Node } from '../../../api/builtin.ts'
import { formatTime } from '../../../api/conditions.ts'
import type { ObjectInput } from '../../../api/object.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { Client } from '../../../client/client.ts'
import type { ReadonlyNode } from '../api-types.ts'
import { simulationPrefix } from '../kubelet/simulated/simulation.ts'

export interface NodeOptions {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly NodeTaint[]
  /** Resources of the node, e.g. `{ cpu: '2', pods: '10' }`. Each resource replaces the default of the same name. */
  readonly capacity?: Readonly<Record<string, string>>
}

export interface NodeTaint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

const defaultName = 'proreus-node'
const zones = ['zone-a', 'zone-b', 'zone-c']

/**
 * Returns `count` nodes with the label `project=test`. If `count` is greater than 1, the nodes are distributed over up to three zones of
 * one region.
 */
export function numberedNodes(count: number): readonly NodeOptions[] {
  const topology = (index: number): Readonly<Record<string, string>> => ({
    'topology.kubernetes.io/region': 'local',
    'topology.kubernetes.io/zone': zones[index % zones.length]!,
  })
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? defaultName : `${defaultName}-${index + 1}`,
    labels: { project: 'test', ...(count > 1 && topology(index)) },
  }))
}

export const defaultNodes: readonly NodeOptions[] = numberedNodes(1)

/**
 * The value `stopped` of this annotation stops the kubelet of a node: the kubelet posts no status, and the Pods on the node do not change.
 */
export const kubeletAnnotation = `${simulationPrefix}/kubelet`

/** Returns true when the kubelet of the node runs. */
export function hasKubelet({ metadata }: ReadonlyNode): boolean {
  return metadata.annotations?.[kubeletAnnotation] !== 'stopped'
}

/** Returns the IP address of the simulated node with index `index`. Nothing listens at this address. */
export function nodeAddress(index: number): string {
  const number = index + 1
  return `10.0.${number >> 8}.${number & 0xff}`
}

/** Returns the internal IP address in the status of a node. If the status contains no internal IP address, returns an empty string. */
export function addressOf({ status }: ReadonlyNode): string {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
}

/**
 * Creates the nodes that do not exist, and updates the status of the existing nodes. After the call, all nodes in `nodes` have the
 * condition Ready.
 */
export async function registerNodes(
  client: Client,
  nodes: readonly NodeOptions[],
  options: { readonly now: number; readonly version: string },
): Promise<void> {
  await Promise.all(
    nodes.map(async (node, index) => {
      const status = nodeStatus(node.name, { ...options, address: nodeAddress(index), capacity: node.capacity })
      try {
        // The patch is tried first, and the create request is sent only if the node does not exist. If the cluster has run before, the node
        // exists, and a webhook from the earlier run could reject the create request.
        await client.patchStatus(nodeType, { name: node.name }, { status })
      } catch (error) {
        if (!isNotFound(error)) throw error
        // The create request contains the status. Without the condition Ready, admission would add a taint that prevents scheduling.
        await client.create(nodeType, { ...nodeObject(node), status } as ObjectInput<Node>)
      }
    }),
  )
}

function nodeObject({ name, labels, taints }: NodeOptions): ObjectInput<Node> {
  return {
    metadata: { name, labels: { ...ownLabels(name), ...labels } },
    spec: { ...(taints !== undefined && { taints: [...taints] }) },
  }
}

/** Returns the labels that each kubelet adds to its node. */
export function ownLabels(name: string): Readonly<Record<string, string>> {
  const arch = architecture()
  return {
    'kubernetes.io/arch': arch,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
  }
}

function architecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch
}

const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }

export interface NodeState {
  readonly address: string
  readonly capacity?: Readonly<Record<string, string>> | undefined
  readonly now: number
  readonly version: string
}

/** Returns the status that the kubelet of a node posts. */
export function nodeStatus(name: string, { address, capacity, now, version }: NodeState): object {
  const time = formatTime(now)
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  })
  const total = { ...resources, ...capacity }
  return {
    capacity: total,
    allocatable: total,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    nodeInfo: {
      architecture: architecture(),
      operatingSystem: 'linux',
      osImage: 'Proreus (simulated)',
      kernelVersion: 'simulated',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: version,
      kubeProxyVersion: version,
      bootID: '',
      machineID: '',
      systemUUID: '',
    },
  }
}
