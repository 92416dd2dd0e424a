import t from 'tap'
import type { ReadonlyNode, ReadonlyPod } from '../../../../src/devcluster/controllers/scheduler/place-pod.ts'
import { placePod } from '../../../../src/devcluster/controllers/scheduler/place-pod.ts'

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

t.test('a node must match the node selector', async (t) => {
  t.strictSame(place({}, node('a')), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'test' } }, node('a', { labels: { project: 'test' } })), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'other' } }, node('a', { labels: { project: 'test' } })), mismatch)
  t.strictSame(place({}), { problem: 'no nodes available to schedule pods' })
})

t.test('a node must match the required node affinity', async (t) => {
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
  const memory = affinity({ key: 'memory', operator: 'Gt', values: ['4'] })
  t.strictSame(place(memory, node('a', { labels: { memory: '8Gi' } })), mismatch, 'a quantity is not an integer')
  const ten = node('a', { labels: { cores: '10' } })
  for (const [operator, value, fits] of [
    ['Gt', '9', true],
    ['Gt', '10', false],
    ['Lt', '10', false],
    ['Lt', '11', true],
  ] as const)
    t.strictSame(place(affinity({ key: 'cores', operator, values: [value] }), ten), fits ? { node: 'a' } : mismatch, `${operator} ${value}`)
  for (const operator of ['Gt', 'Lt'])
    t.strictSame(place(affinity({ key: 'zone', operator, values: ['0'] }), ten), mismatch, `${operator} of a missing label`)
})

t.test('a node must match one of the terms of the node affinity, and all requirements of the term', async (t) => {
  const affinity = (...nodeSelectorTerms: object[]): object => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  })
  const zone = { key: 'zone', operator: 'In', values: ['x'] }
  const disk = { key: 'disk', operator: 'Exists' }
  const named = (name: string): object => ({ key: 'metadata.name', operator: 'In', values: [name] })
  const labelled = node('a', { labels: { zone: 'x' } })
  const cases: readonly [terms: object[], fits: boolean][] = [
    [[{ matchExpressions: [disk] }, { matchExpressions: [zone] }], true],
    [[{ matchExpressions: [disk, zone] }], false],
    [[{}], false],
    [[{}, { matchExpressions: [zone] }], true],
    [[{ matchFields: [named('a')] }], true],
    [[{ matchFields: [named('b')] }], false],
    [[{ matchExpressions: [zone], matchFields: [named('b')] }], false],
    [[{ matchExpressions: [disk], matchFields: [named('a')] }], false],
    [[{ matchExpressions: [zone], matchFields: [named('a')] }], true],
    [[{ matchExpressions: [named('a')] }], false],
  ]
  for (const [terms, fits] of cases)
    t.strictSame(place(affinity(...terms), labelled), fits ? { node: 'a' } : mismatch, JSON.stringify(terms))
  t.strictSame(place({ nodeSelector: { zone: 'y' }, ...affinity({ matchExpressions: [zone] }) }, labelled), mismatch)
})

t.test('the problem counts the nodes of each reason', async (t) => {
  const cordoned = { spec: { unschedulable: true } }
  t.strictSame(place({ nodeSelector: { a: 'b' } }, node('a', cordoned), node('b'), node('c', cordoned)), {
    problem:
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) were unschedulable. " +
      'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  })
  t.strictSame(place({}, node('a', cordoned), node('b')), { node: 'b' })
})

t.test('a node with a taint requires a toleration', async (t) => {
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
    'a toleration of another effect',
  )
  t.strictSame(place({}, node('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } })), { node: 'a' })
  const two = node('a', {
    spec: {
      taints: [
        { key: 'k', effect: 'NoSchedule' },
        { key: 'l', effect: 'NoExecute' },
      ],
    },
  })
  t.strictSame(place({ tolerations: [{ key: 'k' }] }, two), nowhere('node(s) had untolerated taint(s) {l: }'), 'each taint')
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'v' }] }, two), nowhere('node(s) had untolerated taint(s) {k: }'), 'an empty value')
  t.strictSame(
    place(
      {
        tolerations: [
          { key: 'l', operator: 'Exists' },
          { key: 'k', operator: 'Equal' },
        ],
      },
      two,
    ),
    { node: 'a' },
  )
})

t.test('a node that is cordoned or not ready gets no Pods', async (t) => {
  t.strictSame(place({}, node('a', { spec: { unschedulable: true } })), nowhere('node(s) were unschedulable'))
  t.strictSame(place({}, node('a', { ready: 'Unknown' })), nowhere('node(s) had untolerated taint(s) {node.kubernetes.io/not-ready: }'))
  const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }
  t.strictSame(place({ tolerations: [notReady] }, node('a', { ready: 'False' })), { node: 'a' })
})

t.test('the node with the fewest Pods is preferred', async (t) => {
  const counts: Record<string, number> = { a: 2, b: 1, c: 1 }
  t.strictSame(
    placePod(pod({}), [node('a'), node('c'), node('b')], (name) => counts[name] ?? 0),
    { node: 'b' },
  )
})
