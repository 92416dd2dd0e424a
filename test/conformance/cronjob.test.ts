/**
 * The acceptance tests of the CronJob operator: the rows C1, C3 to C6, C13, C14 and C16 of the specification. The rows in which much time
 * passes are in `cronjob-schedules.test.ts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { pod as podType } from '../../src/api/builtin.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import type { NamespacedKey } from '../../src/api/object.ts'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import { isInvalid } from '../../src/client/api-error.ts'
import { createClient } from '../../src/client/client.ts'
import { cronJobOperator } from '../../src/operators/cronjob/index.ts'
import { cronJob, cronJobV2 } from '../../src/operators/cronjob/kind.ts'
import type { CronJob } from '../../src/operators/cronjob/kind.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'
import { untilCollected } from '../support/conformance/collected.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { jobTemplate, minute } from '../support/cronjob/objects.ts'
import { repository } from '../support/process/process.ts'

// The Jobs of the sample start at the beginning of a minute, and the test waits for these Jobs.
t.setTimeout(240_000)

const user = { name: 'cronjob-operator', rules: rulesOfOperators([cronJobOperator]) }
const rules = [{ apiGroups: ['batch.tutorial.kubebuilder.io'], resources: ['cronjobs'], verbs: ['create', 'update'] }]
const editor = { name: 'editor', rules }
const controlPlane = await conformanceControlPlane(t, { users: [user, editor] })
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'cronjob')
const start = () => controlPlane.startOperator([cronJobOperator], { connection: controlPlane.connectionFor(user.name) })
let operator = await start()

const newKey = async (name = 'cronjob-sample'): Promise<NamespacedKey> => ({ namespace: await newNamespace(), name })
const create = (key: NamespacedKey, spec: object = {}, type: typeof cronJob | typeof cronJobV2 = cronJob) =>
  client.create(type as typeof cronJob, { metadata: key, spec: { schedule: '@yearly', jobTemplate, ...spec } } as never)
const sample = (version: string, { namespace }: NamespacedKey) => {
  const object = parse(readFileSync(join(repository, `config/samples/cronjob-${version}.yaml`), 'utf8')) as { metadata: object }
  return { ...object, metadata: { ...object.metadata, namespace } } as never
}
const jobsOf = async ({ namespace }: NamespacedKey) => (await client.list(batch.job, { namespace })).items
const untilReconciled = (key: NamespacedKey) =>
  until('it is reconciled', async () => {
    const found = await client.get(cronJob, key)
    return found.status?.observedGeneration === found.metadata.generation && found
  })
/**
 * If the request is rejected with the reason `Invalid`, resolves with the causes of the error. If the request succeeds, resolves with an
 * empty list.
 */
const causesOf = (request: Promise<unknown>) =>
  request.then(
    () => [],
    (error: unknown) => (isInvalid(error) ? error.causes : Promise.reject(error as Error)),
  )

// A real API server calls new webhooks only after a moment.
const probe = await newKey('probe')
await until('invalid schedules are refused', () =>
  create(probe, { schedule: 'never' }).then(
    () => false,
    () => true,
  ),
)
await until('CronJobs of v2 are accepted', () => create({ ...probe, name: 'v2' }, { schedule: {}, suspend: true }, cronJobV2))

t.test('C1: the sample has a Job at the next full minute', async (t) => {
  const key = await newKey()
  const seen: CronJob[] = []
  const { resourceVersion } = (await client.list(cronJob, { namespace: key.namespace })).metadata
  const ended = new AbortController()
  t.teardown(() => ended.abort())
  const watching = (async () => {
    const options = { namespace: key.namespace, resourceVersion: resourceVersion ?? '', signal: ended.signal }
    for await (const event of client.watch(cronJob, options)) if (event.type !== 'BOOKMARK') seen.push(event.object as CronJob)
  })()
  watching.catch(() => undefined)
  await client.apply(cronJob, sample('v1', key), { fieldManager: 'kubectl' })
  const [job] = await until(
    'there is a Job',
    async () => {
      const found = await jobsOf(key)
      return found.length > 0 && found
    },
    65_000 + 20_000,
  )
  const seconds = Number(/^cronjob-sample-(\d+)$/.exec(job!.metadata.name)?.[1])
  t.equal(seconds % 60, 0)
  const scheduledAt = new Date(seconds * 1000).toISOString().replace('.000', '')
  t.equal(job!.metadata.annotations?.['batch.tutorial.kubebuilder.io/scheduled-at'], scheduledAt)
  t.ok(isControlledBy(job!, await client.get(cronJob, key)))
  const status = await until('the status has named the active Job', () => seen.find(({ status }) => status?.active?.length === 1)?.status)
  t.match(status, { active: [{ kind: 'Job', name: job!.metadata.name, uid: job!.metadata.uid }], lastScheduleTime: scheduledAt })
  await client.patch(cronJob, key, { spec: { suspend: true } })
})

t.test('C3: fields that are omitted have their defaults, and explicit values stay', async (t) => {
  const key = await newKey()
  t.match((await create(key)).spec, {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  const explicit = { concurrencyPolicy: 'Forbid', suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }
  t.match((await create({ ...key, name: 'explicit' }, explicit)).spec, explicit)
  t.match((await create({ ...key, name: 'v2' }, { schedule: {}, suspend: true }, cronJobV2)).spec, { successfulJobsHistoryLimit: 3 })
})

t.test('C4: a name of 53 characters is refused, and one of 52 is accepted', async (t) => {
  const key = await newKey('x'.repeat(53))
  await t.rejects(create(key), { statusCode: 422, message: /metadata\.name: Too long: may not be more than 52 bytes/ })
  await t.rejects(create({ ...key, name: 'a.b' }), { statusCode: 422, message: /metadata\.name: Invalid value: "a\.b"/ })
  await t.resolves(create({ ...key, name: 'x'.repeat(52) }))
  await t.resolves(
    client.create(cronJob, {
      metadata: { namespace: key.namespace, generateName: 'x-' },
      spec: { schedule: '@yearly', jobTemplate },
    } as never),
  )
})

t.test('C5: an invalid schedule is refused, in both versions', async (t) => {
  const key = await newKey()
  for (const [schedule, message] of [
    [
      'invalid-cron-schedule',
      /spec\.schedule: Invalid value: "invalid-cron-schedule": Expected exactly 5 fields, found 1: invalid-cron-schedule/,
    ],
    ['60 * * * *', /minute: "60" is outside of 0 to 59/],
    ['0 0 30 2 *', /never selects a time/],
    ['0 0 * * 7', /dayOfWeek: "7" is outside of 0 to 6/],
    ['TZ=UTC * * * * *', /a time zone is not supported/],
    ['@every 5m', /is none of the macros @yearly/],
    ['0 0 1 1 * *', /Expected exactly 5 fields, found 6/],
  ] as const)
    await t.rejects(create(key, { schedule }), { statusCode: 422, message }, schedule)
  for (const [schedule, field, message] of [
    [{ minute: '61' }, 'spec.schedule.minute', /Invalid value: "61": invalid cron schedule format: minute: "61" is outside of 0 to 59/],
    [{ minute: '1 2' }, 'spec.schedule.minute', /should match/],
    [{ hour: '' }, 'spec.schedule.hour', /should match/],
    [{ minute: '0', hour: '0', dayOfMonth: '31', month: 'FEB' }, 'spec.schedule', /invalid cron schedule format: never selects a time/],
  ] as const)
    t.match(await causesOf(create(key, { schedule }, cronJobV2)), [{ field, message }], JSON.stringify(schedule))
})

t.test('C6: a name that is too long and an invalid schedule are reported together', async (t) => {
  const key = await newKey('x'.repeat(53))
  const fieldsOf = async (request: Promise<unknown>) => (await causesOf(request)).map(({ field }) => field)
  t.strictSame(await fieldsOf(create(key, { schedule: 'invalid' })), ['metadata.name', 'spec.schedule'])
  const inV2 = create(key, { schedule: { hour: '24', month: '0' } }, cronJobV2)
  t.strictSame(await fieldsOf(inV2), ['metadata.name', 'spec.schedule.hour', 'spec.schedule.month'])
})

t.test('a Job template that the API server refuses is refused, and so is one that the requester may not use', async (t) => {
  const key = await newKey()
  const always = { spec: { template: { spec: { ...jobTemplate.spec.template.spec, restartPolicy: 'Always' } } } }
  const field = 'spec.jobTemplate.spec.template.spec.restartPolicy'
  t.match(await causesOf(create(key, { jobTemplate: always })), [{ field }])
  t.match(await causesOf(create(key, { jobTemplate: always, schedule: {} }, cronJobV2)), [{ field }])
  const taken = { ...jobTemplate, metadata: { labels: { 'batch.kubernetes.io/job-name': 'a' } } }
  await t.rejects(create(key, { jobTemplate: taken }), { message: /spec\.jobTemplate\.metadata\.labels\[.*job-name\]: Forbidden/ })
  const limited = createClient(controlPlane.connectionFor(editor.name))
  t.teardown(() => limited.close())
  for (const type of [cronJob, cronJobV2])
    await t.rejects(
      limited.create(type as typeof cronJob, { metadata: key, spec: { schedule: type === cronJob ? '@daily' : {}, jobTemplate } } as never),
      {
        message: /spec\.jobTemplate: Forbidden: user "editor" cannot create resource "jobs"/,
      },
    )
})

t.test('C13: both versions show the same CronJob, and its conditions survive an edit', async (t) => {
  const key = await newKey()
  await client.apply(cronJob, sample('v1', key), { fieldManager: 'kubectl' })
  const { status } = await untilReconciled(key)
  const inV2 = await client.get(cronJobV2, key)
  t.strictSame(inV2.spec.schedule, { minute: '*/1' })
  t.equal(inV2.metadata.annotations?.['batch.tutorial.kubebuilder.io/v1-schedule'], undefined)
  t.strictSame(inV2.status?.conditions, status?.conditions)
  const { metadata } = await client.apply(cronJobV2, sample('v2', key), { fieldManager: 'kubectl' })
  t.equal(metadata.uid, inV2.metadata.uid)
  t.equal((await client.get(cronJob, key)).spec.schedule, '*/1 * * * *')
  await client.patch(cronJobV2, key, { spec: { schedule: { hour: '3', minute: null }, suspend: true } })
  const edited = await untilReconciled(key)
  t.equal(edited.spec.schedule, '* 3 * * *')
  t.strictSame(
    edited.status?.conditions?.map(({ type }) => type),
    ['Available', 'Degraded', 'Progressing'],
  )
})

t.test('C14: a macro is listed in v2 by its fields, and stays when they are not changed', async (t) => {
  const key = await newKey()
  await create(key, { schedule: '@hourly' })
  const [listed] = (await client.list(cronJobV2, { namespace: key.namespace })).items
  t.strictSame(listed?.spec.schedule, { minute: '0' })
  t.match(listed?.metadata.annotations, { 'batch.tutorial.kubebuilder.io/v1-schedule': '@hourly' })
  await client.patch(cronJobV2, key, { spec: { failedJobsHistoryLimit: 7 } })
  t.match((await client.get(cronJob, key)).spec, { schedule: '@hourly', failedJobsHistoryLimit: 7 })
  await client.patch(cronJobV2, key, { spec: { schedule: { minute: '30' } } })
  const { spec, metadata } = await client.get(cronJob, key)
  t.equal(spec.schedule, '30 * * * *')
  t.equal(metadata.annotations?.['batch.tutorial.kubebuilder.io/v1-schedule'], undefined)
})

t.test('at rest nothing is written, also by an operator that is started again', needsRequests, async (t) => {
  const key = await newKey()
  await create(key, { schedule: '0 0 1 1 *' })
  const before = await untilReconciled(key)
  await operator.stop()
  const since = Date.now()
  operator = await start()
  const later = { ...key, name: 'later' }
  await until('another one can be created', () => create(later))
  await untilReconciled(later)
  t.equal((await client.get(cronJob, key)).metadata.resourceVersion, before.metadata.resourceVersion)
  const requests = (await controlPlane.requests()).filter(
    ({ at, user: by, verb }) => at >= since && by === user.name && !['get', 'list', 'watch'].includes(verb),
  )
  t.strictSame(
    requests.filter(({ path }) => path.includes(`/${key.namespace}/`) && path.includes(`/${key.name}`)).map(({ path }) => path),
    [],
  )
})

t.test('C16: the Jobs and Pods of a CronJob are deleted with it', async () => {
  await untilCollected(client, cronJob, { metadata: await newKey('probe'), spec: { schedule: '@yearly', jobTemplate } })
  const key = await newKey()
  await create(key, { schedule: '* * * * *', suspend: true })
  // Because of this `lastScheduleTime`, the controller finds a missed scheduled time, and starts a Job at once.
  const lastScheduleTime = new Date(Date.now() - 2 * minute).toISOString()
  await client.patchStatus(cronJob, key, { status: { lastScheduleTime } })
  await client.patch(cronJob, key, { spec: { suspend: false } })
  await until('there is a Pod', async () => (await client.list(podType, { namespace: key.namespace })).items.length > 0)
  await client.delete(cronJob, key)
  await until(
    'nothing is left',
    async () => {
      const { items } = await client.list(podType, { namespace: key.namespace })
      return items.length === 0 && (await jobsOf(key)).length === 0
    },
    40_000,
  )
})
