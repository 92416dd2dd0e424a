/** Acceptance tests that advance the clock of the CronJob operator: the rows C2, C7 to C12 and C15 of the specification. */
import t from 'tap'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { cronJob } from '../../src/operators/cronjob/kind.ts'
import { jobName, jobTemplate, minute } from '../support/cronjob/objects.ts'
import { scheduledCronJobs } from '../support/cronjob/scheduled.ts'

// The test takes long on a busy machine.
t.setTimeout(300_000)

const world = await scheduledCronJobs(t, 'cronjob-schedules')
const { client, clock, get, jobsOf, advanceTo, endAt, create, suspend } = world
const { untilActive, untilCondition, untilEvent, untilJobs, untilTicking } = world

t.test('each scheduled time has a Job, and the status names the active ones', async (t) => {
  const metadata = { labels: { app: 'report' }, annotations: { note: 'x' }, finalizers: ['a/b'] }
  const { key, first } = await create({ jobTemplate: { ...jobTemplate, metadata } })
  await advanceTo(first - 1)
  t.strictSame(await jobsOf(key), [])
  await clock.advance(1)
  await untilActive(key, [first])
  const job = await client.get(batch.job, { ...key, name: jobName('each', first) })
  const { metadata: owner, status } = await get(key)
  const scheduledAt = new Date(first).toISOString().replace('.000', '')
  t.strictSame(job.metadata.annotations, { note: 'x', 'batch.tutorial.kubebuilder.io/scheduled-at': scheduledAt })
  t.equal(job.metadata.labels?.['app'], 'report')
  t.equal(job.metadata.finalizers, undefined)
  t.match(job.metadata.ownerReferences, [{ kind: 'CronJob', uid: owner.uid, controller: true }])
  t.match(status, { lastScheduleTime: scheduledAt, active: [{ uid: job.metadata.uid }], observedGeneration: owner.generation })
  await advanceTo(first + minute)
  await untilActive(key, [first, first + minute])
  await untilEvent(key, 'SuccessfulCreate')
  await suspend(key)
})

t.test('C2: after five minutes, three complete Jobs and one failed Job are left', async () => {
  const { key, first } = await create()
  for (const index of [0, 1, 2, 3, 4, 5, 6]) {
    const time = first + index * minute
    await advanceTo(time)
    await untilActive(key, [time])
    await endAt(key, time, index % 3 === 1 ? 'Failed' : 'Complete')
    await untilActive(key, [])
  }
  // The Jobs of the second and of the fifth minute have failed.
  await untilJobs(
    key,
    [3, 4, 5, 6].map((index) => first + index * minute),
  )
  await untilEvent(key, 'SuccessfulDelete')
  await suspend(key)
})

t.test('a newest Job that failed degrades the CronJob, until another one is complete', async () => {
  const { key, first } = await create()
  await advanceTo(first)
  await untilActive(key, [first])
  await endAt(key, first, 'Failed')
  await untilCondition(key, 'Degraded', 'JobsFailed')
  await advanceTo(first + minute)
  await untilActive(key, [first + minute])
  await endAt(key, first + minute)
  await untilCondition(key, 'Degraded', 'AsExpected')
  await untilCondition(key, 'Available', 'AllJobsCompleted')
  await suspend(key)
})

t.test('a time is not repeated when no Job of it is kept', async (t) => {
  const { key, first } = await create({ successfulJobsHistoryLimit: 0 })
  await advanceTo(first)
  await untilActive(key, [first])
  await endAt(key, first)
  await untilJobs(key, [])
  t.equal(Date.parse((await get(key)).status?.lastScheduleTime ?? ''), first)
  await advanceTo(first + minute)
  await untilActive(key, [first + minute])
  t.strictSame(await jobsOf(key), [jobName('each', first + minute)])
  await suspend(key)
})

t.test('C7: a suspended CronJob starts no Jobs until it is resumed', async (t) => {
  const { key, first } = await create({ suspend: true })
  await untilCondition(key, 'Available', 'Suspended')
  const other = await create()
  await advanceTo(Math.max(first, other.first) + 3 * minute)
  await untilTicking('another one has Jobs', async () => (await jobsOf(other.key)).length > 0)
  t.strictSame(await jobsOf(key), [])
  await client.patch(cronJob, key, { spec: { suspend: false } })
  await untilCondition(key, 'Available', 'JobsActive')
  const next = (Math.floor(clock.now() / minute) + 1) * minute
  await advanceTo(next)
  await untilTicking('the next time has a Job', async () => (await jobsOf(key)).includes(jobName('each', next)))
  await Promise.all([suspend(key), suspend(other.key)])
})

t.test('C8: with Forbid, a Job waits until the active one has ended', async (t) => {
  const { key, first } = await create({ concurrencyPolicy: 'Forbid' })
  await advanceTo(first)
  await untilActive(key, [first])
  await advanceTo(first + minute)
  await untilEvent(key, 'JobAlreadyActive')
  t.strictSame(await jobsOf(key), [jobName('each', first)])
  await advanceTo(first + 1.5 * minute)
  await endAt(key, first)
  await untilActive(key, [first + minute])
  t.equal((await untilCondition(key, 'Progressing', 'JobsActive')).message, '')
  await suspend(key)
})

t.test('C9: with Replace, a Job replaces the active one', async () => {
  const { key, first } = await create({ concurrencyPolicy: 'Replace' })
  await advanceTo(first)
  await untilActive(key, [first])
  await advanceTo(first + minute)
  await untilJobs(key, [first + minute])
  await untilActive(key, [first + minute])
  await untilEvent(key, 'SuccessfulDelete')
  await suspend(key)
})

t.test('C10: after ten minutes without the operator, only the latest time has a Job', async (t) => {
  const { key, first } = await create()
  await world.stopOperator()
  clock.set(first + 9.5 * minute)
  await world.startOperator()
  await untilActive(key, [first + 9 * minute])
  t.strictSame(await jobsOf(key), [jobName('each', first + 9 * minute)])
  await suspend(key)
})

t.test('C11: a time that is longer ago than the deadline has no Job', async (t) => {
  const { key, first } = await create({ schedule: '0 * * * *', startingDeadlineSeconds: 60 })
  const hour = Math.ceil(first / (60 * minute)) * 60 * minute
  clock.set(hour + minute)
  await client.patch(cronJob, key, { metadata: { labels: { seen: 'late' } } })
  await untilCondition(key, 'Degraded', 'MissedSchedule')
  await untilEvent(key, 'MissedSchedule')
  t.strictSame(await jobsOf(key), [])
  clock.set(hour + minute - 2000)
  await client.patch(cronJob, key, { metadata: { labels: { seen: 'in-time' } } })
  await untilActive(key, [hour])
  await untilCondition(key, 'Degraded', 'AsExpected')
  await suspend(key)
})

t.test('C15: twelve Jobs may be active, and the status names them all', async (t) => {
  const { key, first } = await create()
  const times = Array.from({ length: 12 }, (_, index) => first + index * minute)
  for (const time of times) {
    await advanceTo(time)
    await untilTicking('the Job is there', async () => (await jobsOf(key)).includes(jobName('each', time)))
  }
  await untilActive(key, times)
  t.equal((await get(key)).status?.activeCount, 12)
  await suspend(key)
})

// This must be the last test that writes a CronJob. The test sets the clock of the operator about three hours ahead and starts the operator
// again. The certificates of the restarted operator are not valid yet for the API server, so webhook calls would fail.
t.test('C12: after three hours without the operator, the latest time has a Job, and so has the next one', async (t) => {
  const { key, first } = await create()
  await world.stopOperator()
  const latest = first + 180 * minute
  clock.set(latest + 1000)
  await world.startOperator()
  await untilActive(key, [latest])
  await untilEvent(key, 'TooManyMissedTimes')
  await advanceTo(latest + minute)
  await untilActive(key, [latest, latest + minute])
  t.equal((await jobsOf(key)).length, 2)
})
