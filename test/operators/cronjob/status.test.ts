/** Tests of the status of a CronJob. */
import t from 'tap'
import type { Condition } from '../../../src/api/conditions.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { Job } from '../../../src/operators/cronjob/jobs.ts'
import { scheduledAt } from '../../../src/operators/cronjob/jobs.ts'
import type { CronJob } from '../../../src/operators/cronjob/kind.ts'
import type { Observed } from '../../../src/operators/cronjob/status.ts'
import { isKnown, statusOf } from '../../../src/operators/cronjob/status.ts'
import { minute } from '../../support/cronjob/objects.ts'

const time = Date.parse('2026-01-01T00:01:00Z')

function aCronJob(spec: object = {}, conditions: readonly Condition[] = []): CronJob {
  return { metadata: { namespace: 'test', name: 'a', generation: 3 }, spec: { suspend: false, ...spec }, status: { conditions } } as never
}
function aJob(name: string, at = time, outcome?: 'Complete' | 'Failed'): Job {
  const metadata = { namespace: 'test', name, uid: `uid-${name}`, annotations: { [scheduledAt]: new Date(at).toISOString() } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    status: outcome === undefined ? {} : { conditions: [{ type: outcome, status: 'True' }] },
  } as never
}
const status = (observed: Partial<Observed>, object = aCronJob()) =>
  statusOf(object, { active: [], ended: [], lastTime: 0, ...observed }, time)
function condition(type: string, ...all: Parameters<typeof status>): string {
  const found = findCondition(status(...all).conditions as readonly Condition[], type)!
  return `${found.status} ${found.reason} ${found.message}`.trim()
}

t.test('the active Jobs are references, sorted by name', async (t) => {
  const { active, activeCount } = status({ active: [aJob('c'), aJob('a'), aJob('b')] })
  t.equal(activeCount, 3)
  t.strictSame(
    active,
    ['a', 'b', 'c'].map((name) => ({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'test', name, uid: `uid-${name}` })),
  )
})

t.test('the last scheduled time is absent until a Job has started', async (t) => {
  t.notOk('lastScheduleTime' in status({}))
  t.equal(status({ lastTime: time }).lastScheduleTime, '2026-01-01T00:01:00Z')
})

t.test('the status and its conditions have the generation that they are about', async (t) => {
  const { observedGeneration, conditions } = status({})
  t.equal(observedGeneration, 3)
  t.strictSame(
    (conditions as readonly Condition[]).map(({ type, observedGeneration: generation }) => `${type} ${generation}`),
    ['Available 3', 'Degraded 3', 'Progressing 3'],
  )
})

t.test('a CronJob is available unless it is suspended or its schedule is invalid', async (t) => {
  const active = [aJob('a')]
  t.equal(condition('Available', {}), 'True AllJobsCompleted')
  t.equal(condition('Available', { active }), 'True JobsActive')
  t.equal(condition('Available', { active }, aCronJob({ suspend: true })), 'False Suspended No Jobs are started.')
  const invalid = { reason: 'InvalidSchedule', message: 'spec.schedule: no' } as const
  t.equal(condition('Available', { trouble: invalid }, aCronJob({ suspend: true })), 'False InvalidSchedule spec.schedule: no')
  t.equal(condition('Available', { trouble: { reason: 'MissedSchedule', message: 'late' } }), 'True AllJobsCompleted')
})

t.test('the newest Job decides whether a CronJob is degraded, and a trouble always does', async (t) => {
  const [old, complete, failed] = [aJob('old', time - minute, 'Failed'), aJob('done', time, 'Complete'), aJob('failed', time, 'Failed')]
  t.equal(condition('Degraded', {}), 'False AsExpected')
  t.equal(condition('Degraded', { ended: [old, complete], lastTime: time }), 'False AsExpected')
  t.equal(condition('Degraded', { ended: [complete, failed], lastTime: time }), 'True JobsFailed Job failed failed.')
  t.equal(condition('Degraded', { ended: [old], lastTime: time }), 'False AsExpected', 'a newer one was complete, and is not kept')
  const trouble = { reason: 'NameConflict', message: 'taken' } as const
  t.equal(condition('Degraded', { ended: [complete], lastTime: time, trouble }), 'True NameConflict taken')
})

t.test('a failure stays reported while a newer Job is active, when it was reported before', async (t) => {
  const observed = { ended: [aJob('old', time - minute, 'Failed')], active: [aJob('new')], lastTime: time }
  const known = { type: 'Degraded', status: 'True', reason: 'JobsFailed', message: 'Job old failed.' } as const
  const before = (change: object) => aCronJob({}, [{ ...known, lastTransitionTime: '2026-01-01T00:00:00Z', ...change }])
  t.equal(condition('Degraded', observed, before({})), 'True JobsFailed Job old failed.')
  t.equal(condition('Degraded', { ...observed, active: [] }, before({})), 'False AsExpected')
  t.equal(condition('Degraded', observed, before({ message: 'Job older failed.' })), 'False AsExpected')
  t.equal(condition('Degraded', observed), 'False AsExpected')
})

t.test('a CronJob is progressing while Jobs are active, and says which Job waits', async (t) => {
  const active = [aJob('a')]
  t.equal(condition('Progressing', {}), 'False NoJobsActive')
  t.equal(condition('Progressing', { active }), 'True JobsActive')
  t.equal(
    condition('Progressing', { active, waiting: time }),
    'True JobsActive The Job of 2026-01-01T00:01:00Z waits until no other one is active.',
  )
})

t.test('an Event is known when the condition has its reason and its message', async (t) => {
  const stored = { type: 'Degraded', status: 'True', reason: 'NameConflict', message: 'taken', lastTransitionTime: 'x' } as const
  const object = aCronJob({}, [stored])
  t.equal(isKnown(object, 'Degraded', { reason: 'NameConflict', message: 'taken' }), true)
  t.equal(isKnown(object, 'Degraded', { reason: 'NameConflict', message: 'other' }), false)
  t.equal(isKnown(object, 'Degraded', { reason: 'MissedSchedule', message: 'taken' }), false)
  t.equal(isKnown(object, 'Progressing', { reason: 'NameConflict', message: 'taken' }), false)
})
