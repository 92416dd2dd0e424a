import t from 'tap'
import { countFields, counted, countsOf, settled, tallyOf } from '../../../../../src/devcluster/controllers/workloads/job/counts.ts'
import { jobWith, podWith } from '../../../../support/workloads/objects.ts'

const names = (pods: readonly { metadata: { name: string } }[]): string[] => pods.map(({ metadata }) => metadata.name)

t.test('a Pod is counted once: first by its uid, and as a number when its finalizer is gone', async (t) => {
  const job = jobWith({})
  const pods = [podWith({ name: 'a', phase: 'Succeeded' }), podWith({ name: 'b', phase: 'Failed' }), podWith({ name: 'c' })]
  const first = counted(job, tallyOf(job, pods), false)
  t.strictSame(first, {
    succeeded: 0,
    failed: 0,
    uncounted: { succeeded: ['a'], failed: ['b'] },
    indexes: undefined,
    failedIndexes: undefined,
  })
  const written = jobWith({}, { uncountedTerminatedPods: first.uncounted })
  t.strictSame(counted(written, tallyOf(written, pods), false), first, 'nothing is counted twice')
  t.strictSame(settled(first, pods), first, 'the Pods still have their finalizers')
  const released = [podWith({ name: 'a', phase: 'Succeeded', isTracked: false }), podWith({ name: 'c' })]
  t.strictSame(settled(first, released), {
    succeeded: 1,
    failed: 1,
    uncounted: { succeeded: [], failed: [] },
    indexes: undefined,
    failedIndexes: undefined,
  })
})

t.test('a process that was ended goes on with the uids in the status', async (t) => {
  const job = jobWith({}, { succeeded: 2, failed: 1, uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } })
  const pods = [podWith({ name: 'a', phase: 'Succeeded', isTracked: false }), podWith({ name: 'b', phase: 'Failed' })]
  const counts = settled(countsOf(job), pods)
  t.strictSame(counts, {
    succeeded: 3,
    failed: 1,
    uncounted: { succeeded: [], failed: ['b'] },
    indexes: undefined,
    failedIndexes: undefined,
  })
  t.strictSame(tallyOf(job, pods).ended, { succeeded: [], failed: [] })
})

t.test('a Pod that is being deleted has failed, unless only Pods that have ended are replaced', async (t) => {
  const pods = [podWith({ name: 'a', isDeleted: true }), podWith({ name: 'b', isDeleted: true, phase: 'Succeeded' })]
  const failed = (spec: object): string[] => names(tallyOf(jobWith(spec), pods).ended.failed)
  t.strictSame(failed({}), ['a'])
  t.strictSame(failed({ podReplacementPolicy: 'Failed' }), [])
  t.strictSame(failed({ podFailurePolicy: { rules: [] } }), [])
})

t.test('when a Job has failed, all its Pods have, apart from those that have succeeded', async (t) => {
  const job = jobWith({})
  const pods = [podWith({ name: 'a' }), podWith({ name: 'b', phase: 'Succeeded' }), podWith({ name: 'c', isTracked: false })]
  t.strictSame(counted(job, tallyOf(job, pods), true).uncounted, { succeeded: ['b'], failed: ['a'] })
})

t.test('the indexes of an Indexed Job count, and each one once', async (t) => {
  const job = jobWith({ completionMode: 'Indexed', completions: 4 }, { completedIndexes: '0' })
  const pods = [
    podWith({ name: 'a', index: 2, phase: 'Succeeded' }),
    podWith({ name: 'b', index: 2, phase: 'Succeeded' }),
    podWith({ name: 'c', index: 9, phase: 'Succeeded' }),
    podWith({ name: 'd', index: 1, phase: 'Failed' }),
    podWith({ name: 'e', index: 7, phase: 'Failed' }),
    podWith({ name: 'f', phase: 'Succeeded' }),
  ]
  const counts = counted(job, tallyOf(job, pods), false)
  t.equal(String(counts.indexes), '0,2')
  t.strictSame(counts.uncounted, { succeeded: [], failed: ['d'] })
  t.strictSame(countFields(counts), {
    succeeded: 2,
    failed: 0,
    uncountedTerminatedPods: { succeeded: null, failed: ['d'] },
    completedIndexes: '0,2',
  })
})
