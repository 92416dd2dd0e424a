import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import {
  compareDaemonPods,
  isUpdated,
  podFor,
  podsByNode,
  targetNode,
  tolerationsOf,
} from '../../../../../src/devcluster/controllers/workloads/daemon-set/pods.ts'
import { daemonPodWith, daemonSetWith, podWith } from '../../../../support/workloads/objects.ts'

t.test('tolerations of the template are kept, and those that every Pod has are permanent', (t) => {
  const own = { key: 'example.com/a', operator: 'Exists' }
  const limited = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
  const keys = (spec: object): string =>
    tolerationsOf(daemonSetWith({ template: { spec } }))
      .map((one) => one.key)
      .join()
  const added = ['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable']
  const all = added.map((name) => `node.kubernetes.io/${name}`)
  t.equal(keys({}), all.join())
  t.equal(keys({ hostNetwork: true }), [...all, 'node.kubernetes.io/network-unavailable'].join())
  t.equal(keys({ tolerations: [own, limited] }), ['example.com/a', ...all].join())
  t.strictSame(tolerationsOf(daemonSetWith({ template: { spec: { tolerations: [limited] } } }))[0], {
    key: limited.key,
    operator: 'Exists',
    effect: 'NoExecute',
  })
  t.end()
})

t.test('the affinity of a Pod selects its node, and keeps the preferences of the template', (t) => {
  const preferred = [{ weight: 1, preference: {} }]
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [] }] },
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }
  const affinity = { nodeAffinity, podAntiAffinity: {} }
  const set = daemonSetWith({ template: { spec: { affinity } } }, { 'deprecated.daemonset.template.generation': '7' })
  const { metadata, spec } = podFor(set, 'n1', 'abc')
  t.strictSame(metadata.labels, { 'pod-template-generation': '7', 'controller-revision-hash': 'abc' })
  t.strictSame(spec?.affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
    podAntiAffinity: {},
  })
  t.equal(targetNode({ spec } as Pod), 'n1')
  t.end()
})

t.test('the node of a Pod is the bound one, or the only one that its affinity selects', (t) => {
  const waiting = (nodeSelectorTerms: unknown) => {
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
    return { ...podWith({ name: 'a', node: '' }), spec: { containers: [], affinity: { nodeAffinity } } } as unknown as Pod
  }
  const field = (...values: string[]) => ({ key: 'metadata.name', operator: 'In', values })
  t.equal(targetNode(podWith({ name: 'a', node: 'n1' })), 'n1')
  t.equal(targetNode(podWith({ name: 'a', node: '' })), undefined)
  t.equal(targetNode(waiting([{}, { matchFields: [field('n2')] }])), 'n2')
  t.equal(targetNode(waiting([{ matchFields: [field('n1', 'n2')] }])), undefined)
  t.equal(targetNode(waiting([{ matchFields: [{ ...field('n1'), operator: 'NotIn' }] }])), undefined)
  t.equal(targetNode(waiting([])), undefined)
  t.end()
})

t.test('a Pod is updated when it has the hash, or the number of the template', (t) => {
  const pod = daemonPodWith({ name: 'a', revision: 'new' })
  const numbered = { ...pod, metadata: { ...pod.metadata, labels: { 'pod-template-generation': '7' } } }
  const set = daemonSetWith({}, { 'deprecated.daemonset.template.generation': '7' })
  t.ok(isUpdated(daemonSetWith({}), pod, 'new'))
  t.notOk(isUpdated(daemonSetWith({}), pod, 'other'))
  t.ok(isUpdated(set, numbered, 'new'))
  t.notOk(isUpdated(daemonSetWith({}, { 'deprecated.daemonset.template.generation': 'seven' }), numbered, 'new'))
  t.end()
})

t.test('bound Pods come first, then older ones; those that have ended and are deleted are omitted', (t) => {
  const pods = [
    podWith({ name: 'd', node: 'n1', created: 2 }),
    podWith({ name: 'c', node: 'n1', created: 1 }),
    podWith({ name: 'b', node: 'n1', created: 1 }),
    podWith({ name: 'a', node: '', created: 0 }),
  ]
  t.strictSame(
    pods.toSorted(compareDaemonPods).map(({ metadata }) => metadata.name),
    ['b', 'c', 'd', 'a'],
  )
  const ended = podWith({ name: 'e', node: 'n2', phase: 'Failed', isDeleted: true })
  t.strictSame(
    [...podsByNode([...pods, ended])].map(([node, some]) => [node, some.length]),
    [['n1', 3]],
  )
  t.end()
})
