/** Tests of the Jobs of a CronJob: the Jobs that the history limits keep, and the fields of Jobs in the cache. */
import t from 'tap'
import { classify, jobsByOwner, jobView, newestTime, scheduledAt, stateOf } from '../../../src/operators/cronjob/jobs.ts'
import type { Job } from '../../../src/operators/cronjob/jobs.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

const conditionsOf = (...types: readonly string[]) => types.map((type) => ({ type, status: 'True' }))
const complete = { conditions: conditionsOf('SuccessCriteriaMet', 'Complete') }
const failed = { conditions: conditionsOf('FailureTarget', 'Failed') }
const aJob = (name: string, status: object = {}, metadata: object = {}): Job =>
  ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'test', name, ...metadata }, status }) as never
const at = (minute: number): string => `2026-01-01T00:0${minute}:00Z`

function classified(jobs: readonly Job[], limits: object = {}) {
  const spec = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 2, ...limits }
  const { active, kept, surplus } = classify(jobs, { spec } as never)
  const names = (list: readonly Job[]) => list.map(({ metadata }) => metadata.name)
  return { active: names(active), kept: names(kept), surplus: names(surplus) }
}

t.test('each limit keeps the newest Jobs of its outcome, and no limit counts active Jobs', async (t) => {
  const jobs = [
    aJob('complete-6', { ...complete, startTime: at(6) }),
    aJob('failed-4', { ...failed, startTime: at(4) }),
    aJob('complete-1', { ...complete, startTime: at(1) }),
    aJob('active-0', { startTime: at(0) }),
    aJob('failed-3', { ...failed, startTime: at(3) }),
    aJob('failed-5', { ...failed, startTime: at(5) }),
  ]
  t.strictSame(classified(jobs), {
    active: ['active-0'],
    kept: ['failed-4', 'failed-5', 'complete-6'],
    surplus: ['complete-1', 'failed-3'],
  })
  const none = { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }
  t.strictSame(classified(jobs, none).surplus, ['complete-1', 'complete-6', 'failed-3', 'failed-4', 'failed-5'])
  const all = { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 3 }
  t.strictSame(classified(jobs, all), {
    active: ['active-0'],
    kept: ['complete-1', 'failed-3', 'failed-4', 'failed-5', 'complete-6'],
    surplus: [],
  })
})

t.test('a Job that never started is the oldest, and Jobs that started together are sorted by name', async (t) => {
  const jobs = [aJob('b', { ...failed, startTime: at(1) }), aJob('a', { ...failed, startTime: at(1) }), aJob('z', failed)]
  t.strictSame(classified(jobs, { failedJobsHistoryLimit: 2 }), { active: [], kept: ['a', 'b'], surplus: ['z'] })
  t.strictSame(classified(jobs, { failedJobsHistoryLimit: 1 }).kept, ['b'])
})

t.test('a Job that is being deleted counts for the limit, and is not deleted again', async (t) => {
  const jobs = [aJob('a', { ...complete, startTime: at(1) }, { deletionTimestamp: at(3) }), aJob('b', { ...complete, startTime: at(2) })]
  t.strictSame(classified(jobs), { active: [], kept: ['b'], surplus: [] })
})

t.test('a Job has ended when a condition says so', async (t) => {
  for (const [status, state] of [
    [undefined, 'active'],
    [{}, 'active'],
    [{ conditions: conditionsOf('Suspended', 'SuccessCriteriaMet', 'FailureTarget') }, 'active'],
    [
      {
        conditions: [
          { type: 'Complete', status: 'False' },
          { type: 'Failed', status: 'Unknown' },
        ],
      },
      'active',
    ],
    [complete, 'complete'],
    [failed, 'failed'],
  ] as const)
    // prettier-ignore
    t.equal(stateOf({ ...aJob('a'), status } as never), state, JSON.stringify(status))
})

t.test('the newest scheduled time is one of the past, and other annotations are logged for debugging', async (t) => {
  const { logger, entries } = recordingLogger('debug')
  const clock = new FakeClock(at(5))
  const newest = (...times: readonly string[]): number => {
    const jobs = times.map((time, index) => aJob(`a-${index}`, {}, { annotations: { [scheduledAt]: time } }))
    return newestTime(jobs, { clock, logger })
  }
  t.equal(newest(at(2), at(4), at(3)), Date.parse(at(4)))
  t.equal(newest(at(5)), Date.parse(at(5)), 'now is no time of the future')
  t.equal(newest(), 0)
  t.strictSame(entries, [])
  t.equal(newest(at(4), '2026-01-01T00:05:01Z', 'never'), Date.parse(at(4)))
  t.match(entries, [
    { level: 'debug', job: 'a-1' },
    { level: 'debug', job: 'a-2' },
  ])
})

t.test('the cache keeps only the fields of a Job that the controller reads, by the uid of its controller', async (t) => {
  const ownerReferences = [{ apiVersion: 'x/v1', kind: 'CronJob', name: 'a', uid: 'u', controller: true }]
  const annotations = { note: 'x', [scheduledAt]: 'y'.repeat(100) }
  const job = { ...aJob('a', { startTime: at(1) }, { labels: { app: 'x' }, annotations, ownerReferences }), spec: { template: {} } }
  const { cache } = reconcileContext({ client: {} as never, cached: [job] })
  t.strictSame(cache.list(jobView, { namespace: 'test', index: [jobsByOwner, 'u'] }), [
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { namespace: 'test', name: 'a', ownerReferences, annotations: { [scheduledAt]: 'y'.repeat(64) } },
      status: { startTime: at(1) },
    },
  ])
  t.strictSame(cache.list(jobView, { namespace: 'test', index: [jobsByOwner, 'a'] }), [])
})
