/** Tests of the scheduler: the nodes that it chooses, and its messages about Pods that fit on no node. */
import t from 'tap'
import type { Pod } from '../../src/api/builtin.ts'
import { event, node, pod } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-scheduling'
const key = (name: string): { name: string; namespace: string } => ({ namespace, name })
const zone = (value: string): Record<string, string> => ({ 'topology.kubernetes.io/zone': value })
const capacity = { cpu: '2', memory: '2Gi', pods: '5' }
const image = 'example.com/app:1'
const containers = [{ name: 'main', image }]
const requesting = (cpu: string): object => ({ containers: [{ name: 'main', image, resources: { requests: { cpu } } }] })
const matching = (app: string): object => ({ labelSelector: { matchLabels: { app } } })

t.test('Pods are scheduled', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, {
    namespaces: [namespace],
    nodes: [
      { name: 'a', labels: { ...zone('x'), disk: 'ssd' }, capacity },
      { name: 'b', labels: zone('y'), capacity },
      { name: 'c', labels: zone('y'), capacity, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
    ],
  })
  const create = (name: string, spec: object, labels: Record<string, string> = {}): Promise<Pod> =>
    client.create(pod, { metadata: { ...key(name), labels }, spec: { containers, ...spec } } as never)
  const placed = (name: string): Promise<string> =>
    until(`${name} has a node`, async () => {
      const found = await client.get(pod, key(name))
      return found.status?.phase === 'Running' && found.spec?.nodeName
    })
  /** Creates a Pod that fits on no node. Returns the message that an Event and a condition report about the Pod. */
  const problem = async (name: string, spec: object, labels: Record<string, string> = {}): Promise<string> => {
    await create(name, spec, labels)
    const message = await until(`${name} is reported`, async () => {
      const scheduled = findCondition((await client.get(pod, key(name))).status?.conditions, 'PodScheduled')
      return scheduled?.reason === 'Unschedulable' && scheduled.message
    })
    await until('there is an Event', async () => {
      const { items } = await client.list(event, { namespace, fieldSelector: `involvedObject.name=${name}` })
      return items.some(({ reason, message: text, type }) => reason === 'FailedScheduling' && type === 'Warning' && text === message)
    })
    await client.delete(pod, key(name), { gracePeriodSeconds: 0 })
    return message
  }
  const notHelpful = 'Preemption is not helpful for scheduling'
  const noVictims = 'No preemption victims found for incoming pod'
  const nowhere = (reasons: string, preemption: string): string =>
    `0/3 nodes are available: ${reasons}. no new claims to deallocate, preemption: 0/3 nodes are available: ${preemption}.`
  const tainted = '1 node(s) had untolerated taint(s)'

  await t.test('by node selector, node affinity, taints and resources', async (t) => {
    await create('selected', { nodeSelector: { disk: 'ssd' } })
    t.equal(await placed('selected'), 'a')
    const term = { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['x'] }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
    await create('affine', { affinity: { nodeAffinity } })
    t.equal(await placed('affine'), 'b')
    t.strictSame((await client.get(pod, key('affine'))).metadata.labels, zone('y'), 'the Pod has the topology labels of its node')
    const named = await create('named', { nodeName: 'a' }, { ...zone('other'), app: 'named' })
    t.strictSame(named.metadata.labels, { ...zone('x'), app: 'named' })
    await create('tolerant', { tolerations: [{ key: 'gpu', operator: 'Exists' }], nodeName: undefined, ...requesting('1500m') })
    const big = await placed('tolerant')
    t.match(big, /^[abc]$/)
    const own = "2 node(s) didn't match Pod's node affinity/selector"
    t.equal(await problem('no-node', { nodeSelector: { disk: 'tape' } }), nowhere(`${tainted}, ${own}`, `3 ${notHelpful}`))
    t.equal(await problem('too-big', requesting('3')), nowhere(`${tainted}, 2 Insufficient cpu`, `3 ${notHelpful}`))
    const full = await problem('full', {
      ...requesting('1800m'),
      nodeSelector: { 'kubernetes.io/hostname': big },
      tolerations: [{ operator: 'Exists' }],
    })
    t.equal(full, nowhere("1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector", `1 ${noVictims}, 2 ${notHelpful}`))
    for (const name of ['selected', 'affine', 'named', 'tolerant']) await client.delete(pod, key(name), { gracePeriodSeconds: 0 })
  })

  await t.test('by anti-affinity and affinity of Pods', async (t) => {
    const term = { ...matching('web'), topologyKey: 'kubernetes.io/hostname' }
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
    const near = {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ ...matching('db'), topologyKey: 'topology.kubernetes.io/zone' }],
        },
      },
    }
    for (const name of ['web-1', 'web-2']) await create(name, apart, { app: 'web' })
    t.strictSame([await placed('web-1'), await placed('web-2')].sort(), ['a', 'b'])
    t.equal(
      await problem('web-3', apart, { app: 'web' }),
      nowhere(`${tainted}, 2 node(s) didn't match pod anti-affinity rules`, `1 ${notHelpful}, 2 ${noVictims}`),
    )
    t.equal(
      await problem('web-4', {}, { app: 'web' }),
      nowhere(`${tainted}, 2 node(s) didn't satisfy existing pods anti-affinity rules`, `1 ${notHelpful}, 2 ${noVictims}`),
    )
    t.equal(await problem('lonely', near), nowhere(`${tainted}, 2 node(s) didn't match pod affinity rules`, `3 ${notHelpful}`))
    for (const name of ['web-1', 'web-2']) await client.delete(pod, key(name), { gracePeriodSeconds: 0 })
    await create('db', { nodeSelector: zone('y') }, { app: 'db' })
    t.equal(await placed('db'), 'b')
    await create('near', near)
    t.equal(await placed('near'), 'b')
    for (const name of ['db', 'near']) await client.delete(pod, key(name), { gracePeriodSeconds: 0 })
  })

  await t.test('by topology spread constraints', async (t) => {
    const constraint = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', ...matching('spread') }
    const spread = { topologySpreadConstraints: [constraint] }
    for (const name of ['s-1', 's-2', 's-3', 's-4']) await create(name, spread, { app: 'spread' })
    const nodes = await Promise.all(['s-1', 's-2', 's-3', 's-4'].map(placed))
    t.strictSame(nodes.sort(), ['a', 'a', 'b', 'b'])
    await client.patch(node, { name: 'a' }, { spec: { unschedulable: true } })
    await create('s-5', spread, { app: 'spread' })
    t.equal(await placed('s-5'), 'b')
    // kube-controller-manager adds a taint to the cordoned node. Therefore, the message also names an untolerated taint.
    const skewed = await problem('s-6', spread, { app: 'spread' })
    t.equal(
      skewed,
      nowhere(
        "1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
        `1 ${noVictims}, 2 ${notHelpful}`,
      ),
    )
    const cordoned = await until('the node has the taint', async () => {
      const { spec } = await client.get(node, { name: 'a' })
      return (spec?.taints ?? []).length > 0 && spec?.taints
    })
    t.match(cordoned, [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: /Z$/ }])
    await client.patch(node, { name: 'a' }, { spec: { unschedulable: null } } as never)
    await until('the taint is gone', async () => ((await client.get(node, { name: 'a' })).spec?.taints ?? []).length === 0)
  })
})
