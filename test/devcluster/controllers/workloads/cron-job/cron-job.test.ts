import t from 'tap'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import type { KubernetesObject } from '../../../../../src/api/object.ts'
import { cronJobController } from '../../../../../src/devcluster/controllers/workloads/cron-job/cron-job.ts'
import { objectOf, quiet, runScripted, time } from '../../../../support/devcluster/scripted-controller.ts'

t.test('a deleted Job is not started again', async (t) => {
  const world = runScripted(t, cronJobController, (method) => (method === 'create' ? { metadata: { name: 'created' } } : {}))
  const metadata = { creationTimestamp: '2025-12-31T22:30:00Z' }
  const spec = { schedule: '0 * * * *', jobTemplate: { spec: {} } }
  world.set(batch.cronJob, objectOf('started', { spec, status: { lastScheduleTime: time } }, metadata))
  await quiet()
  t.strictSame(world.asked, [])
  world.set(batch.cronJob, objectOf('due', { spec, status: { lastScheduleTime: '2025-12-31T23:00:00Z' } }, metadata))
  t.match(await world.take(2), [
    ['create', 'jobs', { metadata: { name: `due-${Date.parse(time) / 60_000}` } }],
    ['patch', 'cronjobs', { name: 'due' }, { status: { lastScheduleTime: time } }],
  ])
})

t.test('a schedule that selects no time is reported, also when a CronJob is changed to it', async (t) => {
  const world = runScripted(t, cronJobController, () => ({}))
  const metadata = { creationTimestamp: '2025-12-31T22:30:00Z' }
  const cronJob = (schedule: string): KubernetesObject =>
    objectOf('never', { spec: { schedule, jobTemplate: { spec: {} } }, status: { lastScheduleTime: time } }, metadata)
  world.set(batch.cronJob, cronJob('0 * * * *'))
  await quiet()
  t.strictSame(world.events, [])
  world.set(batch.cronJob, cronJob('0 0 30 2 *'))
  await quiet()
  const problem = 'time difference between two schedules is less than 1 second'
  t.strictSame(world.events, [`never Warning InvalidSchedule: invalid schedule: 0 0 30 2 * : ${problem}`])
  world.set(batch.cronJob, cronJob('0 0 29 2 *'))
  await quiet()
  t.equal(world.events.length, 1)
})
