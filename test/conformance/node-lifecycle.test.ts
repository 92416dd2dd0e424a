/** Tests of the control plane's reactions to a node whose kubelet stops updating the status. */
import t from 'tap'
import { event, node, pod } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-away'
const key = { namespace, name: 'lost' }
/**
 * The time limit in milliseconds for each reaction of the control plane. kube-controller-manager reacts only after it has waited 50 s for a
 * heartbeat of the kubelet.
 */
const graceMs = 120_000
t.setTimeout(3 * graceMs)

t.test('a node without a kubelet becomes unreachable, and its Pods are evicted', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, {
    namespaces: [namespace],
    nodes: [{ name: 'here' }],
    simulation: { nodeGraceMs: 3000 },
  })
  const now = new Date().toISOString().replace(/\.\d+/, '')
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'fine', lastHeartbeatTime: now, lastTransitionTime: now }
  const annotations = { 'simulate.proreus.dev/kubelet': 'stopped' }
  await client.create(node, { metadata: { name: 'away', annotations }, status: { conditions: [ready] } } as never)
  const tolerations = ['not-ready', 'unreachable'].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }))
  const containers = [{ name: 'main', image: 'example.com/app:1' }]
  await client.create(pod, { metadata: key, spec: { nodeName: 'away', containers, tolerations } } as never)
  const podReady = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: now }
  await client.patchStatus(pod, key, { status: { phase: 'Running', conditions: [podReady] } } as never)

  const unknown = await until(
    'the conditions are unknown',
    async () => {
      const { status } = await client.get(node, { name: 'away' })
      return findCondition(status?.conditions, 'Ready')?.status === 'Unknown' && status?.conditions
    },
    graceMs,
  )
  t.match(findCondition(unknown, 'Ready'), {
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  })
  t.match(findCondition(unknown, 'MemoryPressure'), {
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
  })
  const taints = await until('there are taints', async () => {
    const { spec } = await client.get(node, { name: 'away' })
    const own = (spec?.taints ?? []).filter(({ key: name }) => name === 'node.kubernetes.io/unreachable')
    return own.length === 2 && own
  })
  t.strictSame(taints.map(({ effect }) => effect).sort(), ['NoExecute', 'NoSchedule'])
  const evicted = await until(
    'the Pod is evicted',
    async () => {
      const found = await client.get(pod, key)
      return found.metadata.deletionTimestamp !== undefined && found
    },
    graceMs,
  )
  t.match(findCondition(evicted.status?.conditions, 'Ready'), { status: 'False' })
  t.match(findCondition(evicted.status?.conditions, 'DisruptionTarget'), {
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  })
  const expected = ['Node NodeNotReady', 'Node RegisteredNode', 'Pod NodeNotReady', 'Pod TaintManagerEviction']
  await until('there are Events', async () => {
    const found = (await client.list(event)).items.filter(({ involvedObject }) => ['away', 'lost'].includes(involvedObject.name ?? ''))
    const reasons = new Set(found.map(({ involvedObject, reason }) => `${involvedObject.kind} ${reason}`))
    return expected.every((one) => reasons.has(one))
  })
  await client.delete(node, { name: 'away' })
  await until('the Pod is deleted with its node', async () => (await client.list(pod, { namespace })).items.length === 0, graceMs)
})
