import t from 'tap'
import { podsToRemove } from '../../../../../src/devcluster/controllers/workloads/job/pods-to-remove.ts'
import { isOfJob, podOf } from '../../../../../src/devcluster/controllers/workloads/job/pods.ts'
import { jobWith, podWith } from '../../../../support/workloads/objects.ts'

t.test('Pods without a valid index and repeated indexes go first, the Pod that is ready stays', async (t) => {
  const job = jobWith({ completionMode: 'Indexed', completions: 3 })
  const pods = [
    podWith({ name: 'a', index: 0, readySince: 1 }),
    podWith({ name: 'b', index: 1, readySince: 1 }),
    podWith({ name: 'c', index: 1 }),
    podWith({ name: 'd', index: 3 }),
    podWith({ name: 'e' }),
    podWith({ name: 'f', index: 2 }),
  ]
  const removed = (count: number): string[] => podsToRemove(job, pods, count, 10_000).map(({ metadata }) => metadata.name)
  t.strictSame(removed(0).toSorted(), ['c', 'd', 'e'])
  t.strictSame(removed(3).toSorted(), ['c', 'd', 'e'])
  t.strictSame(removed(4).toSorted(), ['c', 'd', 'e', 'f'])
  t.strictSame(podsToRemove(jobWith({}), pods, 1, 10_000).length, 1)
})

t.test('the names of the Pods of a Job with a long name keep their index', async (t) => {
  const job = jobWith({ template: { metadata: { labels: { a: 'b' }, finalizers: ['x/y'] }, spec: { containers: [] } } })
  const long = { ...job, metadata: { ...job.metadata, name: 'n'.repeat(63) } }
  const { metadata } = podOf(long, 12)
  t.equal(metadata.generateName, `${'n'.repeat(54)}-12-`)
  t.strictSame(metadata.labels, { a: 'b', 'batch.kubernetes.io/job-completion-index': '12' })
  t.strictSame(metadata.finalizers, ['x/y', 'batch.kubernetes.io/job-tracking'])
  t.equal(podOf(job).metadata.generateName, 'work-')
})

t.test('a variable of the template with the index is kept', async (t) => {
  const containers = [{ name: 'main', env: [{ name: 'JOB_COMPLETION_INDEX', value: 'own' }] }, { name: 'other' }]
  const { spec } = podOf(jobWith({ template: { spec: { containers, initContainers: [{ name: 'init' }] } } }), 1)
  t.strictSame(
    spec?.containers.map(({ env }) => env?.map(({ name, value }) => [name, value])),
    [[['JOB_COMPLETION_INDEX', 'own']], [['JOB_COMPLETION_INDEX', undefined]]],
  )
  t.equal(spec?.initContainers?.[0]?.env?.length, 1)
})

t.test('a Job of another API group is another type', async (t) => {
  const ownedBy = (apiVersion: string) => {
    const pod = podWith({ name: 'a' })
    const ownerReferences = [{ apiVersion, kind: 'Job', name: 'work', uid: 'job', controller: true }]
    return { ...pod, metadata: { ...pod.metadata, ownerReferences } }
  }
  t.strictSame(
    [isOfJob(ownedBy('batch/v1')), isOfJob(ownedBy('batch.volcano.sh/v1')), isOfJob(podWith({ name: 'a' }))],
    [true, false, false],
  )
})
