/** Tests of the webhooks of Echos and ScheduledEchos. */
import t from 'tap'
import { validateEcho, validateSchedule, validateScheduledEcho } from '../../../src/operators/echo/webhook.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/context.ts'
import { anEcho, aScheduledEcho } from '../../support/operators/echo.ts'
import { refusal } from '../../support/operators/scripted-controller.ts'

interface Found {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}
/** Validates an Echo and a ScheduledEcho with this name and message. */
function validate(name: string | undefined, message = 'Hola'): { readonly echo: Found; readonly scheduled: Found } {
  const metadata = { name } as never
  const found = (validator: (warn: (text: string) => void) => ReturnType<typeof validateEcho>): Found => {
    const warnings: string[] = []
    return { errors: validator((text) => void warnings.push(text)).map(({ path, message: text }) => `${path}: ${text}`), warnings }
  }
  return {
    echo: found((warn) => validateEcho(anEcho(message, metadata), undefined, { warn })),
    scheduled: found((warn) => validateScheduledEcho(aScheduledEcho({ message }, metadata), undefined, { warn })),
  }
}
const valid = { errors: [], warnings: [] }

t.test('an Echo has a name that a Job and a container can have, and a ScheduledEcho one that leaves room for its Jobs', async (t) => {
  for (const name of ['a', '0', 'a-b', 'a'.repeat(52), undefined])
    t.strictSame(validate(name), { echo: valid, scheduled: valid }, String(name))
  for (const name of ['a'.repeat(53), 'a'.repeat(63)]) {
    const { echo, scheduled } = validate(name)
    t.strictSame(echo, valid, name)
    t.match(scheduled.errors, [/^metadata\.name: .*at most 52 characters.*because the CronJob and its container have the same name$/])
  }
  for (const name of ['a'.repeat(64), 'a.b', 'A', '-a', 'a-', '', 'a_b']) {
    const { echo, scheduled } = validate(name)
    t.match(echo.errors, [/^metadata\.name: .*at most 63 characters.*because the Job and its container have the same name$/], name)
    t.equal(scheduled.errors.length, 1, name)
  }
})

t.test('a message that echo may read as an option is a warning', async (t) => {
  for (const message of ['-n', '-', '--help'])
    for (const { errors, warnings } of Object.values(validate('a', message))) {
      t.strictSame(errors, [])
      t.match(warnings, [/^spec\.message: .*begins with "-"/], message)
    }
  for (const message of ['', ' -n', 'a-b']) t.strictSame(validate('a', message), { echo: valid, scheduled: valid }, message)
})

t.test('the API server validates the schedule when it changes, with a dry run', async (t) => {
  const requests: unknown[] = []
  const check = (schedule: string, old?: string, error?: Error) => {
    const client = {
      create: async (_type: unknown, { metadata, spec }: { metadata: object; spec: { schedule: string } }, options: object) => {
        requests.push({ metadata, schedule: spec.schedule, ...options })
        if (error !== undefined) throw error
        return {}
      },
    }
    const before = old === undefined ? undefined : aScheduledEcho({ schedule: old })
    return validateSchedule(aScheduledEcho({ schedule }), before, { client } as unknown as AdmissionContext)
  }
  t.strictSame(await check('@daily'), [])
  t.strictSame(await check('@daily', '@hourly'), [])
  const request = { metadata: { generateName: 'schedule-check-', namespace: 'test' }, schedule: '@daily', dryRun: true }
  t.strictSame(requests, [request, request])
  t.strictSame(await check('never', 'never', refusal(422, 'Invalid')), [], 'an invalid schedule stays updatable')
  t.equal(requests.length, 2)

  const causes = [
    { field: 'spec.schedule', message: 'not a schedule' },
    { field: 'spec.jobTemplate', message: 'something else' },
  ]
  const errors = await check('never', '@daily', refusal(422, 'Invalid', 'no', causes))
  t.strictSame(
    errors.map(({ path, message, reason }) => `${path}: ${reason}: ${message}`),
    ['spec.schedule: FieldValueInvalid: Invalid value: "never": not a schedule'],
  )
  t.strictSame(await check('@daily', undefined, refusal(403, 'Forbidden')), [], 'a quota may allow the CronJob later')
  await t.rejects(check('@daily', undefined, new Error('connection refused')), { message: 'connection refused' })
})
