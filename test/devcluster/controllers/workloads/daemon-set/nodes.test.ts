import t from 'tap'
import type { Node } from '../../../../../src/api/builtin.ts'
import { fitOf } from '../../../../../src/devcluster/controllers/workloads/daemon-set/nodes.ts'
import { daemonSetWith } from '../../../../support/workloads/objects.ts'

function nodeWith(labels: object, ...taints: readonly (readonly [string, string])[]): Node {
  return { metadata: { name: 'n1', labels }, spec: { taints: taints.map(([key, effect]) => ({ key, effect })) } } as unknown as Node
}

t.test('labels, names and taints of a node decide', (t) => {
  const [run, stay, leave] = [
    [true, true],
    [false, true],
    [false, false],
  ]
  const tolerations = [{ key: 'a', operator: 'Exists' }]
  const cases: readonly (readonly [object, Node, unknown])[] = [
    [{}, nodeWith({}), run],
    [{ nodeSelector: { a: 'b' } }, nodeWith({ a: 'b' }), run],
    [{ nodeSelector: { a: 'b' } }, nodeWith({}), leave],
    [{ nodeName: 'n1' }, nodeWith({}), run],
    [{ nodeName: 'n2' }, nodeWith({}), leave],
    [{}, nodeWith({}, ['a', 'NoSchedule']), stay],
    [{}, nodeWith({}, ['a', 'NoExecute']), leave],
    [{}, nodeWith({}, ['a', 'PreferNoSchedule']), run],
    [{ tolerations }, nodeWith({}, ['a', 'NoExecute']), run],
    [{}, nodeWith({}, ['node.kubernetes.io/unschedulable', 'NoSchedule']), run],
    [{}, nodeWith({}, ['node.kubernetes.io/not-ready', 'NoExecute']), run],
    [{}, nodeWith({}, ['node.kubernetes.io/network-unavailable', 'NoSchedule']), stay],
  ]
  for (const [spec, node, expected] of cases) {
    const { shouldRun, shouldContinue } = fitOf(daemonSetWith({ template: { spec } }), node)
    t.strictSame([shouldRun, shouldContinue], expected, JSON.stringify([spec, node.spec]))
  }
  t.end()
})
