/** Nodes without kubelets. The Pods of the workloads are scheduled on these nodes. */
import { node as nodeType, pod as podType } from '../../../../src/api/builtin.ts'
import type { Client } from '../../../../src/client/client.ts'
import { kubeletAnnotation } from '../../../../src/devcluster/controllers/nodes/node.ts'
import { until } from '../../../../src/testing/until.ts'

/** The nodes for the Pods of DaemonSets. The node `main` is for all other Pods. */
export const daemonNodes = ['daemon-1', 'daemon-2'] as const
const taints = [{ key: 'daemons', value: 'only', effect: 'NoSchedule' }]
const names = ['main', ...daemonNodes]

/**
 * The interval of the heartbeats in milliseconds. kube-controller-manager considers a node unreachable after 50 seconds without a
 * heartbeat.
 */
const heartbeatMs = 10_000

/**
 * Creates the nodes, and waits until Pods can be scheduled on each node. Then starts the heartbeats of the nodes. The returned function
 * stops the heartbeats.
 */
export async function startNodes(client: Client): Promise<() => void> {
  for (const name of names) {
    const isMain = name === 'main'
    const metadata = {
      name,
      annotations: { [kubeletAnnotation]: 'stopped' },
      labels: { role: isMain ? 'main' : 'daemon', 'kubernetes.io/hostname': name },
    }
    await client.create(nodeType, { metadata, spec: isMain ? {} : { taints }, status: status() } as never)
    await client.patchStatus(nodeType, { name }, { status: status() } as never)
  }
  await schedulesPods(client)
  const timer = setInterval(() => {
    // A failed heartbeat needs no retry, because the next heartbeat follows on time.
    for (const name of names) client.patchStatus(nodeType, { name }, { status: status() } as never).catch(() => undefined)
  }, heartbeatMs)
  return () => clearInterval(timer)
}

function status(): object {
  const time = new Date().toISOString().replace(/\.\d+/, '')
  const resources = { cpu: '64', memory: '256Gi', pods: '500' }
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
  return {
    capacity: resources,
    allocatable: resources,
    conditions: [{ ...ready, lastHeartbeatTime: time, lastTransitionTime: time }],
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  }
}

/** Resolves when each node has received a Pod. A new node has a taint until kube-controller-manager has seen the node's status. */
async function schedulesPods(client: Client): Promise<void> {
  for (const name of names) {
    const key = { namespace: 'default', name: `probe-${name}` }
    const spec = {
      containers: [{ name: 'main', image: 'example.com/app:1' }],
      nodeSelector: { 'kubernetes.io/hostname': name },
      tolerations: [{ key: 'daemons', operator: 'Exists' }],
    }
    await client.create(podType, { metadata: key, spec } as never)
    await until(`${name} has a Pod`, async () => (await client.get(podType, key)).spec?.nodeName === name)
    await client.delete(podType, key, { gracePeriodSeconds: 0 })
  }
}
