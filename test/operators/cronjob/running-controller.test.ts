/** Tests of the running controller of CronJobs: its own retries, and the changes that trigger a reconcile. */
import t from 'tap'
import type { Test } from 'tap'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { controller as definition } from '../../../src/operators/cronjob/controller.ts'
import { jobFor } from '../../../src/operators/cronjob/jobs.ts'
import type { CronJob } from '../../../src/operators/cronjob/kind.ts'
import { cronJob } from '../../../src/operators/cronjob/kind.ts'
import { endedStatus, jobTemplate, minute } from '../../support/cronjob/objects.ts'
import type { ScriptedController } from '../../support/operators/scripted-controller.ts'
import { refusal, scriptedController } from '../../support/operators/scripted-controller.ts'

const key = { namespace: 'test', name: 'a' }
const writeStatus = 'patchStatus cronjobs test/a'
/** The first scheduled time of a CronJob that is created when the clock starts. */
const first = Date.parse('2026-01-01T00:01:00Z')
const nameOf = (time: number): string => `a-${time / 1000}`
const create = (time: number): string => `create jobs test/${nameOf(time)}`

function aCronJob(spec: Partial<CronJob['spec']> = {}): CronJob {
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
    metadata: { ...key, uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { ...defaults, jobTemplate, ...spec },
  } as CronJob
}

const start = (t: Test) => scriptedController(t, definition)
const found = (controller: ScriptedController) => controller.get(cronJob, key) as unknown as CronJob
const degraded = (controller: ScriptedController) => {
  const { status, reason } = found(controller).status!.conditions!.find(({ type }) => type === 'Degraded')!
  return `${status} ${reason}`
}
async function end(controller: ScriptedController, time: number): Promise<void> {
  const job = controller.get(batch.job, { namespace: 'test', name: nameOf(time) })!
  const now = new Date(controller.clock.now()).toISOString()
  await controller.put(batch.job, { ...job, status: endedStatus('Complete', now, now) })
}

t.test('a Job starts at each scheduled time, without an event, and its end is reported', async (t) => {
  const controller = await start(t)
  await controller.put(cronJob, aCronJob())
  t.strictSame(controller.requests(), [writeStatus])
  t.equal(controller.retryMs(), minute)
  await controller.advance(minute - 1)
  t.strictSame(controller.requests(), [])
  await controller.advance(1)
  t.strictSame(controller.requests(), [create(first), writeStatus])
  t.equal(found(controller).status?.activeCount, 1)
  await end(controller, first)
  t.equal(found(controller).status?.activeCount, 0, 'the event of the Job is a reconcile')
  await controller.advance(minute)
  t.strictSame(controller.requests(), [writeStatus, create(first + minute), writeStatus])
  t.strictSame(controller.events(), [
    `Normal SuccessfulCreate: Created Job ${nameOf(first)}`,
    `Normal SuccessfulCreate: Created Job ${nameOf(first + minute)}`,
  ])
})

for (const [code, reason] of [
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [413, 'RequestEntityTooLarge'],
  [422, 'Invalid'],
] as const)
  // prettier-ignore
  t.test(`a Job that is refused with ${code} is reported once, and tried again after half a minute`, async (t) => {
    const controller = await start(t)
    controller.errors.create = refusal(code, reason, 'exceeded quota')
    await controller.put(cronJob, aCronJob({ schedule: '1 * * * *' }))
    controller.requests()
    await controller.advance(minute)
    t.strictSame(controller.requests(), [create(first), writeStatus])
    t.strictSame(controller.events(), [`Warning FailedCreate: Job ${nameOf(first)}: exceeded quota`])
    t.equal(degraded(controller), 'True JobCreationFailed')
    t.equal(controller.retryMs(), 30_000)
    await controller.advance(29_999)
    t.strictSame(controller.requests(), [])
    await controller.advance(1)
    t.strictSame([controller.requests(), controller.events()], [[create(first)], []])
    delete controller.errors.create
    await controller.advance(30_000)
    t.strictSame(controller.events(), [`Normal SuccessfulCreate: Created Job ${nameOf(first)}`])
    t.equal(degraded(controller), 'False AsExpected')
    t.equal(controller.retryMs(), 59 * minute, 'the next scheduled time')
    t.strictSame(controller.failures(), [])
  })

t.test('an active Job whose deletion is refused is reported once, and tried again after half a minute', async (t) => {
  const controller = await start(t)
  await controller.put(cronJob, aCronJob({ schedule: '1,2 * * * *', concurrencyPolicy: 'Replace' }))
  await controller.advance(minute)
  controller.events()
  controller.requests()
  controller.errors.delete = refusal(403, 'Forbidden', 'no right')
  await controller.advance(minute)
  const remove = /^delete jobs test\/a-\d+ \{"propagationPolicy":"Background","preconditions":\{"uid":"uid-a-\d+"\}\}$/
  t.match(controller.requests(), [remove, writeStatus])
  t.strictSame(controller.events(), ['Warning FailedDelete: An active Job cannot be replaced: no right'])
  t.equal(controller.retryMs(), 30_000)
  await controller.advance(30_000)
  t.equal(controller.events().length, 0)
  delete controller.errors.delete
  await controller.advance(30_000)
  t.strictSame(controller.events(), [
    `Normal SuccessfulDelete: Deleted Job ${nameOf(first)}`,
    `Normal SuccessfulCreate: Created Job ${nameOf(first + minute)}`,
  ])
  t.equal(degraded(controller), 'False AsExpected')
})

t.test('during an outage the tries are never more than a minute apart', async (t) => {
  const controller = await start(t)
  controller.errors.create = refusal(500, 'InternalError', 'not now')
  await controller.put(cronJob, aCronJob({ schedule: '1 * * * *' }))
  await controller.advance(minute)
  t.equal(controller.retryMs(), 5)
  const delays: number[] = []
  for (let tries = 0; tries < 20; tries++) {
    const delay = controller.retryMs()!
    delays.push(delay)
    await controller.advance(delay)
  }
  t.ok(delays.every((delay) => delay <= minute))
  t.equal(delays.at(-1), minute)
  t.equal(controller.events().length, 1, 'the outage is one Event')
  delete controller.errors.create
  await controller.advance(minute)
  t.strictSame(controller.events(), [`Normal SuccessfulCreate: Created Job ${nameOf(first)}`])
})

t.test('a status that cannot be written fails the reconcile, and the Job is not started twice', async (t) => {
  const controller = await start(t)
  await controller.put(cronJob, aCronJob())
  controller.errors.patchStatus = refusal(500, 'InternalError', 'not now')
  await controller.advance(minute)
  t.strictSame(controller.failures(), ['not now'])
  delete controller.errors.patchStatus
  controller.requests()
  await controller.advance(5)
  t.strictSame(controller.requests(), [writeStatus])
  t.match(found(controller).status, { activeCount: 1, lastScheduleTime: '2026-01-01T00:01:00Z' })
})

t.test('a Job that the API server refuses to delete is tried again after half a minute, and does not delay the next one', async (t) => {
  const controller = await start(t)
  await controller.put(cronJob, aCronJob({ schedule: '1 * * * *', successfulJobsHistoryLimit: 0 }))
  await controller.advance(minute)
  controller.errors.delete = refusal(403, 'Forbidden', 'no right')
  await end(controller, first)
  t.equal(controller.retryMs(), 30_000)
  delete controller.errors.delete
  controller.events()
  await controller.advance(30_000)
  t.strictSame(controller.events(), [`Normal SuccessfulDelete: Deleted Job ${nameOf(first)}`])
})

t.test('a Job of the template has its labels and annotations, and the scheduled time', async (t) => {
  const template = { ...jobTemplate, metadata: { labels: { app: 'report' }, annotations: { note: 'x' } } }
  const { metadata, spec } = jobFor(aCronJob({ jobTemplate: template as never }), first)
  t.match(metadata, {
    namespace: 'test',
    name: nameOf(first),
    labels: { app: 'report' },
    annotations: { note: 'x', 'batch.tutorial.kubebuilder.io/scheduled-at': '2026-01-01T00:01:00Z' },
    ownerReferences: [{ kind: 'CronJob', name: 'a', uid: 'u', controller: true, blockOwnerDeletion: true }],
  })
  t.strictSame(spec, jobTemplate.spec)
})
