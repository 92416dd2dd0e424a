/** Tests of CronJobs, their Jobs and their Pods over a year, on a fake clock. */
import t from 'tap'
import { pod as podType } from '../../../../../src/api/builtin.ts'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { controllerOf } from '../../../../../src/api/owner-reference.ts'
import { cronJobController } from '../../../../../src/devcluster/controllers/workloads/cron-job/cron-job.ts'
import { jobController } from '../../../../../src/devcluster/controllers/workloads/job/job.ts'
import { orphanedPodController } from '../../../../../src/devcluster/controllers/workloads/job/orphaned-pods.ts'
import { timeToLiveController } from '../../../../../src/devcluster/controllers/workloads/job/time-to-live.ts'
import { namespace, simulatedCluster } from '../../../../support/workloads/simulated-cluster.ts'

const dayMs = 24 * 3600 * 1000
const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/work:1' }] }
const quick: batch.JobSpec = { template: { spec: pod } }
/** The Pods of this Job are never scheduled. */
const endless: batch.JobSpec = { template: { spec: { ...pod, nodeSelector: { never: 'there' } } } }

/** The CronJobs, the number of their runs in 2026, and the number of Jobs that remain at the end. */
const cronJobs: readonly { readonly name: string; readonly spec: batch.CronJobSpec; readonly runs: number; readonly left: number }[] = [
  // 02:30 does not occur on March 29, and occurs twice on October 25.
  {
    name: 'nightly',
    spec: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', successfulJobsHistoryLimit: 2, jobTemplate: { spec: quick } },
    runs: 365,
    left: 2,
  },
  // The Jobs are deleted after an hour.
  { name: 'weekly', spec: { schedule: '@weekly', jobTemplate: { spec: { ...quick, ttlSecondsAfterFinished: 3600 } } }, runs: 52, left: 0 },
  { name: 'last-days', spec: { schedule: '0 0 31 * *', jobTemplate: { spec: quick } }, runs: 7, left: 3 },
  {
    name: 'replaced',
    spec: { schedule: '0 6 */3 * *', concurrencyPolicy: 'Replace', jobTemplate: { spec: endless } },
    runs: 127,
    left: 1,
  },
  { name: 'failing', spec: { schedule: '0 9 * * 1', jobTemplate: { spec: { ...endless, activeDeadlineSeconds: 60 } } }, runs: 52, left: 1 },
  // Each Job runs for 36 hours, and a Job starts only after the previous Job has ended. The Job of Tuesday therefore starts 12 hours late,
  // and the Job of Wednesday 24 hours late.
  {
    name: 'forbidden',
    spec: {
      schedule: '0 0 * * 1-3',
      concurrencyPolicy: 'Forbid',
      failedJobsHistoryLimit: 0,
      jobTemplate: { spec: { ...endless, activeDeadlineSeconds: 36 * 3600 } },
    },
    runs: 156,
    left: 1,
  },
  { name: 'suspended', spec: { schedule: '* * * * *', suspend: true, jobTemplate: { spec: quick } }, runs: 0, left: 0 },
]

// On a busy machine, the test takes longer than the two minutes that a file has by default.
t.setTimeout(300_000)

t.test('in a year, every run happens once, and no objects accumulate', async (t) => {
  const { client, clock, events, advanceTo, collectGarbage } = await simulatedCluster(t, {
    now: '2026-01-01T00:00:00Z',
    controllers: [cronJobController(), jobController(), orphanedPodController(), timeToLiveController()],
    types: [batch.cronJob, batch.job],
  })
  for (const { name, spec } of cronJobs) await client.create(batch.cronJob, { metadata: { namespace, name }, spec })
  const end = Date.parse('2027-01-01T00:00:00Z')
  let [mostJobs, mostPods, mostTimers] = [0, 0, 0]
  for (let midnight = clock.now() + dayMs; midnight < end; midnight += dayMs) {
    await advanceTo(midnight - 1)
    await collectGarbage()
    mostJobs = Math.max(mostJobs, (await client.list(batch.job, { namespace })).items.length)
    mostPods = Math.max(mostPods, (await client.list(podType, { namespace })).items.length)
    mostTimers = Math.max(mostTimers, clock.pending)
  }
  await advanceTo(end - 1)
  await collectGarbage()

  const jobs = (await client.list(batch.job, { namespace })).items
  const pods = (await client.list(podType, { namespace })).items
  for (const { name, runs, left } of cronJobs) {
    const { metadata, status = {} } = await client.get(batch.cronJob, { namespace, name })
    const own = jobs.filter((job) => controllerOf(job)?.uid === metadata.uid)
    t.equal(events.get(`${name} SuccessfulCreate`) ?? 0, runs, `${name}: all runs`)
    t.equal(own.length, left, `${name}: the Jobs that remain`)
    t.equal(status.active?.length ?? 0, name === 'replaced' || name === 'forbidden' ? 1 : 0, `${name}: the active Jobs`)
    for (const reason of ['TooManyMissedTimes', 'MissingJob', 'UnexpectedJob', 'FailedCreate', 'FailedDelete'])
      t.equal(events.get(`${name} ${reason}`), undefined, `${name}: ${reason}`)
  }
  const owners = new Set(jobs.map(({ metadata }) => metadata.uid))
  t.strictSame(
    pods.filter((one) => !owners.has(controllerOf(one)?.uid ?? '')).map(({ metadata }) => metadata.name),
    [],
    'every Pod has its Job',
  )
  t.ok(mostJobs <= 10, `at most ${mostJobs} Jobs`)
  t.ok(mostPods <= 10, `at most ${mostPods} Pods`)
  t.ok(mostTimers <= 10, `at most ${mostTimers} timers`)
})
