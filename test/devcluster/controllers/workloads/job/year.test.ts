/**
 * Tests of Jobs over a year, on a fake clock. In each week, Jobs succeed, fail, exceed their deadline, are suspended and resumed, and
 * expire.
 */
import t from 'tap'
import { pod as podType } from '../../../../../src/api/builtin.ts'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { controllerOf } from '../../../../../src/api/owner-reference.ts'
import type { Client } from '../../../../../src/client/client.ts'
import { jobController } from '../../../../../src/devcluster/controllers/workloads/job/job.ts'
import { orphanedPodController } from '../../../../../src/devcluster/controllers/workloads/job/orphaned-pods.ts'
import { timeToLiveController } from '../../../../../src/devcluster/controllers/workloads/job/time-to-live.ts'
import { namespace, simulatedCluster } from '../../../../support/workloads/simulated-cluster.ts'

type JobStatus = NonNullable<batch.Job['status']>

const daySeconds = 24 * 3600
const weekMs = 7 * daySeconds * 1000
const weeks = 52
/** The number of seconds for which the Pod of a Job runs. An annotation can set another number. */
const runSeconds = 0.1
const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/work:1' }] }
const behaving = (annotations: Readonly<Record<string, string>>, restartPolicy = 'Never'): batch.JobSpec['template'] => ({
  metadata: {
    annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`simulate.proreus.dev/${name}`, value])),
  },
  spec: { ...pod, restartPolicy },
})

interface JobOfTheWeek {
  readonly name: string
  readonly spec: batch.JobSpec
  /** The changes of `spec.suspend`. `day` is the number of days after the beginning of the week. */
  readonly suspended?: readonly (readonly [day: number, suspend: boolean])[]
  /** The reason of the failure if the Job fails; `Complete` if the Job succeeds. */
  readonly end: 'Complete' | 'BackoffLimitExceeded' | 'DeadlineExceeded' | 'FailedIndexes'
  /** The seconds from the creation of the Job until its end. */
  readonly seconds: number
  /** The number of Pods that are created for the Job in total. */
  readonly pods: number
  readonly status: Partial<JobStatus>
}

const jobs: readonly JobOfTheWeek[] = [
  {
    name: 'quick',
    spec: { completions: 3, parallelism: 2, ttlSecondsAfterFinished: 2 * daySeconds, template: { spec: pod } },
    end: 'Complete',
    seconds: 2 * runSeconds,
    pods: 3,
    status: { succeeded: 3 },
  },
  // Each Pod fails one second after its start. The first three Pods are replaced 10, 20 and 40 seconds after they fail.
  {
    name: 'failing',
    spec: { backoffLimit: 3, ttlSecondsAfterFinished: daySeconds, template: behaving({ 'exit-code': '1' }) },
    end: 'BackoffLimitExceeded',
    seconds: 1 + 10 + 1 + 20 + 1 + 40 + 1,
    pods: 4,
    status: { failed: 4 },
  },
  {
    name: 'late',
    spec: { activeDeadlineSeconds: 2 * daySeconds, ttlSecondsAfterFinished: 0, template: behaving({ 'run-for': '100h' }) },
    end: 'DeadlineExceeded',
    seconds: 2 * daySeconds,
    pods: 1,
    status: { failed: 1 },
  },
  // The Job runs for one day, is suspended for one day, and then runs for three more days. Each time the Job is resumed, its deadline of
  // four days begins again.
  {
    name: 'paused',
    spec: { suspend: true, activeDeadlineSeconds: 4 * daySeconds, ttlSecondsAfterFinished: 60, template: behaving({ 'run-for': '72h' }) },
    suspended: [
      [1, false],
      [2, true],
      [3, false],
    ],
    end: 'Complete',
    seconds: 6 * daySeconds,
    pods: 2,
    status: { succeeded: 1 },
  },
  {
    name: 'never-resumed',
    spec: { suspend: true, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 60, template: { spec: pod } },
    suspended: [[5, false]],
    end: 'Complete',
    seconds: 5 * daySeconds,
    pods: 1,
    status: { succeeded: 1 },
  },
  {
    name: 'indexed',
    spec: {
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 1,
      ttlSecondsAfterFinished: 3600,
      template: behaving({ 'exit-code': '1' }),
    },
    end: 'FailedIndexes',
    seconds: 1 + 10 + 1,
    pods: 4,
    status: { failed: 4, failedIndexes: '0,1' },
  },
]

// On a busy machine, the test takes longer than the default timeout of a test file.
t.setTimeout(300_000)

t.test('in a year of Jobs, all end as specified, at the second, expire, and leave nothing behind', async (t) => {
  const { client, clock, advanceTo, collectGarbage } = await simulatedCluster(t, {
    now: '2026-01-05T00:00:00Z',
    controllers: [jobController(), orphanedPodController(), timeToLiveController()],
    types: [batch.job],
  })
  const records = record(client)
  let mostTimers = 0
  for (let week = 0; week < weeks; week += 1) {
    const monday = clock.now()
    for (const { name, spec } of jobs) await client.create(batch.job, { metadata: { namespace, name: `${name}-${week}` }, spec })
    for (let day = 1; day <= 7; day += 1) {
      await advanceTo(monday + day * daySeconds * 1000)
      await collectGarbage()
      for (const { name, suspended = [] } of jobs)
        for (const [at, suspend] of suspended)
          if (at === day) await client.patch(batch.job, { namespace, name: `${name}-${week}` }, { spec: { suspend } })
      mostTimers = Math.max(mostTimers, clock.pending)
    }
    t.equal(clock.now(), monday + weekMs)
    for (const { name, spec, end, seconds, pods, status } of jobs) {
      const what = `${name}-${week}`
      const found = records.get(what)
      t.ok(found !== undefined && found.end === end, `${what}: ends with ${end}, found ${found?.end}`)
      t.match(found?.status, status, what)
      t.equal(found?.pods, pods, `${what}: Pods`)
      const took = ((found?.endedAt ?? 0) - monday) / 1000
      t.ok(took >= Math.floor(seconds) && took <= seconds + 2, `${what}: ended after ${took} s, expected ${seconds} s`)
      const expired = ((found?.deletedAt ?? 0) - (found?.endedAt ?? 0)) / 1000
      t.ok(expired >= spec.ttlSecondsAfterFinished! && expired <= spec.ttlSecondsAfterFinished! + 1, `${what}: expired after ${expired} s`)
    }
  }
  t.strictSame((await client.list(batch.job, { namespace })).items, [])
  t.strictSame((await client.list(podType, { namespace })).items, [])
  t.ok(mostTimers <= 20, `at most ${mostTimers} timers`)
})

interface JobRecord {
  pods: number
  end?: string
  endedAt?: number
  deletedAt?: number
  status?: JobStatus
}

/** Starts to record the Pods and the end of each Job. Returns the records, keyed by the names of the Jobs. */
function record(client: Client): ReadonlyMap<string, JobRecord> {
  const records = new Map<string, JobRecord>()
  const of = (name: string): JobRecord => {
    const found = records.get(name) ?? { pods: 0 }
    records.set(name, found)
    return found
  }
  const watchJobs = async (): Promise<void> => {
    for await (const { object } of client.watch(batch.job, { namespace })) {
      if (!('spec' in object)) continue
      const { metadata, status } = object
      const entry = of(metadata.name)
      const final = status?.conditions?.find(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True')
      if (final !== undefined) entry.end ??= final.type === 'Complete' ? 'Complete' : final.reason!
      if (final !== undefined) entry.endedAt ??= Date.parse(final.lastTransitionTime ?? '')
      if (metadata.deletionTimestamp !== undefined) entry.deletedAt ??= Date.parse(metadata.deletionTimestamp)
      if (status !== undefined) entry.status = status
    }
  }
  const watchPods = async (): Promise<void> => {
    for await (const { type, object } of client.watch(podType, { namespace }))
      if (type === 'ADDED') of(controllerOf(object)!.name).pods += 1
  }
  for (const watching of [watchJobs(), watchPods()]) watching.catch(() => undefined)
  return records
}
