/** Creates the Node objects of the simulated nodes, with their status. */
import { node as nodeType } from '../../api/builtin.ts'
import type { Node } from '../../api/builtin.ts'
import { formatTime } from '../../api/conditions.ts'
import type { ObjectInput } from '../../api/object.ts'
import { isNotFound } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'

export interface NodeOptions {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

export const defaultNodes: readonly NodeOptions[] = [{ name: 'proreus-node', labels: { project: 'test' } }]

/** Returns the IP address of a simulated node. Nothing listens at this address. */
export function nodeAddress(index: number): string {
  return `10.0.${index >> 8}.${(index & 0xff) + 1}`
}

/** Creates the nodes that do not exist, and updates the status of the existing nodes. All nodes have the condition Ready. */
export async function registerNodes(
  client: Client,
  nodes: readonly NodeOptions[],
  options: { readonly now: number; readonly version: string },
): Promise<void> {
  await Promise.all(
    nodes.map(async (node, index) => {
      const status = nodeStatus(node.name, nodeAddress(index), options)
      try {
        // A node of an earlier run is updated without a request to create it, which a webhook of that run could reject.
        await client.patchStatus(nodeType, { name: node.name }, { status })
      } catch (error) {
        if (!isNotFound(error)) throw error
        // The status is part of the create request: without the condition Ready, admission would add a taint that prevents scheduling.
        await client.create(nodeType, { ...nodeObject(node), status } as ObjectInput<Node>)
      }
    }),
  )
}

function nodeObject({ name, labels }: NodeOptions): ObjectInput<Node> {
  const arch = architecture()
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': arch,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'beta.kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': 'linux',
        ...labels,
      },
    },
    spec: {},
  }
}

function architecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch
}

const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }

function nodeStatus(name: string, address: string, { now, version }: { readonly now: number; readonly version: string }): object {
  const time = formatTime(now)
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  })
  return {
    capacity: resources,
    allocatable: resources,
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
