/** Tests of the taints that the node lifecycle controller adds and removes, and of the zones in which it evicts no Pods. */
import t from 'tap'
import { changedTaints } from '../../../../src/devcluster/controllers/nodes/node-taints.ts'
import { evictsPods } from '../../../../src/devcluster/controllers/nodes/zone-state.ts'
import type { ReadonlyNode } from '../../../../src/devcluster/controllers/api-types.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const timeAdded = '2026-01-01T00:00:00Z'
const taint = (name: string, effect: string): object => ({ key: `node.kubernetes.io/${name}`, effect })
const added = (name: string, effect: string): object => ({ ...taint(name, effect), timeAdded })

function nodeWith(conditions: Record<string, string>, spec: object = {}, labels: Record<string, string> = {}): ReadonlyNode {
  const list = Object.entries(conditions).map(([type, status]) => ({ type, status }))
  return { metadata: { name: 'n', labels }, spec, status: { conditions: list } } as unknown as ReadonlyNode
}

t.test('the taints of a node follow its conditions, and taints of users are kept', (t) => {
  const own = { key: 'mine', effect: 'NoExecute' }
  const unreachable = [taint('unreachable', 'NoSchedule'), taint('unreachable', 'NoExecute')]
  const cases: [conditions: Record<string, string>, spec: object, evicts: boolean, expected: object[] | undefined][] = [
    [{ Ready: 'True', MemoryPressure: 'False' }, {}, true, undefined],
    [{ Ready: 'True' }, { taints: [own] }, true, undefined],
    [{ Ready: 'False' }, {}, true, [added('not-ready', 'NoSchedule'), added('not-ready', 'NoExecute')]],
    [{ Ready: 'False' }, {}, false, [added('not-ready', 'NoSchedule')]],
    [{ Ready: 'Unknown' }, { taints: [own] }, true, [own, added('unreachable', 'NoSchedule'), added('unreachable', 'NoExecute')]],
    [{ Ready: 'Unknown' }, { taints: unreachable }, true, undefined],
    [{ Ready: 'True' }, { taints: [own, ...unreachable] }, true, [own]],
    [{ Ready: 'False' }, { taints: unreachable }, true, [added('not-ready', 'NoSchedule'), added('not-ready', 'NoExecute')]],
    [{ Ready: 'True', DiskPressure: 'True' }, {}, true, [added('disk-pressure', 'NoSchedule')]],
    [{ Ready: 'True' }, { unschedulable: true }, true, [added('unschedulable', 'NoSchedule')]],
    [{ Ready: 'True' }, { taints: [taint('unschedulable', 'NoSchedule')] }, true, []],
  ]
  for (const [conditions, spec, evicts, expected] of cases)
    t.strictSame(changedTaints(nodeWith(conditions, spec), { evicts, now }), expected, JSON.stringify([conditions, spec, evicts]))
  t.end()
})

t.test('no Pods are evicted while all nodes, or most nodes of a small zone, are not ready', (t) => {
  const nodes = (zone: string, ready: number, unready: number): ReadonlyNode[] =>
    Array.from({ length: ready + unready }, (_, index) =>
      nodeWith({ Ready: index < ready ? 'True' : 'Unknown' }, {}, { 'topology.kubernetes.io/zone': zone }),
    )
  const cases: [zone: [ready: number, unready: number], others: [ready: number, unready: number], expected: boolean][] = [
    [[0, 1], [0, 0], false],
    [[0, 3], [0, 2], false],
    [[0, 3], [1, 0], true],
    [[1, 2], [0, 0], true],
    [[2, 3], [0, 0], false],
    [[3, 3], [0, 0], true],
    [[20, 31], [0, 0], true],
  ]
  for (const [zone, others, expected] of cases) {
    const own = nodes('a', ...zone)
    t.equal(evictsPods(own.at(-1)!, [...own, ...nodes('b', ...others)]), expected, JSON.stringify([zone, others]))
  }
  t.end()
})
