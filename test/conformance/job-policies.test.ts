/**
 * Tests of Jobs with policies for failures, for success and for the replacement of Pods. No node matches the Pods, so the Pods are never
 * scheduled. To end a Pod, a test writes the status of the Pod.
 */
import t from 'tap'
import type { Pod } from '../../src/api/builtin.ts'
import { pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'job-policies')

const container = { name: 'main', image: 'example.com/work:1' }
const template = { spec: { restartPolicy: 'Never', containers: [container], nodeSelector: { never: 'there' } } }
const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
const failureCount = 'batch.kubernetes.io/job-index-failure-count'
const ignoredFailureCount = 'batch.kubernetes.io/job-index-ignored-failure-count'
/** The time at which containers end in these tests. It is so long ago that no back-off delays the next Pod. */
const longAgo = '2020-01-01T00:00:00Z'

/** The condition of a Pod that was evicted. */
const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastTransitionTime: longAgo }

/** Creates a Job in a new namespace. Resolves when its Pods exist. */
async function create(spec: Partial<batch.JobSpec>): Promise<NamespacedKey> {
  const namespace = await newNamespace()
  const key = { namespace, name: 'work' }
  await client.create(batch.job, { metadata: key, spec: { template, ...spec } })
  await untilActive(key, spec.parallelism ?? 1)
  return key
}

async function podsOf({ namespace }: NamespacedKey): Promise<readonly Pod[]> {
  return (await client.list(podType, { namespace })).items
}

const indexOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.['batch.kubernetes.io/job-completion-index']
const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded'

async function activeOf(key: NamespacedKey): Promise<readonly Pod[]> {
  return (await podsOf(key)).filter(isActive)
}

/** Resolves with the active Pods of the Job when there are `count` of them. */
function untilActive(key: NamespacedKey, count: number): Promise<readonly Pod[]> {
  return until(`${count} Pods are active`, async () => {
    const pods = await activeOf(key)
    return pods.length === count && pods
  })
}

/** Resolves with an active Pod of the Job, but not with the Pod `other`. If `index` is given, the Pod has this index. */
function nextPod(key: NamespacedKey, index?: number, other?: Pod): Promise<Pod> {
  return until('the Pod is active', async () => {
    const pods = await activeOf(key)
    return pods.find(
      (pod) => indexOf(pod) === (index === undefined ? undefined : String(index)) && pod.metadata.uid !== other?.metadata.uid,
    )
  })
}

/** Ends the Pod with an exit code. */
function end(pod: Pod, exitCode: number, conditions: readonly (typeof disrupted)[] = []): Promise<unknown> {
  const terminated = { exitCode, startedAt: longAgo, finishedAt: longAgo }
  const containerStatus = { ...container, imageID: '', ready: false, restartCount: 0, state: { terminated } }
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
  const status = { phase, conditions: [...conditions], containerStatuses: [containerStatus] }
  return client.patchStatus(podType, pod.metadata, { status })
}

function untilStatus(
  key: NamespacedKey,
  what: string,
  isReached: (status: NonNullable<batch.Job['status']>) => boolean,
): Promise<batch.Job> {
  return until(what, async () => {
    const job = await client.get(batch.job, key)
    return isReached(job.status ?? {}) && job
  })
}

function untilCondition(key: NamespacedKey, type: string): Promise<batch.Job> {
  return untilStatus(key, `the condition ${type} is true`, ({ conditions }) => findCondition(conditions, type)?.status === 'True')
}

function untilEvent({ namespace }: NamespacedKey, reason: string): Promise<{ type?: string; message?: string }> {
  return until(`there is an Event with the reason ${reason}`, async () => {
    const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=Job' })
    return items.find((event) => event.reason === reason)
  })
}

const conditionsOf = ({ status }: batch.Job): readonly unknown[] => (status?.conditions ?? []).map(({ type, reason }) => [type, reason])

const disruption = [{ type: 'DisruptionTarget', status: 'True' }]

t.test('an exit code fails the Job', async (t) => {
  const rules = [
    { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } },
    { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'NotIn', values: [2, 3] } },
  ]
  const key = await create({ parallelism: 2, completions: 2, podFailurePolicy: { rules } })
  const pod = await nextPod(key)
  await end(pod, 42)
  const job = await untilCondition(key, 'Failed')
  t.strictSame(conditionsOf(job), [
    ['FailureTarget', 'PodFailurePolicy'],
    ['Failed', 'PodFailurePolicy'],
  ])
  const message = `Container main for pod ${key.namespace}/${pod.metadata.name} failed with exit code 42 matching FailJob rule at index 1`
  t.equal(findCondition(job.status?.conditions, 'Failed')?.message, message)
  t.match(await untilEvent(key, 'PodFailurePolicy'), { type: 'Warning', message })
  t.equal(job.status?.failed, 2)
})

t.test('a condition of a Pod fails the Job', async (t) => {
  const key = await create({ podFailurePolicy: { rules: [{ action: 'FailJob', onPodConditions: disruption }] } })
  const pod = await nextPod(key)
  await end(pod, 1, [disrupted])
  const { status } = await untilCondition(key, 'Failed')
  const message = `Pod ${key.namespace}/${pod.metadata.name} has condition DisruptionTarget matching FailJob rule at index 0`
  t.equal(findCondition(status?.conditions, 'Failed')?.message, message)
})

t.test('an ignored failure does not count, and the Pod is replaced', async (t) => {
  const rules = [
    { action: 'Ignore', onPodConditions: disruption },
    { action: 'Count', onExitCodes: { operator: 'In', values: [7] } },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [7, 8] } },
  ]
  const key = await create({ backoffLimit: 0, podFailurePolicy: { rules } })
  const first = await nextPod(key)
  await end(first, 8, [disrupted])
  const second = await nextPod(key, undefined, first)
  await until('the first Pod has no finalizer', async () => {
    const pod = await client.get(podType, first.metadata)
    return pod.metadata.finalizers === undefined
  })
  const { status } = await client.get(batch.job, key)
  t.strictSame([status?.failed, status?.conditions, status?.uncountedTerminatedPods], [undefined, undefined, {}])
  await end(second, 7)
  const job = await untilCondition(key, 'Failed')
  t.equal(findCondition(job.status?.conditions, 'Failed')?.reason, 'BackoffLimitExceeded')
  t.equal(job.status?.failed, 1)
})

t.test('a Pod that is being deleted is replaced when it has failed', async (t) => {
  const key = await create({ podReplacementPolicy: 'Failed' })
  const first = await nextPod(key)
  await client.delete(podType, first.metadata)
  const waiting = await untilStatus(key, 'the Pod is terminating', ({ terminating, active }) => terminating === 1 && active === undefined)
  t.equal(waiting.status?.failed, undefined)
  t.equal((await podsOf(key)).length, 1)
  await end(first, 1)
  const second = await nextPod(key, undefined, first)
  await until('the first Pod is gone', async () => (await podsOf(key)).length === 1)
  const replaced = await untilStatus(key, 'the failure is counted', ({ failed }) => failed === 1)
  t.equal(replaced.status?.terminating, 0)
  await end(second, 0)
  await untilCondition(key, 'Complete')
})

t.test('each index has its own back-off limit', async (t) => {
  const key = await create({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 })
  t.equal((await client.get(batch.job, key)).spec?.backoffLimit, 2 ** 31 - 1)
  const first = await nextPod(key, 0)
  t.equal(first.metadata.annotations?.[failureCount], '0')
  await end(first, 1)
  const second = await nextPod(key, 0, first)
  t.equal(second.metadata.annotations?.[failureCount], '1')
  const before = await untilStatus(key, 'one failure is counted', ({ failed }) => failed === 1)
  t.equal(before.status?.failedIndexes, '')
  await until('the first Pod has no finalizer', async () => (await client.get(podType, first.metadata)).metadata.finalizers === undefined)
  await end(second, 1)
  const { status } = await untilStatus(key, 'the index has failed', ({ failedIndexes, failed }) => failedIndexes === '0' && failed === 2)
  t.equal(status?.conditions, undefined)
  await end(await nextPod(key, 1), 0)
  const job = await untilCondition(key, 'Failed')
  t.strictSame(conditionsOf(job), [
    ['FailureTarget', 'FailedIndexes'],
    ['Failed', 'FailedIndexes'],
  ])
  t.match(job.status, { succeeded: 1, failed: 2, completedIndexes: '1', failedIndexes: '0' })
  t.match(await untilEvent(key, 'FailedIndexes'), { type: 'Warning', message: 'Job has failed indexes' })
})

t.test('a failed Pod keeps its finalizer until its index is tried again', async (t) => {
  const key = await create({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 5 })
  const first = await nextPod(key, 0)
  // The status does not contain the time at which the container ended. The controller therefore uses the current time, and waits for ten
  // seconds before it creates the next Pod.
  await client.patchStatus(podType, first.metadata, { status: { phase: 'Failed' } })
  await untilStatus(key, 'no Pod is active', ({ active, ready }) => active === undefined && ready === 0)
  t.strictSame((await client.get(podType, first.metadata)).metadata.finalizers, [trackingFinalizer])
  t.equal((await client.get(batch.job, key)).status?.failed, undefined)
  await client.patch(batch.job, key, { spec: { activeDeadlineSeconds: 1 } })
  const job = await untilCondition(key, 'Failed')
  t.equal(job.status?.failed, 1)
  t.equal((await client.get(podType, first.metadata)).metadata.finalizers, undefined)
})

t.test('an ignored failure of an index is counted apart', async (t) => {
  const podFailurePolicy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [5] } }] }
  const key = await create({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 0, podFailurePolicy })
  const first = await nextPod(key, 0)
  await end(first, 5)
  const second = await nextPod(key, 0, first)
  t.match(second.metadata.annotations, { [failureCount]: '0', [ignoredFailureCount]: '1' })
  await end(second, 6)
  const { status } = await untilCondition(key, 'Failed')
  t.match(status, { failed: 1, failedIndexes: '0' })
})

t.test('an exit code fails an index', async (t) => {
  const podFailurePolicy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [5] } }] }
  const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 9, podFailurePolicy }
  const key = await create(spec)
  await end(await nextPod(key, 1), 5)
  await untilStatus(key, 'the index has failed', ({ failedIndexes }) => failedIndexes === '1')
  for (const index of [0, 2]) await end(await nextPod(key, index), 0)
  const job = await untilCondition(key, 'Failed')
  t.match(job.status, { succeeded: 2, failed: 1, completedIndexes: '0,2', failedIndexes: '1' })
})

t.test('too many failed indexes fail the Job', async (t) => {
  const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 1 }
  const key = await create({ completionMode: 'Indexed', completions: 4, parallelism: 4, ...limits })
  await end(await nextPod(key, 0), 1)
  await untilStatus(key, 'one index has failed', ({ failedIndexes }) => failedIndexes === '0')
  await end(await nextPod(key, 2), 1)
  const job = await untilCondition(key, 'Failed')
  t.strictSame(conditionsOf(job), [
    ['FailureTarget', 'MaxFailedIndexesExceeded'],
    ['Failed', 'MaxFailedIndexesExceeded'],
  ])
  t.match(job.status, { failed: 4, failedIndexes: '0,2' })
  const message = 'Job has exceeded the specified maximal number of failed indexes'
  t.match(await untilEvent(key, 'MaxFailedIndexesExceeded'), { type: 'Warning', message })
})

t.test('a success policy completes the Job early', async (t) => {
  const successPolicy = { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }, { succeededIndexes: '3' }, { succeededCount: 4 }] }
  const key = await create({ completionMode: 'Indexed', completions: 5, parallelism: 5, successPolicy })
  await end(await nextPod(key, 0), 0)
  const before = await untilStatus(key, 'an index has succeeded', ({ completedIndexes }) => completedIndexes === '0')
  t.equal(before.status?.conditions, undefined)
  await end(await nextPod(key, 3), 0)
  const job = await untilCondition(key, 'Complete')
  t.strictSame(conditionsOf(job), [
    ['SuccessCriteriaMet', 'SuccessPolicy'],
    ['Complete', 'SuccessPolicy'],
  ])
  t.equal(findCondition(job.status?.conditions, 'Complete')?.message, 'Matched rules at index 1')
  t.match(job.status, { succeeded: 2, completedIndexes: '0,3', completionTime: String })
  t.strictSame([job.status?.failed, job.status?.active], [undefined, undefined])
  await until('the other Pods are gone', async () => (await podsOf(key)).length === 2)
  t.match(await untilEvent(key, 'Completed'), { type: 'Normal', message: 'Job completed' })
})

t.test('a number of indexes is enough for a success policy', async (t) => {
  const successPolicy = { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }] }
  const key = await create({ completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy })
  for (const index of [2, 0]) await end(await nextPod(key, index), 0)
  const job = await untilCondition(key, 'Complete')
  t.match(job.status, { succeeded: 2, completedIndexes: '0,2' })
})

t.test('Pods that the Job itself deletes have not failed', async (t) => {
  const key = await create({ parallelism: 3, completions: 5 })
  await client.patch(batch.job, key, { spec: { parallelism: 1 } })
  await untilActive(key, 1)
  await client.patch(batch.job, key, { spec: { suspend: true } })
  await until('no Pod is left', async () => (await podsOf(key)).length === 0)
  const { status } = await untilStatus(key, 'no Pod is active', ({ active, terminating }) => active === undefined && terminating === 0)
  t.equal(status?.failed, undefined)
})

t.test('a Job continues after two thousand million completed indexes', async (t) => {
  const namespace = await newNamespace()
  const key = { namespace, name: 'work' }
  const spec = { template, completionMode: 'Indexed', completions: 2 ** 31 - 1, parallelism: 2 } as const
  await client.create(batch.job, { metadata: key, spec: { ...spec, suspend: true } })
  await client.patch(batch.job, key, { status: { completedIndexes: '0-2147483640' } } as object, { subresource: 'status' })
  await client.patch(batch.job, key, { spec: { suspend: false } } as object)
  t.strictSame((await untilActive(key, 2)).map(indexOf).toSorted(), ['2147483641', '2147483642'])
  const { succeeded, completedIndexes } = await until('the indexes are counted', async () => {
    const { status } = await client.get(batch.job, key)
    return status?.active === 2 && status
  })
  t.strictSame([succeeded, completedIndexes], [2147483641, '0-2147483640'])
})
