import t from 'tap'
import { podsToDelete } from '../../../../src/devcluster/controllers/workloads/pods-to-delete.ts'
import type { PodTraits } from '../../../support/workloads/objects.ts'
import { podWith } from '../../../support/workloads/objects.ts'

/** Returns the name of the Pod that is deleted first. */
function first(...traits: readonly PodTraits[]): string {
  const pods = traits.map(podWith)
  return podsToDelete(pods, pods, { count: 1, now: 100_000_000 })[0]!.metadata.name
}

t.test('each pair of Pods differs in one rule: the first one is deleted', async (t) => {
  const ready = { readySince: 10 }
  const pairs: readonly (readonly [string, Omit<PodTraits, 'name'>, Omit<PodTraits, 'name'>])[] = [
    ['it has no node', { ...ready, node: '' }, ready],
    ['it is pending', { ...ready, phase: 'Pending' }, ready],
    ['its phase is unknown', { ...ready, phase: 'Unknown' }, ready],
    ['it is not ready', {}, ready],
    ['it costs less', { ...ready, cost: '-5' }, ready],
    ['it has been ready for a shorter time', { readySince: 90_000 }, ready],
    ['it has restarted more often', { ...ready, restarts: 3 }, { ...ready, restarts: 2 }],
    ['it is younger', { ...ready, created: 90_000 }, ready],
  ]
  for (const [reason, one, other] of pairs) {
    t.equal(first({ ...one, name: 'one' }, { ...other, name: 'other' }), 'one', reason)
    t.equal(first({ ...other, name: 'other' }, { ...one, name: 'one' }), 'one', reason)
  }
})

t.test('a Pod beside more related Pods on its node is deleted first', async (t) => {
  const ready = { readySince: 10 }
  t.equal(first({ name: 'a', node: 'x', ...ready }, { name: 'b', node: 'y', ...ready }, { name: 'c', node: 'y', ...ready }), 'b')
})

t.test('if the containers have restarted equally often, the restarts of the sidecars decide', async (t) => {
  const ready = { readySince: 10, restarts: 2 }
  t.equal(first({ name: 'b', ...ready, sidecarRestarts: 3 }, { name: 'a', ...ready, sidecarRestarts: 2 }), 'b')
  t.equal(first({ name: 'b', ...ready, sidecarRestarts: 9 }, { name: 'a', ...ready, restarts: 3 }), 'a')
})

t.test('Pods of similar age are equally old', async (t) => {
  t.equal(first({ name: 'b', readySince: 10, created: 11 }, { name: 'a', readySince: 10, created: 10 }), 'a', 'the uid decides')
  const similar = { readySince: 10, restarts: 3 }
  t.equal(first({ name: 'b', ...similar }, { name: 'a', readySince: 11 }), 'a', 'the uid decides before the number of restarts')
  t.equal(first({ name: 'b', ...similar }, { name: 'a', readySince: 10 }), 'b', 'both have become ready at the same time')
})
