/** Tests of the reconciler of CronJobs when requests fail, and when objects differ from what the operator has written. */
import t from 'tap'
import { findCondition } from '../../../src/api/conditions.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { reconcileCronJob } from '../../../src/operators/cronjob/controller.ts'
import { jobFor } from '../../../src/operators/cronjob/jobs.ts'
import type { CronJob } from '../../../src/operators/cronjob/kind.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { endedStatus, jobTemplate, minute } from '../../support/cronjob/objects.ts'

const createdAt = Date.parse('2026-01-01T00:00:30Z')
const first = createdAt + 30_000

function aCronJob(spec: Partial<CronJob['spec']> = {}, status?: CronJob['status'], metadata: object = {}): CronJob {
  const defaults = {
    schedule: '* * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  }
  return {
    apiVersion: 'batch.tutorial.kubebuilder.io/v1',
    kind: 'CronJob',
    metadata: { namespace: 'test', name: 'a', uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:30Z', ...metadata },
    spec: { ...defaults, jobTemplate, ...spec },
    ...(status !== undefined && { status }),
  } as CronJob
}

function aJob(owner: CronJob, time: number, status: object = {}, metadata: object = {}): batch.Job {
  const job = jobFor(owner, time)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    ...job,
    metadata: { ...job.metadata, uid: `u-${time}`, ...metadata },
    status,
  } as unknown as batch.Job
}
const ended = (outcome: 'Complete' | 'Failed'): object => ({ ...endedStatus(outcome, '2026-01-01T00:01:00Z', '2026-01-01T00:01:10Z') })

interface Script {
  readonly now?: number
  readonly cached?: readonly batch.Job[]
  /** The error with which all create requests fail. */
  readonly create?: Error
  /** The error with which all delete requests fail. */
  readonly remove?: Error
  /** The error with which all get requests fail. */
  readonly read?: Error
  /** The list to which the requests are added, even if the reconcile fails. Default: a new list. */
  readonly requests?: string[]
  /** The Job that the API server returns for a get request. */
  readonly live?: batch.Job
}

/** Reconciles once. Returns the requests, the Events, and the conditions in the status that was written. */
async function reconcile(object: CronJob, { now = first, cached = [], create, remove, read, live, requests = [] }: Script = {}) {
  let status: CronJob['status']
  const client = {
    create: async (_type: unknown, job: batch.Job) => {
      requests.push(`create ${job.metadata.name}`)
      if (create !== undefined) throw create
      return { ...job, apiVersion: 'batch/v1', kind: 'Job' }
    },
    get: async () => {
      if (read !== undefined) throw read
      return live
    },
    delete: async (_type: unknown, { name }: { name: string }, options: object) => {
      requests.push(`delete ${name} ${JSON.stringify(options)}`)
      if (remove !== undefined) throw remove
      return {}
    },
    patchStatus: async (_type: unknown, _key: unknown, patch: { status: CronJob['status'] }) => {
      requests.push('status')
      status = patch.status
      return object
    },
  } as unknown as Client
  const { logger, lines } = recordingLogger('debug')
  const context = reconcileContext({ client, cached: [...cached], clock: new FakeClock(now), logger })
  const result = await reconcileCronJob(object, context)
  const conditions = ['Available', 'Degraded', 'Progressing'].map((type) => {
    const found = findCondition(status?.conditions, type)
    return found === undefined ? '' : `${found.status} ${found.reason} ${found.message}`.trim()
  })
  const stored = { ...object, status: { ...object.status, ...status } } as CronJob
  return {
    requests,
    result,
    status,
    conditions,
    stored,
    lines,
    events: context.recorded.map(({ reason, message }) => `${reason}: ${message}`),
  }
}

const apiError = (code: number, reason: string, message = 'no'): ApiError => new ApiError(failure(code, reason, message))
const nameOf = (time: number): string => `a-${time / 1000}`

t.test('a Job that the API server refuses is reported once, and tried again after half a minute', async (t) => {
  const script = { create: apiError(403, 'Forbidden', 'exceeded quota'), now: first + 1000 }
  const { events, conditions, result, stored } = await reconcile(aCronJob(), script)
  t.strictSame(events, [`FailedCreate: Job ${nameOf(first)}: exceeded quota`])
  t.strictSame(conditions, ['True AllJobsCompleted', `True JobCreationFailed Job ${nameOf(first)}: exceeded quota`, 'False NoJobsActive'])
  t.strictSame(result, { requeueAfterMs: 30_000 })
  const again = await reconcile(stored, script)
  t.strictSame(again.events, [], 'the status says it already')
  t.strictSame(again.requests, [`create ${nameOf(first)}`])
  const near = await reconcile(aCronJob(), { ...script, now: first + minute - 2000 })
  t.strictSame(near.result, { requeueAfterMs: 2000 }, 'the next time is not missed')
  const later = await reconcile(stored, { now: first + minute })
  t.equal(later.conditions[1], 'False AsExpected')
})

t.test('a Job that the API server cannot create now is tried again with back-off', async (t) => {
  const { result, conditions } = await reconcile(aCronJob(), { create: apiError(500, 'InternalError', 'webhook is down') })
  t.strictSame(result, { requeue: true })
  t.match(conditions[1], /^True JobCreationFailed .*webhook is down/)
  await t.rejects(reconcile(aCronJob(), { create: new Error('connection refused') }), { message: 'connection refused' })
})

t.test('a Job that is there already is the one of the CronJob, if it owns it', async (t) => {
  const object = aCronJob()
  const create = apiError(409, 'AlreadyExists')
  const own = await reconcile(object, { create, live: aJob(object, first) })
  t.match(own.status, { activeCount: 1, lastScheduleTime: '2026-01-01T00:01:00Z' })
  t.strictSame(own.events, [])
  const over = await reconcile(object, { create, live: aJob(object, first, ended('Complete')) })
  t.match(over.status, { activeCount: 0, lastScheduleTime: '2026-01-01T00:01:00Z' })
  const before = aCronJob({}, undefined, { uid: 'before' })
  const foreign = await reconcile(object, { create, live: aJob(before, first) })
  t.match(foreign.conditions[1], `True NameConflict The Job ${nameOf(first)} belongs to somebody else.`)
  t.equal(foreign.status?.lastScheduleTime, undefined)
  t.strictSame(foreign.result, { requeueAfterMs: 30_000 })
  t.strictSame(foreign.events, [`NameConflict: The Job ${nameOf(first)} belongs to somebody else.`])
  t.strictSame((await reconcile(foreign.stored, { create, live: aJob(before, first) })).events, [])
})

t.test('Jobs of a deleted CronJob of the same name, and those without an owner, do not count', async (t) => {
  const before = aCronJob({}, undefined, { uid: 'before' })
  const cached = [aJob(before, first - minute), aJob(before, first - 2 * minute, {}, { ownerReferences: [] })]
  const { status, requests } = await reconcile(aCronJob({ concurrencyPolicy: 'Forbid' }), { cached })
  t.strictSame(requests, [`create ${nameOf(first)}`, 'status'])
  t.equal(status?.activeCount, 1)
})

t.test('the status is written before old Jobs are deleted, and a deletion that fails does not delay the next Job', async (t) => {
  const object = aCronJob({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 })
  const cached = [aJob(object, first, ended('Complete')), aJob(object, first - minute, ended('Failed'), { deletionTimestamp: 'x' })]
  const { requests, events } = await reconcile(object, { cached })
  const options = JSON.stringify({ propagationPolicy: 'Background', preconditions: { uid: `u-${first}` } })
  t.strictSame(requests, ['status', `delete ${nameOf(first)} ${options}`], 'a Job that is being deleted is not deleted again')
  t.strictSame(events, [`SuccessfulDelete: Deleted Job ${nameOf(first)}`])
  for (const remove of [apiError(404, 'NotFound'), apiError(409, 'Conflict')]) {
    const gone = await reconcile(object, { cached, remove })
    t.strictSame([gone.events, gone.result], [[], { requeueAfterMs: minute }])
  }
  const refused = await reconcile(object, { cached, remove: apiError(403, 'Forbidden') })
  t.strictSame(refused.result, { requeueAfterMs: 30_000 })
  t.strictSame(refused.lines, ['warn: an old Job could not be deleted'])
})

t.test('a Job that cannot be replaced is not started beside the active one', async (t) => {
  const object = aCronJob({ concurrencyPolicy: 'Replace' })
  const cached = [aJob(object, first - minute)]
  await t.rejects(reconcile(object, { cached, remove: apiError(500, 'InternalError', 'not now') }), { message: 'not now' })
})

t.test('a schedule that was stored without the webhook is reported, and nothing is retried', async (t) => {
  for (const schedule of ['@every 5m', '0 0 30 2 *', 'never']) {
    const { conditions, events, result, requests, stored } = await reconcile(aCronJob({ schedule }))
    t.match(conditions[0], /^False InvalidSchedule spec\.schedule: /)
    t.match(conditions[1], /^True InvalidSchedule spec\.schedule: /)
    t.equal(events.length, 1)
    t.strictSame([result, requests], [undefined, ['status']])
    const fixed = await reconcile({ ...stored, spec: { ...stored.spec, schedule: '0 0 1 1 *' } })
    t.strictSame(fixed.conditions.slice(0, 2), ['True AllJobsCompleted', 'False AsExpected'])
  }
})

t.test('an annotation that is no time is logged and skipped', async (t) => {
  const object = aCronJob()
  const job = aJob(object, first - minute, {}, { annotations: { 'batch.tutorial.kubebuilder.io/scheduled-at': 'yesterday' } })
  const { lines, requests } = await reconcile(object, { cached: [job] })
  t.strictSame(lines, ['debug: the annotation batch.tutorial.kubebuilder.io/scheduled-at of a Job is no time of the past'])
  t.match(requests, [`create ${nameOf(first)}`, 'status'])
})

t.test('the status lists a thousand Jobs, and counts them all', async (t) => {
  const object = aCronJob({ schedule: '0 0 1 1 *' })
  const cached = Array.from({ length: 1200 }, (_, index) => aJob(object, first + index * minute))
  const { status } = await reconcile(object, { cached, now: first + 1200 * minute })
  t.equal(status?.activeCount, 1200)
  t.equal(status?.active?.length, 1000)
  t.equal(status?.active?.at(-1)?.name, nameOf(first + 1199 * minute), 'the newest are listed')
})

t.test('an active Job of another namespace is not awaited', async (t) => {
  const object = aCronJob({ concurrencyPolicy: 'Forbid' })
  const { requests, status } = await reconcile(object, { cached: [aJob(object, first - minute, {}, { namespace: 'other' })] })
  t.strictSame(requests, [`create ${nameOf(first)}`, 'status'])
  t.equal(status?.activeCount, 1)
})

t.test('all problems of a schedule are in the message', async (t) => {
  const { conditions } = await reconcile(aCronJob({ schedule: '60 24 * * *' }))
  t.match(conditions[0], / spec\.schedule: minute: "60" is outside of 0 to 59; hour: "24" is outside of 0 to 23$/)
})

t.test('a CronJob that is being deleted starts no Jobs', async (t) => {
  const { requests, result } = await reconcile(aCronJob({}, undefined, { deletionTimestamp: '2026-01-01T00:01:00Z' }))
  t.strictSame([requests, result], [[], undefined])
})

t.test('a time that is years away is one timer, and a suspended CronJob has none', async (t) => {
  const { result } = await reconcile(aCronJob({ schedule: '0 0 29 2 *' }))
  t.strictSame(result, { requeueAfterMs: Date.parse('2028-02-29T00:00:00Z') - first })
  t.equal((await reconcile(aCronJob({ suspend: true }))).result, undefined)
})

t.test('a Job that waits is looked at again when its deadline passes', async (t) => {
  const object = aCronJob({ schedule: '0 * * * *', concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 60 })
  const hour = Date.parse('2026-01-01T01:00:00Z')
  const cached = [aJob(object, first - minute)]
  const waiting = await reconcile(object, { cached, now: hour })
  t.strictSame(waiting.result, { requeueAfterMs: minute })
  t.match(waiting.events, [/^JobAlreadyActive: /])
  t.strictSame((await reconcile(waiting.stored, { cached, now: hour + 1 })).events, [])
  const late = await reconcile(waiting.stored, { cached, now: hour + minute })
  t.match(late.conditions[1], 'True MissedSchedule The Job of 2026-01-01T01:00:00Z was not started within 60 s.')
  t.match(late.events, [/^MissedSchedule: /])
  t.strictSame((await reconcile(late.stored, { cached, now: hour + 2 * minute })).events, [])
})

t.test('a Job of another namespace, or with a time of the future, does not end the CronJob', async (t) => {
  const object = aCronJob()
  const forged = { 'batch.tutorial.kubebuilder.io/scheduled-at': '2099-01-01T00:00:00Z' }
  for (const metadata of [
    { namespace: 'other', name: 'forged' },
    { name: 'forged', annotations: forged },
  ]) {
    const job = aJob(object, first + 99 * minute, ended('Complete'), metadata)
    const { requests, status } = await reconcile(object, { cached: [job] })
    t.strictSame(requests, [`create ${nameOf(first)}`, 'status'])
    t.equal(status?.lastScheduleTime, '2026-01-01T00:01:00Z')
    t.strictSame(
      status?.active?.map(({ name }) => name),
      [nameOf(first)],
    )
  }
  const absurd = aJob(object, first, ended('Complete'), {
    name: 'forged',
    annotations: { ...forged, 'batch.tutorial.kubebuilder.io/scheduled-at': 'x'.repeat(1000) },
  })
  const { lines } = await reconcile(object, { cached: [absurd] })
  t.ok(lines.join().length < 1000, 'the annotation is not logged')
})

t.test('an old failed Job does not degrade the CronJob when newer ones were complete and are not kept', async (t) => {
  const object = aCronJob({ successfulJobsHistoryLimit: 0 })
  const failed = aJob(object, first, ended('Failed'))
  const now = first + 1000
  const one = await reconcile(object, { cached: [failed], now })
  t.equal(one.conditions[1], `True JobsFailed Job ${nameOf(first)} failed.`)
  const next = aJob(object, first + minute)
  const running = await reconcile(one.stored, { cached: [failed, next], now: now + minute })
  t.equal(findCondition(running.stored.status?.conditions, 'Degraded')?.status, 'True', 'while the next one is active')
  const done = await reconcile(running.stored, { cached: [failed], now: now + minute + 10_000 })
  t.equal(done.conditions[1], 'False AsExpected')
  const again = await reconcile(done.stored, { cached: [failed, aJob(object, first + 2 * minute)], now: now + 2 * minute })
  t.equal(findCondition(again.stored.status?.conditions, 'Degraded')?.status, 'False', 'no matter what runs now')
})

t.test('an active Job whose deletion is refused is not replaced, and the status says why', async (t) => {
  const object = aCronJob({ concurrencyPolicy: 'Replace' })
  const active = aJob(object, first)
  const script = { cached: [active], remove: apiError(403, 'Forbidden', 'no right'), now: first + minute + 1000 }
  const { events, conditions, result, stored } = await reconcile(object, script)
  t.strictSame(events, ['FailedDelete: An active Job cannot be replaced: no right'])
  t.equal(conditions[1], 'True JobDeletionFailed An active Job cannot be replaced: no right')
  t.strictSame(result, { requeueAfterMs: 30_000 })
  t.strictSame((await reconcile(stored, script)).events, [])
})

t.test('after a Job has started, the CronJob is reconciled at its next time, beside the active Jobs', async (t) => {
  const object = aCronJob()
  const { result, status } = await reconcile(object, { cached: [aJob(object, first)], now: first + minute + 1000 })
  t.strictSame(result, { requeueAfterMs: minute - 1000 })
  t.strictSame(
    status?.active?.map(({ name }) => name),
    [nameOf(first), nameOf(first + minute)],
  )
  t.match(status, { activeCount: 2, lastScheduleTime: '2026-01-01T00:02:00Z' })
})

t.test('with Replace, all active Jobs are replaced', async (t) => {
  const object = aCronJob({ concurrencyPolicy: 'Replace' })
  const cached = [aJob(object, first - minute), aJob(object, first), aJob(object, first - 2 * minute, ended('Complete'))]
  const now = first + minute
  const { requests, status } = await reconcile(object, { cached, now })
  t.strictSame(
    requests.map((request) => request.split(' ').slice(0, 2).join(' ')),
    [`delete ${nameOf(first - minute)}`, `delete ${nameOf(first)}`, `create ${nameOf(now)}`, 'status'],
  )
  t.match(status, { activeCount: 1, active: [{ name: nameOf(now) }] })
  const refused = await reconcile(object, { cached, now, create: apiError(403, 'Forbidden') })
  t.strictSame([refused.status?.activeCount, refused.status?.active], [0, []], 'the replaced Jobs are gone')
  t.equal(refused.status?.lastScheduleTime, '2026-01-01T00:01:00Z', 'the time has no Job yet')
})

t.test('an active Job that cannot be replaced does not delay the next time', async (t) => {
  const object = aCronJob({ concurrencyPolicy: 'Replace' })
  const script = { cached: [aJob(object, first)], remove: apiError(403, 'Forbidden', 'no right'), now: first + 2 * minute - 2000 }
  const { result, status } = await reconcile(object, script)
  t.strictSame(result, { requeueAfterMs: 2000 })
  t.match(status, { activeCount: 1, lastScheduleTime: '2026-01-01T00:01:00Z' })
})

t.test('the status names the active Jobs, also when no Job is started', async (t) => {
  for (const [spec, script, reason] of [
    [{ schedule: 'never' }, {}, 'InvalidSchedule'],
    [{ suspend: true }, {}, 'Suspended'],
    [{}, { create: apiError(403, 'Forbidden') }, 'JobsActive'],
    [{ startingDeadlineSeconds: 1 }, { now: first + minute + 1000 }, 'JobsActive'],
    [{ concurrencyPolicy: 'Forbid' }, {}, 'JobsActive'],
  ] as const) {
    const object = aCronJob(spec)
    const { status } = await reconcile(object, { cached: [aJob(object, first)], now: first + minute, ...script })
    t.match(status, { activeCount: 1, active: [{ kind: 'Job', apiVersion: 'batch/v1', namespace: 'test', name: nameOf(first) }] }, reason)
    t.match(findCondition(status?.conditions, 'Available'), { reason })
    t.equal(status?.lastScheduleTime, '2026-01-01T00:01:00Z', reason)
  }
})

t.test('a Job that was not started in time is not counted as started, and the next time comes', async (t) => {
  const { result, status, requests } = await reconcile(aCronJob({ startingDeadlineSeconds: 10 }), { now: first + 20_000 })
  t.strictSame([requests, result], [['status'], { requeueAfterMs: 40_000 }])
  t.equal(status?.lastScheduleTime, undefined)
})

t.test('an existing Job that cannot be read fails the reconcile, and the status does not contain it', async (t) => {
  for (const error of [apiError(404, 'NotFound', 'gone'), apiError(403, 'Forbidden', 'no right'), new Error('connection refused')]) {
    const requests: string[] = []
    const script = { create: apiError(409, 'AlreadyExists'), read: error, requests }
    await t.rejects(reconcile(aCronJob(), script), { message: error.message })
    t.strictSame(requests, [`create ${nameOf(first)}`], 'no status is written')
  }
})

t.test('many missed times are one Warning, with the Job of the latest', async (t) => {
  for (const [times, warnings] of [
    [100, []],
    [101, ['TooManyMissedTimes']],
  ] as const) {
    // prettier-ignore
    const { events, requests } = await reconcile(aCronJob(), { now: first + (times - 1) * minute })
    t.strictSame(
      events.map((event) => event.split(':')[0]),
      ['SuccessfulCreate', ...warnings],
    )
    t.strictSame(requests, [`create ${nameOf(first + (times - 1) * minute)}`, 'status'])
  }
})
