import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import { podsByNode } from '../../../../../src/devcluster/controllers/workloads/daemon-set/pods.ts'
import { updateLimits, updateStep } from '../../../../../src/devcluster/controllers/workloads/daemon-set/rolling-update.ts'
import { daemonPodWith, daemonSetWith } from '../../../../support/workloads/objects.ts'

const now = 10_000

function setWith(rollingUpdate: object) {
  return daemonSetWith({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
}

/**
 * Returns the state of a DaemonSet with Pods on the nodes n1, n2, …. Each text in `nodes` describes one node: `o` is an old Pod, `n` is a
 * new Pod, and an upper-case letter is an available Pod. A node with `!` should have no Pod.
 */
function stateOf(rollingUpdate: object, ...nodes: readonly string[]) {
  const pods: Pod[] = []
  const fits = new Map<string, { shouldRun: boolean; shouldContinue: boolean }>()
  for (const [index, text] of nodes.entries()) {
    const node = `n${index + 1}`
    fits.set(node, { shouldRun: !text.includes('!'), shouldContinue: true })
    for (const letter of text.replace('!', '')) {
      const revision = letter.toLowerCase() === 'o' ? 'old' : 'new'
      const name = `${node}${letter}${pods.length}`
      pods.push(daemonPodWith({ name, node, revision, ...(letter === letter.toUpperCase() && { readySince: 0 }) }))
    }
  }
  return { set: setWith(rollingUpdate), pods: podsByNode(pods), fits, hash: 'new', now }
}

function stepOf(rollingUpdate: object, ...nodes: readonly string[]): string {
  const step = updateStep(stateOf(rollingUpdate, ...nodes))
  return [...step.create.map((node) => `+${node}`), ...step.delete.map(({ metadata }) => `-${metadata.name.slice(0, 3)}`)].join(' ')
}

t.test('limits are numbers or percentages of the nodes, rounded up, and one of them is not 0', (t) => {
  t.strictSame(updateLimits(setWith({ maxUnavailable: 2, maxSurge: 0 }), 5), { unavailable: 2, surge: 0 })
  t.strictSame(updateLimits(setWith({ maxUnavailable: '30%', maxSurge: '10%' }), 4), { unavailable: 2, surge: 1 })
  t.strictSame(updateLimits(setWith({ maxUnavailable: 0, maxSurge: 0 }), 4), { unavailable: 1, surge: 0 })
  t.strictSame(updateLimits(setWith({ maxUnavailable: 0, maxSurge: 0 }), 0), { unavailable: 0, surge: 0 })
  t.strictSame(updateLimits(daemonSetWith({ updateStrategy: { type: 'OnDelete' } }), 4), { unavailable: 0, surge: 0 })
  t.end()
})

t.test('without a surge, old Pods are deleted within the limit of unavailable ones', (t) => {
  const cases: readonly (readonly [number, readonly string[], string])[] = [
    [1, ['O', 'O', 'O'], '-n1O'],
    [2, ['O', 'O', 'O'], '-n1O -n2O'],
    [1, ['n', 'O', 'O'], ''],
    [2, ['n', 'O', 'O'], '-n2O'],
    [1, ['N', 'O', 'O'], '-n2O'],
    [1, ['O', 'o', 'O'], '-n2o'],
    [1, ['', 'O', 'O'], ''],
    [1, ['OO', 'O'], ''],
    [1, ['N', 'N'], ''],
    [5, ['O', 'o'], '-n2o -n1O'],
  ]
  for (const [maxUnavailable, nodes, expected] of cases) t.equal(stepOf({ maxUnavailable, maxSurge: 0 }, ...nodes), expected, nodes.join())
  t.end()
})

t.test('with a surge, new Pods are created beside old ones, which are deleted when the new ones are available', (t) => {
  const cases: readonly (readonly [number, readonly string[], string])[] = [
    [1, ['O', 'O', 'O'], '+n1'],
    [2, ['O', 'O', 'O'], '+n1 +n2'],
    [1, ['On', 'O', 'O'], ''],
    [1, ['ON', 'O', 'O'], '+n2 -n1O'],
    [1, ['O', 'o', 'O'], '+n2 +n1'],
    [1, ['OO', 'O'], ''],
    [1, ['N', 'N'], ''],
    [1, ['!O', 'O'], '+n2 -n1O'],
    [1, ['!O', 'n'], ''],
    [1, ['!o', 'N'], '-n1o'],
    [1, ['!O', 'N'], '-n1O'],
  ]
  for (const [maxSurge, nodes, expected] of cases) t.equal(stepOf({ maxUnavailable: 0, maxSurge }, ...nodes), expected, nodes.join())
  t.end()
})
