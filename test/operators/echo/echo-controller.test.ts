/** Tests of the controller of Echos. It must create one Job for each message, even if requests fail or other clients change the Job. */
import t from 'tap'
import type { Test } from 'tap'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { echoController } from '../../../src/operators/echo/echo-controller.ts'
import type { Echo } from '../../../src/operators/echo/kind.ts'
import { echo } from '../../../src/operators/echo/kind.ts'
import { aJob, anEcho } from '../../support/operators/echo.ts'
import type { ScriptedController } from '../../support/operators/scripted-controller.ts'
import { refusal, scriptedController } from '../../support/operators/scripted-controller.ts'

const key = { namespace: 'test', name: 'a' }
const create = 'create jobs test/a'
const remove = (uid: string): string => `delete jobs test/a {"propagationPolicy":"Background","preconditions":{"uid":"${uid}"}}`
const writeStatus = 'patchStatus echos test/a'

const start = (t: Test) => scriptedController(t, echoController)
const found = (controller: ScriptedController) => controller.get(echo, key) as unknown as Echo
const jobIn = (controller: ScriptedController) => controller.get(batch.job, key) as unknown as batch.Job
const conditionsOf = (controller: ScriptedController) =>
  found(controller).status?.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim())

/** Starts a controller whose Echo already has a Job. */
async function withJob(t: Test, status: object = {}, object = anEcho()): Promise<ScriptedController> {
  const controller = await start(t)
  await controller.put(batch.job, aJob(object, status))
  await controller.put(echo, object)
  controller.requests()
  controller.events()
  return controller
}
async function touch(controller: ScriptedController, team: string): Promise<void> {
  const object = found(controller)
  await controller.put(echo, { ...object, metadata: { ...object.metadata, labels: { team } } })
}
/** Changes the message like a client, and increments the generation like the API server. */
async function say(controller: ScriptedController, message: string): Promise<void> {
  const { metadata, ...rest } = found(controller)
  await controller.put(echo, { ...rest, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 }, spec: { message } })
}

const complete = {
  startTime: '2026-01-01T00:00:01Z',
  completionTime: '2026-01-01T00:00:05Z',
  conditions: [
    { type: 'SuccessCriteriaMet', status: 'True' },
    { type: 'Complete', status: 'True' },
  ],
}
const failed = { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too many failures' }] }

t.test('an Echo gets one Job, and follows it until the Job is complete', async (t) => {
  const controller = await start(t)
  await controller.put(echo, anEcho())
  t.strictSame(controller.requests(), [create, writeStatus])
  t.strictSame(controller.events(), ['Normal Created: Job a'])
  t.strictSame(conditionsOf(controller), [
    'Complete False AsExpected',
    'Failed False AsExpected',
    'Progressing True JobRunning Job a has not ended yet.',
  ])
  t.match(found(controller).status, { jobName: 'a', observedGeneration: 1 })
  t.equal(controller.retryMs(), undefined)
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []], 'nothing has changed')
  const { startTime } = complete
  const suspended = { startTime, conditions: [{ type: 'Suspended', status: 'True' }, { type: 'Complete', status: 'False' }] } // prettier-ignore
  await controller.put(batch.job, { ...jobIn(controller), status: suspended })
  t.equal(found(controller).status?.startTime, '2026-01-01T00:00:01Z')
  t.equal(conditionsOf(controller)?.[2], 'Progressing True JobRunning Job a has not ended yet.')
  await controller.put(batch.job, { ...jobIn(controller), status: complete })
  t.strictSame(controller.events(), ['Normal JobComplete: Job a has printed the message.'])
  t.strictSame(conditionsOf(controller), [
    'Complete True JobComplete Job a has printed the message.',
    'Failed False AsExpected',
    'Progressing False AsExpected',
  ])
  t.match(found(controller).status, { jobName: 'a', startTime: '2026-01-01T00:00:01Z', completionTime: '2026-01-01T00:00:05Z' })
  await touch(controller, 'b')
  t.strictSame(controller.events(), [], 'the end of a Job is one Event')
})

t.test('a failed Job is reported once, with its own reason', async (t) => {
  const controller = await start(t)
  await controller.put(echo, anEcho())
  controller.events()
  await controller.put(batch.job, { ...jobIn(controller), status: failed })
  t.strictSame(controller.events(), ['Warning JobFailed: too many failures'])
  t.strictSame(conditionsOf(controller), [
    'Complete False AsExpected',
    'Failed True BackoffLimitExceeded too many failures',
    'Progressing False AsExpected',
  ])
  await touch(controller, 'a')
  t.strictSame(controller.events(), [])
  const bare = await withJob(t, { conditions: [{ type: 'Failed', status: 'True' }] })
  t.equal(conditionsOf(bare)?.[1], 'Failed True JobFailed')
})

t.test('a Job that has ended and is gone is not run again for the same message', async (t) => {
  for (const status of [complete, failed]) {
    const controller = await withJob(t, status)
    const before = conditionsOf(controller)
    await controller.put(batch.job, { ...jobIn(controller), metadata: { ...jobIn(controller).metadata, deletionTimestamp: 'x' } })
    t.strictSame([controller.requests(), conditionsOf(controller)], [[], before], 'its deletion changes nothing')
    await controller.remove(batch.job, key)
    await touch(controller, 'a')
    t.strictSame([controller.requests(), conditionsOf(controller)], [[], before])
    t.equal(found(controller).status?.jobName, 'a')
    await say(controller, 'Adiós')
    t.equal(controller.requests()[0], create, 'another message is another run')
  }
})

t.test('a Job that is deleted before it has ended is created again', async (t) => {
  const controller = await withJob(t, { startTime: '2026-01-01T00:00:01Z' })
  await controller.put(batch.job, { ...jobIn(controller), metadata: { ...jobIn(controller).metadata, deletionTimestamp: 'x' } })
  t.strictSame(controller.requests(), [writeStatus], 'the name is not free yet')
  t.strictSame(conditionsOf(controller)?.[2], 'Progressing True ReplacingJob The Job of the message before is being deleted.')
  t.strictSame([found(controller).status?.jobName, found(controller).status?.startTime], [undefined, undefined])
  await controller.remove(batch.job, key)
  t.strictSame(controller.requests(), [create, writeStatus])
  t.strictSame(controller.events(), ['Normal Created: Job a'])
})

t.test('another message replaces the Job, which is deleted once', async (t) => {
  const controller = await withJob(t, complete)
  await say(controller, 'Adiós')
  t.strictSame(controller.requests(), [writeStatus, remove('job'), create, writeStatus])
  t.strictSame(controller.events(), ['Normal Updated: The message has changed: Job a is replaced', 'Normal Created: Job a'])
  t.match(jobIn(controller).spec?.template.spec?.containers, [{ command: ['echo', 'Adiós'] }])
  const conditions = ['Complete', 'Failed', 'Progressing'].map((type) => ({ type, observedGeneration: 2 }))
  t.match(found(controller).status, { jobName: 'a', observedGeneration: 2, conditions })
  t.equal(found(controller).status?.completionTime, undefined)
  t.equal(conditionsOf(controller)?.[0], 'Complete False AsExpected')
})

t.test('the Job of the message before is reported as replaced when it is deleted, and not while its deletion fails', async (t) => {
  const controller = await withJob(t)
  controller.errors.delete = refusal(403, 'Forbidden', 'no right')
  await say(controller, 'Adiós')
  t.strictSame([controller.events(), controller.failures()], [[], ['no right']])
  t.equal(conditionsOf(controller)?.[2], 'Progressing True ReplacingJob The Job of the message before is being deleted.')
  t.equal(controller.retryMs(), 5)
  delete controller.errors.delete
  await controller.advance(5)
  t.strictSame(controller.events(), ['Normal Updated: The message has changed: Job a is replaced', 'Normal Created: Job a'])
})

t.test('a Job that another client has deleted already is no error', async (t) => {
  const controller = await withJob(t)
  controller.errors.delete = refusal(404, 'NotFound')
  await say(controller, 'Adiós')
  t.strictSame([controller.failures(), controller.retryMs()], [[], undefined], 'the event of the deletion is the next reconcile')
  await controller.remove(batch.job, key)
  t.equal(controller.requests().at(-2), create)
})

for (const [code, reason] of [
  [403, 'Forbidden'],
  [422, 'Invalid'],
] as const)
  // prettier-ignore
  t.test(`a Job that is refused with ${code} is reported once, and tried again after half a minute`, async (t) => {
    const controller = await start(t)
    controller.errors.create = refusal(code, reason, 'exceeded quota')
    await controller.put(echo, anEcho())
    t.strictSame(controller.requests(), [create, writeStatus])
    t.strictSame(controller.events(), ['Warning JobRefused: exceeded quota'])
    t.strictSame(conditionsOf(controller), [
      'Complete False AsExpected',
      'Failed True JobRefused exceeded quota',
      'Progressing False AsExpected',
    ])
    t.equal(found(controller).status?.jobName, undefined)
    t.equal(controller.retryMs(), 30_000)
    await touch(controller, 'a')
    t.strictSame([controller.requests(), controller.events()], [[create], []], 'the status contains the refusal already')
    await controller.advance(29_999)
    t.strictSame(controller.requests(), [])
    await controller.advance(1)
    t.strictSame([controller.requests(), controller.events()], [[create], []])
    delete controller.errors.create
    await controller.advance(30_000)
    t.strictSame(controller.events(), ['Normal Created: Job a'])
    t.equal(conditionsOf(controller)?.[1], 'Failed False AsExpected')
    t.equal(controller.retryMs(), undefined)
    t.strictSame(controller.failures(), [])
  })

t.test('a refusal is a new Warning unless the status contains it as the current one', async (t) => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const known = { type: 'Failed', status: 'True', reason: 'JobRefused', message: 'exceeded quota', lastTransitionTime }
  for (const [change, warnings] of [
    [{}, 0],
    [{ status: 'False' }, 1],
    [{ reason: 'NameConflict' }, 1],
    [{ message: 'another quota' }, 1],
    [{ type: 'Complete' }, 1],
  ] as const) {
    const controller = await start(t)
    controller.errors.create = refusal(403, 'Forbidden', 'exceeded quota')
    await controller.put(echo, { ...anEcho(), status: { observedGeneration: 0, conditions: [{ ...known, ...change }] } })
    t.equal(controller.events().length, warnings, JSON.stringify(change))
  }
})

t.test('an error that is no refusal fails the reconcile, which is tried again with back-off', async (t) => {
  for (const error of [refusal(500, 'InternalError', 'not now'), refusal(409, 'Conflict', 'changed'), new Error('connection refused')]) {
    const controller = await start(t)
    controller.errors.create = error
    await controller.put(echo, anEcho())
    t.strictSame(controller.failures(), [error.message])
    t.strictSame([controller.requests(), controller.events(), found(controller).status], [[create], [], undefined])
    t.equal(controller.retryMs(), 5)
  }
})

t.test('a status that cannot be written fails the reconcile, and the Job is not created twice', async (t) => {
  const controller = await start(t)
  controller.errors.patchStatus = refusal(500, 'InternalError', 'not now')
  await controller.put(echo, anEcho())
  t.strictSame(controller.failures(), ['not now'])
  delete controller.errors.patchStatus
  controller.requests()
  await controller.advance(5)
  t.strictSame(controller.requests(), [writeStatus])
})

t.test('a Job that the cache does not have yet is awaited with back-off, without an Event', async (t) => {
  const controller = await start(t)
  controller.errors.create = refusal(409, 'AlreadyExists')
  await controller.put(echo, anEcho())
  t.strictSame([controller.requests(), controller.events(), controller.failures()], [[create], [], []])
  t.equal(controller.retryMs(), 5)
  await controller.put(batch.job, aJob(anEcho()))
  t.strictSame(controller.requests(), [writeStatus])
  t.equal(controller.retryMs(), undefined)
})

t.test('a Job of another owner is reported once, and is not changed', async (t) => {
  const controller = await start(t)
  await controller.put(batch.job, aJob(anEcho('Hola', { uid: 'before' }), complete))
  await controller.put(echo, anEcho())
  const message = 'The Job a belongs to somebody else.'
  t.strictSame([controller.requests(), controller.events()], [[writeStatus], [`Warning NameConflict: ${message}`]])
  t.strictSame(conditionsOf(controller), [
    'Complete False AsExpected',
    `Failed True NameConflict ${message}`,
    'Progressing False AsExpected',
  ])
  t.equal(found(controller).status?.jobName, undefined)
  await touch(controller, 'a')
  t.strictSame([controller.requests(), controller.events()], [[], []])
  t.equal(controller.retryMs(), 30_000)
  await controller.remove(batch.job, key)
  await controller.advance(30_000)
  t.strictSame(controller.events(), ['Normal Created: Job a'])
})

t.test('an Echo that is being deleted gets no Job and no status', async (t) => {
  const controller = await start(t)
  await controller.put(echo, anEcho('Hola', { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  t.strictSame([controller.requests(), controller.events(), controller.retryMs()], [[], [], undefined])
})

t.test('an end of which the status reports an earlier generation does not count for the message of now', async (t) => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const ended = { type: 'Complete', status: 'True', reason: 'JobComplete', message: '', lastTransitionTime }
  for (const [status, requests] of [
    [{ observedGeneration: 2, conditions: [ended] }, []],
    [{ observedGeneration: 1, conditions: [ended] }, [create, writeStatus]],
    [{ observedGeneration: 2, conditions: [{ ...ended, status: 'False' }] }, [create, writeStatus]],
    [{ observedGeneration: 2, conditions: [{ ...ended, type: 'Progressing' }] }, [create, writeStatus]],
  ] as const) {
    const controller = await start(t)
    await controller.put(echo, { ...anEcho('Hola', { generation: 2 }), status })
    t.strictSame(controller.requests(), requests, JSON.stringify(status))
  }
})
