/** Tests of the webhooks of CronJobs for what the acceptance rows do not show. */
import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import { scheduleAnnotation } from '../../../src/operators/cronjob/conversion.ts'
import type { CronJob, CronJobV2 } from '../../../src/operators/cronjob/kind.ts'
import { validateInCluster, validateV1, validateV2 } from '../../../src/operators/cronjob/webhook.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/context.ts'
import { jobTemplate } from '../../support/cronjob/objects.ts'

const inV1 = (spec: object = {}, metadata: object = {}): CronJob =>
  ({ metadata: { namespace: 'test', name: 'a', ...metadata }, spec: { schedule: '@daily', jobTemplate, ...spec } }) as CronJob
const inV2 = (schedule: object, annotation?: string): CronJobV2 => {
  const annotations = annotation === undefined ? {} : { [scheduleAnnotation]: annotation }
  return { metadata: { namespace: 'test', name: 'a', annotations }, spec: { schedule, jobTemplate } } as unknown as CronJobV2
}
const warnings: string[] = []
const warn = { warn: (text: string) => void warnings.push(text) }

t.test('an object that is being deleted stays updatable, and so does one whose invalid schedule does not change', async (t) => {
  const invalid = inV1({ schedule: 'never' })
  t.equal(validateV1(invalid, undefined, warn).length, 1)
  t.strictSame(validateV1(invalid, invalid, warn), [])
  t.strictSame(validateV1(inV1({ schedule: 'never' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined, warn), [])
  const before = inV2({}, '@every 5m')
  t.strictSame(validateV2(inV2({}, '@every 5m'), before, warn), [])
  t.equal(validateV2(inV2({ minute: '61' }, '@every 5m'), before, warn).length, 1)
})

t.test('the annotation brings no schedule into v1 that is refused there', async (t) => {
  t.match(validateV2(inV2({}, '@every 5m'), undefined, warn), [
    { path: `metadata.annotations[${scheduleAnnotation}]`, message: /"@every 5m": invalid cron schedule format: is none of the macros/ },
  ])
  t.strictSame(validateV2(inV2({ minute: '0' }, '@hourly'), undefined, warn), [])
  t.strictSame(validateV2(inV2({ minute: '1' }, '@every 5m'), undefined, warn), [], 'the fields count')
})

t.test('a deadline of 0 gives a warning', async (t) => {
  warnings.length = 0
  t.strictSame(validateV1(inV1({ startingDeadlineSeconds: 0 }), undefined, warn), [])
  t.match(warnings, [/^spec\.startingDeadlineSeconds: with 0/])
})

t.test('labels and annotations that others set on Jobs are refused', async (t) => {
  const { spec } = jobTemplate
  const template = { ...spec.template, metadata: { labels: { 'controller-uid': 'x' } } }
  const metadata = { labels: { 'job-name': 'x', app: 'y' }, annotations: { 'batch.tutorial.kubebuilder.io/scheduled-at': 'x' } }
  const errors = validateV1(inV1({ jobTemplate: { metadata, spec: { ...spec, template } } }), undefined, warn)
  t.strictSame(
    errors.map(({ path }) => path),
    [
      'spec.jobTemplate.metadata.labels[job-name]',
      'spec.jobTemplate.spec.template.metadata.labels[controller-uid]',
      'spec.jobTemplate.metadata.annotations[batch.tutorial.kubebuilder.io/scheduled-at]',
    ],
  )
})

t.test('the Job template is checked when it changes, and the requester when the spec does', async (t) => {
  let mayCreate = true
  const calls: string[] = []
  const contextWith = (error?: ApiError): AdmissionContext =>
    ({
      ...warn,
      namespace: 'test',
      user: { username: 'jane' },
      requesterCan: async ({ verb }: { verb: string }) => (calls.push(verb), mayCreate),
      client: {
        create: async (_type: unknown, _job: unknown, { dryRun }: { dryRun: boolean }) => {
          calls.push(`create, dryRun: ${dryRun}`)
          if (error !== undefined) throw error
        },
      },
    }) as unknown as AdmissionContext
  const check = async (object: CronJob, old?: CronJob, error?: ApiError) => {
    calls.length = 0
    return validateInCluster(object, old, contextWith(error))
  }
  t.strictSame(await check(inV1()), [])
  t.strictSame([...calls], ['create', 'create, dryRun: true'])
  await check(inV1({ suspend: true }), inV1())
  t.strictSame([...calls], ['create'])
  await check(inV1({}, { labels: { a: 'b' } }), inV1())
  t.strictSame([...calls], [])
  mayCreate = false
  for (const old of [undefined, inV1()]) {
    t.match(await check(inV1({ suspend: true }), old), [{ path: 'spec.jobTemplate', message: /user "jane" cannot create resource "jobs"/ }])
    t.strictSame([...calls], ['create'], 'the operator sends no request that the user may not send')
  }
  mayCreate = true

  const answer = (code: number, reason: string, details = {}): ApiError => new ApiError({ ...failure(code, reason, 'no'), ...details })
  const causes = [
    { field: 'spec.template.spec.restartPolicy', message: 'Required value', reason: 'FieldValueRequired' },
    { field: 'metadata.labels', message: 'Invalid value' },
  ]
  t.strictSame(await check(inV1(), undefined, answer(422, 'Invalid', { details: { causes } })), [
    { path: 'spec.jobTemplate.spec.template.spec.restartPolicy', message: 'Required value', reason: 'FieldValueRequired' },
    { path: 'spec.jobTemplate.metadata.labels', message: 'Invalid value', reason: 'FieldValueInvalid' },
  ])
  t.match(await check(inV1(), undefined, answer(400, 'BadRequest')), [{ path: 'spec.jobTemplate', message: /no$/ }])
  warnings.length = 0
  t.strictSame(await check(inV1(), undefined, answer(403, 'Forbidden')), [], 'a quota may allow the Jobs later')
  t.strictSame(warnings, ['a Job would be refused now: no'])
  t.strictSame(await check(inV1(), undefined, answer(404, 'NotFound')), [])
  await t.rejects(check(inV1(), undefined, answer(500, 'InternalError')), { message: 'no' })
})

t.test('the Job that is checked is the one of the template, in the namespace of the CronJob', async (t) => {
  const created: unknown[] = []
  const context = {
    ...warn,
    namespace: 'test',
    user: { username: 'jane' },
    requesterCan: async () => true,
    client: { create: async (_type: unknown, job: unknown, options: object) => void created.push({ ...(job as object), ...options }) },
  } as unknown as AdmissionContext
  const metadata = { labels: { app: 'report' }, annotations: { note: 'x' } }
  t.strictSame(
    await validateInCluster(inV1({ jobTemplate: { ...jobTemplate, metadata: { ...metadata, finalizers: ['a/b'] } } }), undefined, context),
    [],
  )
  const { spec } = jobTemplate
  t.strictSame(created, [{ spec, metadata: { generateName: 'cronjob-check-', namespace: 'test', ...metadata }, dryRun: true }])
  created.length = 0
  const deleted = inV1({ jobTemplate: { ...jobTemplate, metadata } }, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  t.strictSame(await validateInCluster(deleted, inV1(), context), [])
  t.strictSame(created, [])
})

t.test('a refusal that names no field is about the whole template', async (t) => {
  const check = (error: Error) =>
    validateInCluster(inV1(), undefined, {
      ...warn,
      requesterCan: async () => true,
      client: { create: () => Promise.reject(error) },
    } as unknown as AdmissionContext)
  const refused = (details: object) => new ApiError({ ...failure(422, 'Invalid', 'denied by a policy'), ...details })
  t.match(await check(refused({})), [{ path: 'spec.jobTemplate', message: /denied by a policy$/ }])
  t.strictSame(await check(refused({ details: { causes: [{ message: 'Forbidden: no', reason: 'FieldValueForbidden' }] } })), [
    { path: 'spec.jobTemplate', message: 'Forbidden: no', reason: 'FieldValueForbidden' },
  ])
  await t.rejects(check(new Error('connection refused')), { message: 'connection refused' })
})

t.test('a name leaves room for the scheduled time in the names of the Jobs, and is a label', async (t) => {
  const errorsOf = (name: string | undefined) =>
    validateV1(inV1({}, { name }), undefined, warn).map(({ path, reason }) => `${path} ${reason}`)
  for (const name of ['a', '0', 'a-b', 'a'.repeat(52), undefined]) t.strictSame(errorsOf(name), [], String(name))
  t.strictSame(errorsOf('a'.repeat(53)), ['metadata.name FieldValueTooLong'])
  for (const name of ['', 'a.b', 'A', '-a', 'a-']) t.strictSame(errorsOf(name), ['metadata.name FieldValueInvalid'], name)
})

t.test('every label that the Job controller sets is refused, and a similar one is not', async (t) => {
  const taken = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name']
  const labels = Object.fromEntries([...taken, 'app', 'job-names'].map((key) => [key, 'x']))
  const errors = validateV1(inV1({ jobTemplate: { ...jobTemplate, metadata: { labels } } }), undefined, warn)
  t.strictSame(
    errors.map(({ path, reason }) => `${path} ${reason}`),
    taken.map((key) => `spec.jobTemplate.metadata.labels[${key}] FieldValueForbidden`),
  )
})

t.test('a field of v2 that is invalid is named, and only a deadline of 0 is a warning', async (t) => {
  const pathsOf = (schedule: object) => validateV2(inV2(schedule), undefined, warn).map(({ path }) => path)
  t.strictSame(pathsOf({ minute: '61', hour: '24' }), ['spec.schedule.minute', 'spec.schedule.hour'])
  t.strictSame(pathsOf({ dayOfMonth: '30', month: '2' }), ['spec.schedule'])
  t.strictSame(pathsOf({ minute: '1 2' }), [], 'the schema reports it')
  t.strictSame(pathsOf({ minute: '' }), [], 'the schema reports it')
  warnings.length = 0
  validateV1(inV1({ startingDeadlineSeconds: 1 }), undefined, warn)
  validateV1(inV1(), undefined, warn)
  t.strictSame(warnings, [])
})
