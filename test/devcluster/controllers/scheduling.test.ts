import t from 'tap'
import type { ReadonlyNode, ReadonlyPod } from '../../../src/devcluster/controllers/scheduling.ts'
import { placePod } from '../../../src/devcluster/controllers/scheduling.ts'

function node(name: string, more: { labels?: Record<string, string>; spec?: object; ready?: string } = {}): ReadonlyNode {
  const { labels = {}, spec = {}, ready = 'True' } = more
  return { metadata: { name, labels }, spec, status: { conditions: [{ type: 'Ready', status: ready }] } } as unknown as ReadonlyNode
}
function pod(spec: object): ReadonlyPod {
  return { metadata: { name: 'p' }, spec } as unknown as ReadonlyPod
}
const place = (spec: object, ...nodes: ReadonlyNode[]): unknown => placePod(pod(spec), nodes, () => 0)
const nowhere = (reason: string): object => ({
  problem: `0/1 nodes are available: 1 ${reason}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
})
const mismatch = nowhere("node(s) didn't match Pod's node affinity/selector")

t.test('a Pod goes where its node selector fits', async (t) => {
  t.strictSame(place({}, node('a')), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'test' } }, node('a', { labels: { project: 'test' } })), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'other' } }, node('a', { labels: { project: 'test' } })), mismatch)
  t.strictSame(place({}), { problem: 'no nodes available to schedule pods' })
})

t.test('required node affinity counts', async (t) => {
  const affinity = (expression: object): object => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
    },
  })
  const labelled = node('a', { labels: { zone: 'x', cores: '8' } })
  t.strictSame(place(affinity({ key: 'zone', operator: 'In', values: ['x', 'y'] }), labelled), { node: 'a' })
  t.strictSame(place(affinity({ key: 'zone', operator: 'DoesNotExist' }), labelled), mismatch)
  t.strictSame(place(affinity({ key: 'cores', operator: 'Gt', values: ['4'] }), labelled), { node: 'a' })
  t.strictSame(place(affinity({ key: 'cores', operator: 'Lt', values: ['4'] }), labelled), mismatch)
})

t.test('taints keep off what does not tolerate them', async (t) => {
  const tainted = node('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } })
  t.strictSame(place({}, tainted), nowhere('node(s) had untolerated taint(s) {k: v}'))
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'v' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ operator: 'Exists' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'w' }] }, tainted), nowhere('node(s) had untolerated taint(s) {k: v}'))
  t.strictSame(
    place({ tolerations: [{ key: 'x', operator: 'Exists' }] }, tainted),
    nowhere('node(s) had untolerated taint(s) {k: v}'),
    'a toleration of another key',
  )
  t.strictSame(
    place({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }] }, tainted),
    nowhere('node(s) had untolerated taint(s) {k: v}'),
    'and of another effect',
  )
  t.strictSame(place({}, node('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } })), { node: 'a' })
})

t.test('nodes that are cordoned or not ready get nothing', async (t) => {
  t.strictSame(place({}, node('a', { spec: { unschedulable: true } })), nowhere('node(s) were unschedulable'))
  t.strictSame(place({}, node('a', { ready: 'Unknown' })), nowhere('node(s) had untolerated taint(s) {node.kubernetes.io/not-ready: }'))
})

t.test('the node with the fewest Pods is taken', async (t) => {
  const counts: Record<string, number> = { a: 2, b: 1, c: 1 }
  t.strictSame(
    placePod(pod({}), [node('a'), node('c'), node('b')], (name) => counts[name] ?? 0),
    { node: 'b' },
  )
})
