import t from 'tap'
import { statusOf } from '../../../../../src/devcluster/controllers/workloads/stateful-set/status.ts'
import { statefulPodWith, statefulSetWith } from '../../../../support/workloads/objects.ts'

const now = 10_000
const state = { current: 'old', update: 'new', deletedForUpdate: 0 }
const ready = { readySince: 0 }

t.test('the status counts Pods by state and revision', (t) => {
  const set = statefulSetWith({ replicas: 4, minReadySeconds: 5 })
  const pods = [
    statefulPodWith(0, { ...ready, revision: 'old' }),
    statefulPodWith(1, { readySince: 8, revision: 'old' }),
    statefulPodWith(2, { ...ready, revision: 'old', isDeleted: true }),
    statefulPodWith(3, { phase: 'Pending' }),
  ]
  const status = {
    observedGeneration: 1,
    replicas: 4,
    readyReplicas: 3,
    availableReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 1,
    currentRevision: 'old',
    updateRevision: 'new',
  }
  t.strictSame(statusOf(set, pods, state, now), status)
  t.strictSame(statusOf(set, pods, { ...state, deletedForUpdate: 1 }, now), { ...status, currentReplicas: 1 })
  t.equal(statusOf(set, pods, { current: 'none', update: 'new', deletedForUpdate: 1 }, now).currentReplicas, 0)
  t.end()
})

t.test('the update is complete when all Pods have its revision and are ready', (t) => {
  const pods = [statefulPodWith(0, ready), statefulPodWith(1, ready)]
  const complete = { currentRevision: 'new', currentReplicas: 2 }
  t.match(statusOf(statefulSetWith({ replicas: 2 }), pods, state, now), complete)
  const incomplete = { currentRevision: 'old', currentReplicas: 0 }
  t.match(statusOf(statefulSetWith({ replicas: 3 }), pods, state, now), incomplete)
  t.match(statusOf(statefulSetWith({ replicas: 2 }), [pods[0]!, statefulPodWith(1)], state, now), incomplete)
  t.match(statusOf(statefulSetWith({ replicas: 2, updateStrategy: { type: 'OnDelete' } }), pods, state, now), incomplete)
  t.end()
})
