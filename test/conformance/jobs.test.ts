/** Tests of Jobs: their Pods, counters and conditions. */
import t from 'tap'
import { pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { controllerOf } from '../../src/api/owner-reference.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'jobs')

/** Creates a namespace, and returns the key of the Job that the test creates in this namespace. */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'work' }
}

const containers = [{ name: 'main', image: 'example.com/work:1' }]
const podSpec = { restartPolicy: 'Never', containers }
/** The Pods of this template are not scheduled, so the Pods stay active until the Job or the test ends them. */
const endless = { spec: { ...podSpec, nodeSelector: { never: 'there' } } }

function create(key: NamespacedKey, spec: Partial<batch.JobSpec> = {}): Promise<batch.Job> {
  return client.create(batch.job, { metadata: key, spec: { template: { spec: podSpec }, ...spec } })
}

function untilCondition(key: NamespacedKey, type: string, status = 'True'): Promise<batch.Job> {
  return until(`the condition ${type} is ${status}`, async () => {
    const found = await client.get(batch.job, key)
    return findCondition(found.status?.conditions, type)?.status === status && found
  })
}

async function podsOf({ namespace }: NamespacedKey) {
  return (await client.list(podType, { namespace })).items
}

/** Resolves when the Job has `count` Pods that have not ended. */
function untilActive(key: NamespacedKey, count: number) {
  return until(`${count} Pods are active`, async () => {
    const { status } = await client.get(batch.job, key)
    const pods = await podsOf(key)
    return (status?.active ?? 0) === count && pods.length >= count && pods
  })
}

function untilEvent({ namespace }: NamespacedKey, reason: string): Promise<string> {
  return until(`there is an Event with the reason ${reason}`, async () => {
    const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=Job' })
    return items.find((event) => event.reason === reason)?.message
  })
}

t.test('a Job runs Pods until enough of them have succeeded', async (t) => {
  const key = await newKey()
  await create(key, { completions: 3, parallelism: 2 })
  const { metadata, status = {} } = await untilCondition(key, 'Complete')
  t.equal(status.succeeded, 3)
  t.equal(status.failed, undefined)
  t.equal(status.active, undefined)
  t.strictSame([status.ready, status.terminating, status.uncountedTerminatedPods], [0, 0, {}])
  t.ok(status.startTime)
  t.ok(status.completionTime)
  const reason = { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
  t.strictSame(
    status.conditions?.map(({ type }) => type),
    ['SuccessCriteriaMet', 'Complete'],
  )
  for (const condition of status.conditions ?? []) t.match(condition, reason)
  const pods = await podsOf(key)
  t.equal(pods.length, 3)
  for (const pod of pods) {
    t.match(pod.metadata.name, /^work-[a-z0-9]{5}$/)
    t.equal(controllerOf(pod)?.uid, metadata.uid)
    t.equal(pod.metadata.finalizers, undefined)
    t.equal(pod.status?.phase, 'Succeeded')
  }
  t.equal(await untilEvent(key, 'Completed'), 'Job completed')
})

t.test('a Job without completions ends with the first success', async (t) => {
  const key = await newKey()
  await create(key)
  const { spec, status } = await untilCondition(key, 'Complete')
  t.strictSame([spec?.completions, spec?.parallelism, status?.succeeded], [1, 1, 1])
})

t.test('each Pod of an Indexed Job has an index', async (t) => {
  const key = await newKey()
  await create(key, { completionMode: 'Indexed', completions: 3, parallelism: 3 })
  const { status } = await untilCondition(key, 'Complete')
  t.strictSame([status?.succeeded, status?.completedIndexes], [3, '0-2'])
  const pods = (await podsOf(key)).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  t.equal(pods.length, 3)
  for (const [index, { metadata, spec }] of pods.entries()) {
    t.match(metadata.name, new RegExp(`^work-${index}-[a-z0-9]{5}$`))
    t.equal(metadata.annotations?.['batch.kubernetes.io/job-completion-index'], String(index))
    t.equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], String(index))
    t.equal(spec?.hostname, `work-${index}`)
    t.match(spec?.containers[0]?.env, [
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
      },
    ])
  }
})

t.test('a suspended Job has no Pods until it is resumed', async (t) => {
  const key = await newKey()
  await create(key, { suspend: true, template: endless })
  const suspended = await untilCondition(key, 'Suspended')
  t.match(findCondition(suspended.status?.conditions, 'Suspended'), { reason: 'JobSuspended', message: 'Job suspended' })
  t.equal(suspended.status?.startTime, undefined)
  t.strictSame(await podsOf(key), [])
  await client.patch(batch.job, key, { spec: { suspend: false } })
  await untilActive(key, 1)
  const resumed = await untilCondition(key, 'Suspended', 'False')
  t.match(findCondition(resumed.status?.conditions, 'Suspended'), { reason: 'JobResumed', message: 'Job resumed' })
  t.ok(resumed.status?.startTime)
  await client.patch(batch.job, key, { spec: { suspend: true } })
  await until('the Pod is gone', async () => (await podsOf(key)).length === 0)
  const again = await untilCondition(key, 'Suspended')
  t.equal(again.status?.startTime, undefined)
  t.equal(await untilEvent(key, 'Resumed'), 'Job resumed')
})

t.test('a Job with more failed Pods than its limit fails', async (t) => {
  const key = await newKey()
  await create(key, { backoffLimit: 0, template: endless })
  const [pod] = await untilActive(key, 1)
  await client.patchStatus(podType, pod!.metadata, { status: { phase: 'Failed' } })
  const { status } = await untilCondition(key, 'Failed')
  t.strictSame([status?.failed, status?.succeeded, status?.active, status?.completionTime], [1, undefined, undefined, undefined])
  t.strictSame(
    status?.conditions?.map(({ type, reason }) => [type, reason]),
    [
      ['FailureTarget', 'BackoffLimitExceeded'],
      ['Failed', 'BackoffLimitExceeded'],
    ],
  )
  t.equal(await untilEvent(key, 'BackoffLimitExceeded'), 'Job has reached the specified backoff limit')
  await until('the failed Pod has no finalizer', async () => (await podsOf(key))[0]?.metadata.finalizers === undefined)
})

t.test('a Job that is active for longer than its deadline fails, and its Pods are deleted', async (t) => {
  const key = await newKey()
  await create(key, { activeDeadlineSeconds: 1, parallelism: 2, completions: 2, template: endless })
  const { status } = await untilCondition(key, 'Failed')
  t.match(findCondition(status?.conditions, 'Failed'), {
    reason: 'DeadlineExceeded',
    message: 'Job was active longer than specified deadline',
  })
  t.equal(status?.failed, 2)
  await until('the Pods are gone', async () => (await podsOf(key)).length === 0)
})

t.test('a Pod that is deleted counts as failed', async () => {
  const key = await newKey()
  await create(key, { template: endless })
  const [pod] = await untilActive(key, 1)
  await client.delete(podType, pod!.metadata)
  await until('the Pod is counted', async () => (await client.get(batch.job, key)).status?.failed === 1)
  await until('the Pod is gone', async () => !(await podsOf(key)).some(({ metadata }) => metadata.uid === pod!.metadata.uid))
})

t.test('a smaller parallelism deletes Pods', async (t) => {
  const key = await newKey()
  await create(key, { parallelism: 3, completions: 5, template: endless })
  await untilActive(key, 3)
  await client.patch(batch.job, key, { spec: { parallelism: 1 } })
  await untilActive(key, 1)
  await until('one Pod is left', async () => (await podsOf(key)).length === 1)
  t.match(await untilEvent(key, 'SuccessfulDelete'), /^Deleted pod: work-/)
})

t.test('the Pods of a deleted Job are deleted, although they have a finalizer', async () => {
  const key = await newKey()
  await create(key, { template: endless })
  await untilActive(key, 1)
  await client.delete(batch.job, key, { propagationPolicy: 'Background' })
  await until('the Pods are gone', async () => (await podsOf(key)).length === 0)
})

t.test('a finished Job is deleted after its time to live', async () => {
  const key = await newKey()
  await create(key, { ttlSecondsAfterFinished: 0 })
  await until('the Job is gone', async () => (await client.list(batch.job, { namespace: key.namespace })).items.length === 0)
  await until('its Pods are gone', async () => (await podsOf(key)).length === 0)
})

t.test('a Job that another controller manages is left alone', async (t) => {
  const key = await newKey()
  const other = await newKey()
  await create(key, { managedBy: 'example.com/jobs' })
  await create(other)
  await untilCondition(other, 'Complete')
  t.strictSame(await podsOf(key), [])
  t.strictSame((await client.get(batch.job, key)).status, {})
})
