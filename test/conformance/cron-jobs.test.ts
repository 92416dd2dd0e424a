/**
 * Tests of CronJobs. No test waits for a scheduled time. Instead, a test creates a CronJob with a daily schedule whose last scheduled time
 * was a few minutes ago. The test sets the `lastScheduleTime` of the CronJob to an earlier day, so the CronJob has missed its last
 * scheduled time.
 */
import t from 'tap'
import { pod as podType } from '../../src/api/builtin.ts'
import { formatTime } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { isInvalid } from '../../src/client/api-error.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'cron-jobs')

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const containers = [{ name: 'main', image: 'example.com/work:1' }]
const quick: batch.JobSpec = { template: { spec: { restartPolicy: 'Never', containers } } }
/** The Pods of this Job are not scheduled, so the Job stays active until the test ends it. */
const endless: batch.JobSpec = {
  backoffLimit: 0,
  template: { spec: { restartPolicy: 'Never', containers, nodeSelector: { never: 'there' } } },
}

/** Returns the time `minutes` minutes ago, rounded down to a full minute. */
function minutesAgo(minutes: number): number {
  return Math.floor(systemClock.now() / minuteMs - minutes) * minuteMs
}

/** Returns a schedule for every day, with the hour and the minute that `time` has in UTC. */
function dailyAt(time: number): string {
  const date = new Date(time)
  return `${date.getUTCMinutes()} ${date.getUTCHours()} * * *`
}

/**
 * Creates a CronJob in a new namespace. By default, the CronJob is scheduled every day at the hour and minute of `time`. The
 * `lastScheduleTime` is `days` days before `time`, so the CronJob has missed `days` scheduled times. The controller starts a Job only for
 * the last of these times, which is `time`.
 */
async function dueSince(time: number, days: number, spec: Partial<batch.CronJobSpec> = {}): Promise<NamespacedKey> {
  const namespace = await newNamespace()
  const key = { namespace, name: 'nightly' }
  const own = { schedule: dailyAt(time), timeZone: 'Etc/UTC', jobTemplate: { spec: quick }, ...spec }
  await client.create(batch.cronJob, { metadata: key, spec: { ...own, suspend: true } })
  await client.patchStatus(batch.cronJob, key, { status: { lastScheduleTime: formatTime(time - days * dayMs) } })
  await client.patch(batch.cronJob, key, { spec: { suspend: spec.suspend ?? false } })
  return key
}

async function jobsOf({ namespace }: NamespacedKey): Promise<readonly batch.Job[]> {
  return (await client.list(batch.job, { namespace })).items
}

async function namesOf(key: NamespacedKey): Promise<readonly string[]> {
  return (await jobsOf(key)).map(({ metadata }) => metadata.name)
}

const nameAt = (time: number): string => `nightly-${time / minuteMs}`

function untilStatus(
  key: NamespacedKey,
  what: string,
  isReached: (status: NonNullable<batch.CronJob['status']>) => boolean,
): Promise<batch.CronJob> {
  return until(what, async () => {
    const cronJob = await client.get(batch.cronJob, key)
    return isReached(cronJob.status ?? {}) && cronJob
  })
}

/** Resolves with the CronJob when the Job for `time` is active. */
function untilActive(key: NamespacedKey, time: number): Promise<batch.CronJob> {
  return untilStatus(key, 'the Job is active', ({ active = [] }) => active.length === 1 && active[0]?.name === nameAt(time))
}

async function eventsOf({ namespace }: NamespacedKey): Promise<readonly { type?: string; reason?: string; message?: string }[]> {
  return (await client.list(core.event, { namespace, fieldSelector: 'involvedObject.kind=CronJob' })).items
}

function untilEvent(key: NamespacedKey, reason: string): Promise<{ type?: string; message?: string }> {
  return until(`there is an Event with the reason ${reason}`, async () => (await eventsOf(key)).find((event) => event.reason === reason))
}

/**
 * Changes the schedule of the CronJob to the hour and minute of `time`, which is in the past. Then changes a label of the CronJob
 * repeatedly until `isReached` resolves to true.
 *
 * When the schedule changes, the controller starts no Job for `time`. The controller considers `time` only when the CronJob changes again,
 * so the function changes a label. One change of the label is not always sufficient, because the controller may process several changes
 * together.
 */
async function reschedule(key: NamespacedKey, time: number, what: string, isReached: () => Promise<boolean>): Promise<void> {
  await client.patch(batch.cronJob, key, { spec: { schedule: dailyAt(time) } })
  let changes = 0
  await until(what, async () => {
    changes += 1
    await client.patch(batch.cronJob, key, { metadata: { labels: { changes: String(changes) } } })
    return await isReached()
  })
}

const hasEvent = async (key: NamespacedKey, reason: string): Promise<boolean> =>
  (await eventsOf(key)).some((event) => event.reason === reason)

t.test('a CronJob starts one Job for the last time that it missed', async (t) => {
  const time = minutesAgo(1)
  const metadata = { labels: { app: 'nightly' }, annotations: { note: 'own' } }
  const key = await dueSince(time, 2, { timeZone: 'Etc/UTC', jobTemplate: { metadata, spec: quick } })
  const done = await untilStatus(
    key,
    'the Job has succeeded',
    (status) => status.lastSuccessfulTime !== undefined && status.active === undefined,
  )
  t.equal(done.status?.lastScheduleTime, formatTime(time))
  const [job, ...others] = await jobsOf(key)
  t.strictSame(others, [])
  t.equal(job?.metadata.name, nameAt(time))
  t.equal(done.status?.lastSuccessfulTime, job?.status?.completionTime)
  t.match(job?.metadata.labels, { app: 'nightly' })
  t.strictSame(job?.metadata.annotations, { note: 'own', 'batch.kubernetes.io/cronjob-scheduled-timestamp': formatTime(time) })
  t.strictSame(job?.metadata.ownerReferences, [controllerReference(done)])
  t.match(await untilEvent(key, 'SuccessfulCreate'), { type: 'Normal', message: `Created job ${nameAt(time)}` })
  const completed = `Saw completed job: ${nameAt(time)}, condition: Complete`
  t.match(await untilEvent(key, 'SawCompletedJob'), { type: 'Normal', message: completed })
})

t.test('a running Job is listed as active, until it has failed', async (t) => {
  const time = minutesAgo(1)
  const key = await dueSince(time, 1, { jobTemplate: { spec: endless } })
  const { status } = await untilActive(key, time)
  const [job] = await jobsOf(key)
  const { uid } = job!.metadata
  t.match(status?.active, [
    { apiVersion: 'batch/v1', kind: 'Job', namespace: key.namespace, name: nameAt(time), uid, resourceVersion: /^\d+$/ },
  ])
  const pod = await until('its Pod is there', async () => (await client.list(podType, { namespace: key.namespace })).items[0])
  await client.patchStatus(podType, pod.metadata, { status: { phase: 'Failed' } })
  const failed = await untilStatus(key, 'no Job is active', ({ active }) => active === undefined)
  t.equal(failed.status?.lastSuccessfulTime, undefined)
  t.equal((await untilEvent(key, 'SawCompletedJob')).message, `Saw completed job: ${nameAt(time)}, condition: Failed`)
})

t.test('the schedule is in the time zone of the CronJob', async (t) => {
  const time = minutesAgo(1)
  const offset = 5.5 * 60 * minuteMs
  const key = await dueSince(time, 1, { schedule: dailyAt(time + offset), timeZone: 'Asia/Kolkata' })
  const [job] = await until('the Job is there', async () => {
    const jobs = await jobsOf(key)
    return jobs.length > 0 && jobs
  })
  t.equal(job?.metadata.name, nameAt(time))
  const scheduled = formatTime(time + offset).replace('Z', '+05:30')
  t.equal(job?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'], scheduled)
})

t.test('many missed times are reported, and only the last one is made up for', async (t) => {
  const time = minutesAgo(1)
  const many = await dueSince(time, 102)
  await untilStatus(many, 'the Job is started', ({ lastScheduleTime }) => lastScheduleTime === formatTime(time))
  t.match(await untilEvent(many, 'TooManyMissedTimes'), {
    type: 'Warning',
    message: 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  })
  t.strictSame(await namesOf(many), [nameAt(time)])
  const few = await dueSince(time, 90)
  await untilEvent(few, 'SuccessfulCreate')
  t.strictSame(await namesOf(few), [nameAt(time)])
  t.notOk(await hasEvent(few, 'TooManyMissedTimes'))
})

t.test('neither a suspended CronJob nor one whose deadline has passed starts a Job', async (t) => {
  const time = minutesAgo(3)
  const suspended = await dueSince(time, 1, { suspend: true })
  const late = await dueSince(time, 1, { startingDeadlineSeconds: 60 })
  const punctual = await dueSince(time, 1, { startingDeadlineSeconds: 3600 })
  await untilStatus(punctual, 'the Job is started', ({ lastScheduleTime }) => lastScheduleTime === formatTime(time))
  for (const key of [suspended, late]) {
    t.strictSame(await jobsOf(key), [])
    t.equal((await client.get(batch.cronJob, key)).status?.lastScheduleTime, formatTime(time - dayMs))
  }
  await client.patch(batch.cronJob, suspended, { spec: { suspend: false } })
  await until('the Job is started', async () => (await namesOf(suspended))[0] === nameAt(time))
})

t.test('the concurrency policy decides what happens to an active Job', async (t) => {
  const [first, second] = [minutesAgo(4), minutesAgo(2)]
  const key = await dueSince(first, 1, { concurrencyPolicy: 'Forbid', jobTemplate: { spec: endless } })
  await untilActive(key, first)
  await reschedule(key, second, 'a second Job is forbidden', () => hasEvent(key, 'JobAlreadyActive'))
  t.match(await untilEvent(key, 'JobAlreadyActive'), {
    type: 'Normal',
    message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
  })
  t.strictSame(await namesOf(key), [nameAt(first)])
  await client.patch(batch.cronJob, key, { spec: { concurrencyPolicy: 'Replace' } })
  const { status } = await untilActive(key, second)
  t.equal(status?.lastScheduleTime, formatTime(second))
  await until('the first Job is gone', async () => (await namesOf(key)).join() === nameAt(second))
  t.match(await untilEvent(key, 'SuccessfulDelete'), { type: 'Normal', message: `Deleted job ${nameAt(first)}` })
  const third = minutesAgo(1)
  await client.patch(batch.cronJob, key, { spec: { concurrencyPolicy: 'Allow' } })
  // If this test changes the CronJob at the same time as the controller, the controller's write of the status can fail with a conflict.
  // `reschedule` therefore changes a label of the CronJob before each check, so that the controller writes the status again.
  const activeJobs = async (): Promise<number> => (await client.get(batch.cronJob, key)).status?.active?.length ?? 0
  await reschedule(key, third, 'two Jobs are active', async () => (await activeJobs()) === 2)
  t.strictSame(await namesOf(key), [nameAt(second), nameAt(third)])
})

t.test('a forbidden Job is started when the active one has ended', async () => {
  const [first, second] = [minutesAgo(4), minutesAgo(2)]
  const key = await dueSince(first, 1, { concurrencyPolicy: 'Forbid', jobTemplate: { spec: endless } })
  await untilActive(key, first)
  await reschedule(key, second, 'a second Job is forbidden', () => hasEvent(key, 'JobAlreadyActive'))
  const [pod] = (await client.list(podType, { namespace: key.namespace })).items
  await client.patchStatus(podType, pod!.metadata, { status: { phase: 'Failed' } })
  await untilActive(key, second)
})

t.test('an active Job that is deleted is missed', async (t) => {
  const time = minutesAgo(1)
  const key = await dueSince(time, 1, { jobTemplate: { spec: endless } })
  await untilActive(key, time)
  await client.delete(batch.job, { namespace: key.namespace, name: nameAt(time) }, { propagationPolicy: 'Background' })
  await untilStatus(key, 'no Job is active', ({ active }) => active === undefined)
  t.match(await untilEvent(key, 'MissingJob'), { type: 'Normal', message: `Active job went missing: ${nameAt(time)}` })
  t.strictSame(await jobsOf(key), [])
})

t.test('finished Jobs beyond the history limits are deleted, also those that were created by hand', async (t) => {
  const key = await dueSince(minutesAgo(1), 1, { suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 })
  const cronJob = await client.get(batch.cronJob, key)
  const createJob = (name: string, spec: batch.JobSpec): Promise<batch.Job> => {
    const ownerReferences = [controllerReference(cronJob)]
    return client.create(batch.job, { metadata: { namespace: key.namespace, name, ownerReferences }, spec })
  }
  await createJob('hanging', endless)
  const message = 'Saw a job that the controller did not create or forgot: hanging'
  t.match(await untilEvent(key, 'UnexpectedJob'), { type: 'Warning', message })
  await createJob('one', quick)
  await untilStatus(key, 'the first Job has succeeded', ({ lastSuccessfulTime }) => lastSuccessfulTime !== undefined)
  await createJob('two', quick)
  await until('the older Job is gone', async () => (await namesOf(key)).join() === 'hanging,two')
  const pods = (await client.list(podType, { namespace: key.namespace })).items
  const hanging = pods.find(({ metadata }) => metadata.name.startsWith('hanging-'))
  await client.patchStatus(podType, hanging!.metadata, { status: { phase: 'Failed' } })
  await until('the failed Job is gone', async () => (await namesOf(key)).join() === 'two')
  t.equal((await client.get(batch.cronJob, key)).status?.active, undefined)
})

t.test('a Job of the same name that another one has created is left alone', async (t) => {
  const time = minutesAgo(1)
  const key = await dueSince(time, 1, { suspend: true })
  await client.create(batch.job, { metadata: { namespace: key.namespace, name: nameAt(time) }, spec: quick })
  await client.patch(batch.cronJob, key, { spec: { suspend: false } })
  const other = await dueSince(time, 1)
  await untilEvent(other, 'SawCompletedJob')
  t.strictSame(await namesOf(key), [nameAt(time)])
  t.equal((await client.get(batch.cronJob, key)).status?.lastScheduleTime, formatTime(time - dayMs))
})

t.test('a schedule that never selects a time is reported', async (t) => {
  const key = await dueSince(minutesAgo(1), 1, { schedule: '0 0 30 2 *' })
  t.match(await untilEvent(key, 'InvalidSchedule'), {
    type: 'Warning',
    message: 'invalid schedule: 0 0 30 2 * : time difference between two schedules is less than 1 second',
  })
})

t.test('invalid schedules and time zones are refused', async (t) => {
  const cases: readonly (readonly [Partial<batch.CronJobSpec>, string])[] = [
    [{ schedule: '' }, 'spec.schedule: Required value'],
    [{ schedule: '0 0 L * *' }, 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
    [{ schedule: '0 0 * * 5#2' }, 'failed to parse int from 5#2'],
    [{ schedule: '0 0 0 * * *' }, 'expected exactly 5 fields, found 6: [0 0 0 * * *]'],
    [{ schedule: '0 0 * * 7' }, 'end of range (7) above maximum (6): 7'],
    [{ schedule: '@reboot' }, 'unrecognized descriptor: @reboot'],
    [{ schedule: '@every 5' }, 'failed to parse duration @every 5: time: missing unit in duration'],
    [{ schedule: 'TZ=UTC 0 0 * * *' }, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
    [{ schedule: 'TZ=0' }, 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    [{ timeZone: '' }, 'timeZone must be nil or non-empty string'],
    [{ timeZone: 'Local' }, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
    [{ timeZone: 'europe/berlin' }, 'unknown time zone europe/berlin'],
    [{ timeZone: '+01:00' }, 'unknown time zone +01:00'],
    [{ timeZone: 'Europe/../UTC' }, 'unknown time zone Europe/../UTC'],
    [{ timeZone: 'Europe/Atlantis' }, 'unknown time zone Europe/Atlantis'],
  ]
  const metadata = { namespace: 'default', name: 'refused' }
  for (const [spec, message] of cases) {
    const all = { schedule: '@daily', jobTemplate: { spec: quick }, ...spec }
    const error: unknown = await client.create(batch.cronJob, { metadata, spec: all }, { dryRun: true }).catch((thrown: unknown) => thrown)
    t.ok(isInvalid(error) && error.message.includes(message), `${JSON.stringify(spec)}: ${String(error)}`)
  }
  for (const spec of [{ schedule: '@every 1h30m' }, { schedule: '5/20 ? 1-31 JAN *' }, { timeZone: 'Asia/Calcutta' }]) {
    const all = { schedule: '@daily', jobTemplate: { spec: quick }, ...spec }
    await t.resolves(client.create(batch.cronJob, { metadata, spec: all }, { dryRun: true }))
  }
})
