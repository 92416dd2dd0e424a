/**
 * Tests of the controller of ScheduledEchos. The controller must maintain the desired CronJob, even if the API server rejects the CronJob,
 * or other clients change the CronJob.
 */
import t from 'tap'
import type { Test } from 'tap'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import type { ScheduledEcho } from '../../../src/operators/echo/kind.ts'
import { scheduledEcho } from '../../../src/operators/echo/kind.ts'
import { scheduledEchoController } from '../../../src/operators/echo/scheduled-echo-controller.ts'
import { aCronJob, aScheduledEcho } from '../../support/operators/echo.ts'
import type { ScriptedController } from '../../support/operators/scripted-controller.ts'
import { refusal, scriptedController } from '../../support/operators/scripted-controller.ts'

const key = { namespace: 'test', name: 'a' }
const apply = 'apply cronjobs test/a'
const writeStatus = 'patchStatus scheduledechos test/a'

const start = (t: Test) => scriptedController(t, scheduledEchoController)
const found = (controller: ScriptedController) => controller.get(scheduledEcho, key) as unknown as ScheduledEcho
const cronJobIn = (controller: ScriptedController) => controller.get(batch.cronJob, key) as unknown as batch.CronJob
const conditionsOf = (controller: ScriptedController) =>
  found(controller).status?.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim())

async function change(controller: ScriptedController, spec: Partial<ScheduledEcho['spec']>): Promise<void> {
  const object = found(controller)
  const metadata = { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 }
  await controller.put(scheduledEcho, { ...object, metadata, spec: { ...object.spec, ...spec } })
}
async function touch(controller: ScriptedController, team: string): Promise<void> {
  const object = found(controller)
  await controller.put(scheduledEcho, { ...object, metadata: { ...object.metadata, labels: { team } } })
}

const scheduled = ['Degraded False AsExpected', 'Scheduled True CronJobApplied']

t.test('a CronJob is applied when it is missing or has other fields, with an Event, and not otherwise', async (t) => {
  const controller = await start(t)
  await controller.put(scheduledEcho, aScheduledEcho())
  t.strictSame(controller.requests(), [apply, writeStatus])
  t.strictSame(controller.events(), ['Normal Created: CronJob a with the schedule @daily'])
  t.strictSame(conditionsOf(controller), scheduled)
  t.match(found(controller).status, { cronJobName: 'a', observedGeneration: 1 })
  t.equal(controller.retryMs(), undefined)
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []], 'nothing has changed')
  await change(controller, { schedule: '@hourly' })
  t.strictSame(controller.requests(), [apply, writeStatus])
  t.strictSame(controller.events(), ['Normal Updated: CronJob a with the schedule @hourly'])
  t.match(found(controller).status, { observedGeneration: 2, conditions: [{ observedGeneration: 2 }, { observedGeneration: 2 }] })
  await change(controller, { message: 'Adiós' })
  t.match(cronJobIn(controller).spec?.jobTemplate.spec?.template.spec?.containers, [{ command: ['echo', 'Adiós'] }])
  controller.requests()
  const { spec, ...cronJob } = cronJobIn(controller)
  await controller.put(batch.cronJob, { ...cronJob, spec: { ...spec, suspend: true, concurrencyPolicy: 'Allow' } })
  t.strictSame(controller.requests(), [apply], 'the change of another client is undone')
  t.match(cronJobIn(controller).spec, { suspend: true, concurrencyPolicy: 'Forbid' }, 'other fields stay')
  controller.events()
  await controller.remove(batch.cronJob, key)
  t.strictSame(controller.events(), ['Normal Created: CronJob a with the schedule @hourly'])
})

t.test('the status has the times of the CronJob and the names of its active Jobs, and loses them with it', async (t) => {
  const controller = await start(t)
  await controller.put(scheduledEcho, aScheduledEcho())
  const times = { lastScheduleTime: '2026-01-01T00:02:00Z', lastSuccessfulTime: '2026-01-01T00:01:05Z' }
  const active = [{ kind: 'Job', name: 'a-3' }, { kind: 'Job', name: 'a-1' }, { kind: 'Job', name: 'a-2' }] // prettier-ignore
  await controller.put(batch.cronJob, { ...cronJobIn(controller), status: { ...times, active } })
  t.match(found(controller).status, times)
  t.strictSame(found(controller).status?.active, ['a-1', 'a-2', 'a-3'])
  await controller.put(batch.cronJob, { ...cronJobIn(controller), status: times })
  t.strictSame(found(controller).status?.active, [])
  await controller.remove(batch.cronJob, key)
  const { lastScheduleTime, lastSuccessfulTime } = found(controller).status ?? {}
  t.strictSame([lastScheduleTime, lastSuccessfulTime], [undefined, undefined])
})

for (const [code, reason] of [
  [403, 'Forbidden'],
  [422, 'Invalid'],
] as const)
  // prettier-ignore
  t.test(`a CronJob that is refused with ${code} is reported once, and tried again after half a minute`, async (t) => {
    const controller = await start(t)
    controller.errors.apply = refusal(code, reason, 'exceeded quota')
    await controller.put(scheduledEcho, aScheduledEcho())
    t.strictSame(controller.requests(), [apply, writeStatus])
    t.strictSame(controller.events(), ['Warning CronJobRefused: exceeded quota'])
    t.strictSame(conditionsOf(controller), ['Degraded True CronJobRefused exceeded quota', 'Scheduled False CronJobRefused exceeded quota'])
    t.equal(found(controller).status?.cronJobName, undefined)
    t.equal(controller.retryMs(), 30_000)
    await touch(controller, 'a')
    t.strictSame([controller.requests(), controller.events()], [[apply], []], 'the status contains the refusal already')
    await controller.advance(29_999)
    t.strictSame(controller.requests(), [])
    await controller.advance(1)
    t.strictSame([controller.requests(), controller.events()], [[apply], []])
    controller.errors.apply = refusal(code, reason, 'another quota')
    await controller.advance(30_000)
    t.strictSame(controller.events(), ['Warning CronJobRefused: another quota'], 'another message is another Event')
    delete controller.errors.apply
    await controller.advance(30_000)
    t.strictSame(controller.events(), ['Normal Created: CronJob a with the schedule @daily'])
    t.strictSame(conditionsOf(controller), scheduled)
    t.equal(controller.retryMs(), undefined)
    t.strictSame(controller.failures(), [])
  })

t.test('while a change of the CronJob is refused, the status is about the CronJob that runs', async (t) => {
  const controller = await start(t)
  await controller.put(scheduledEcho, aScheduledEcho())
  const status = { lastScheduleTime: '2026-01-01T00:02:00Z', active: [{ name: 'a-1' }] }
  await controller.put(batch.cronJob, { ...cronJobIn(controller), status })
  controller.events()
  const causes = [{ field: 'spec.schedule', reason: 'FieldValueInvalid', message: 'Invalid value' }]
  controller.errors.apply = refusal(422, 'Invalid', 'the schedule is invalid', causes)
  await change(controller, { schedule: 'never' })
  t.strictSame(controller.events(), ['Warning InvalidSchedule: the schedule is invalid'])
  t.strictSame(conditionsOf(controller), [
    'Degraded True InvalidSchedule the schedule is invalid',
    'Scheduled False InvalidSchedule the schedule is invalid',
  ])
  t.match(found(controller).status, { cronJobName: 'a', lastScheduleTime: '2026-01-01T00:02:00Z', active: ['a-1'], observedGeneration: 2 })
  t.equal(controller.retryMs(), 30_000)
})

t.test('a refusal because of another field is no invalid schedule', async (t) => {
  const controller = await start(t)
  controller.errors.apply = refusal(422, 'Invalid', 'no', [{ field: 'spec.jobTemplate', message: 'Invalid value' }])
  await controller.put(scheduledEcho, aScheduledEcho())
  t.strictSame(controller.events(), ['Warning CronJobRefused: no'])
})

t.test('an error that is no refusal fails the reconcile, which is tried again with back-off', async (t) => {
  for (const error of [refusal(500, 'InternalError', 'not now'), refusal(409, 'Conflict', 'changed'), new Error('connection refused')]) {
    const controller = await start(t)
    controller.errors.apply = error
    await controller.put(scheduledEcho, aScheduledEcho())
    t.strictSame(controller.failures(), [error.message])
    t.strictSame([controller.requests(), controller.events(), found(controller).status], [[apply], [], undefined])
    t.equal(controller.retryMs(), 5)
  }
})

t.test('a status that cannot be written fails the reconcile', async (t) => {
  const controller = await start(t)
  controller.errors.patchStatus = refusal(500, 'InternalError', 'not now')
  await controller.put(scheduledEcho, aScheduledEcho())
  t.strictSame(controller.failures(), ['not now'])
  delete controller.errors.patchStatus
  controller.requests()
  await controller.advance(5)
  t.strictSame(controller.requests(), [writeStatus])
})

t.test('a CronJob of another owner is reported once, and is not changed', async (t) => {
  const controller = await start(t)
  const active = [{ name: 'foreign-1' }]
  await controller.put(batch.cronJob, aCronJob(aScheduledEcho({}, { uid: 'before' }), { active }))
  await controller.put(scheduledEcho, aScheduledEcho())
  const message = 'The CronJob a belongs to somebody else.'
  t.strictSame([controller.requests(), controller.events()], [[writeStatus], [`Warning NameConflict: ${message}`]])
  t.strictSame(conditionsOf(controller), [`Degraded True NameConflict ${message}`, `Scheduled False NameConflict ${message}`])
  t.equal(found(controller).status?.cronJobName, undefined)
  t.strictSame(found(controller).status?.active, [])
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []])
  t.equal(controller.retryMs(), 30_000)
  await controller.remove(batch.cronJob, key)
  await controller.advance(30_000)
  t.strictSame(controller.events(), ['Normal Created: CronJob a with the schedule @daily'])
})

t.test('a ScheduledEcho that is being deleted gets no CronJob and no status', async (t) => {
  const controller = await start(t)
  await controller.put(scheduledEcho, aScheduledEcho({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  t.strictSame([controller.requests(), controller.events(), controller.retryMs()], [[], [], undefined])
})
