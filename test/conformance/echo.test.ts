/** The acceptance tests of the Echo operator. Each test is a row of the specification, E1 to E12. */
import t from 'tap'
import { findCondition } from '../../src/api/conditions.ts'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import { echoOperator } from '../../src/operators/echo/index.ts'
import type { Echo, ScheduledEcho } from '../../src/operators/echo/kind.ts'
import { echo, scheduledEcho } from '../../src/operators/echo/kind.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { until } from '../../src/testing/until.ts'
import { untilWebhooksAnswer } from '../support/conformance/answering-webhooks.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { untilCollected } from '../support/conformance/collected.ts'
import { setRules, withoutVerbs } from '../support/conformance/user-rules.ts'
import { untilGone } from '../support/devcluster/client.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

// The test takes long on a busy machine, because one row waits for a minute, and others wait for the garbage collector.
t.setTimeout(300_000)

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/app:1' }] } }
const user = { name: 'echo-operator', rules: rulesOfOperators([echoOperator]) }
const controlPlane = await conformanceControlPlane(t, { users: [user] })
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'echo')
const start = () => controlPlane.startOperator([echoOperator], { connection: controlPlane.connectionFor(user.name) })
let operator = await start()

interface Key {
  readonly namespace: string
  readonly name: string
}

const message = 'Hola, 世界!'
const newKey = async (name: string): Promise<Key> => ({ namespace: await newNamespace(), name })
const createEcho = (key: Key, text = message): Promise<Echo> => client.create(echo, { metadata: key, spec: { message: text } })
const createScheduled = (key: Key, spec: Partial<ScheduledEcho['spec']> = {}): Promise<ScheduledEcho> =>
  client.create(scheduledEcho, { metadata: key, spec: { message, schedule: '*/1 * * * *', ...spec } })
const untilJob = (key: Key, isWanted: (job: batch.Job) => boolean = () => true) =>
  until('the Job is there', async () => {
    const found = await client.get(batch.job, key).catch(() => undefined)
    return found !== undefined && isWanted(found) && found
  })
const untilCronJob = (key: Key, isWanted: (cronJob: batch.CronJob) => boolean = () => true) =>
  until(
    'the CronJob is as wanted',
    async () => {
      const found = await client.get(batch.cronJob, key).catch(() => undefined)
      return found !== undefined && isWanted(found) && found
    },
    10_000,
  )
const untilEcho = (key: Key, type: string) =>
  until(`the Echo is ${type}`, async () => {
    const found = await client.get(echo, key)
    return findCondition(found.status?.conditions, type)?.status === 'True' && found
  })
const reasonsOf = async ({ namespace, name }: Key): Promise<readonly unknown[]> => {
  const { items } = await client.list(core.event, { namespace, fieldSelector: `involvedObject.name=${name}` })
  return items.map(({ reason }) => reason)
}

const untilComplete = (key: Key) => untilEcho(key, 'Complete')

/** This ScheduledEcho is created before the first test. Its CronJob creates the first Job up to a minute later, while other tests run. */
const everyMinute = await newKey('every-minute')
await createScheduled(everyMinute)

t.test('E1: an Echo has a Job, and is complete when the Job is', async (t) => {
  const key = await newKey('hello-world')
  const created = await createEcho(key)
  const job = await untilJob(key)
  t.ok(isControlledBy(job, created))
  t.match(job.spec?.template.spec, {
    restartPolicy: 'Never',
    containers: [{ name: 'hello-world', image: 'busybox:1.33.1', imagePullPolicy: 'IfNotPresent', command: ['echo', message] }],
  })
  const { status } = await untilComplete(key)
  t.match(status, { jobName: 'hello-world', startTime: /Z$/, completionTime: /Z$/ })
  t.equal(findCondition(status?.conditions, 'Progressing')?.status, 'False')
  await until('the Events', async () => {
    const reasons = await reasonsOf(key)
    return ['Created', 'JobComplete'].every((reason) => reasons.includes(reason))
  })
  await untilCollected(client, echo, { metadata: await newKey('probe'), spec: { message } })
  t.equal((await client.get(batch.job, key)).metadata.uid, job.metadata.uid, 'the garbage collector keeps the Job')
})

t.test('E2, E3, E4: a ScheduledEcho has a CronJob, which follows it and is restored', async (t) => {
  const key = await newKey('hello-world-scheduled')
  const created = await createScheduled(key)
  const cronJob = await untilCronJob(key)
  t.ok(isControlledBy(cronJob, created))
  t.match(cronJob.spec, { schedule: '*/1 * * * *', concurrencyPolicy: 'Forbid' })
  await client.patch(batch.cronJob, key, { metadata: { labels: { team: 'a' } } })
  await client.patch(scheduledEcho, key, { spec: { schedule: '*/5 * * * *' } })
  const changed = await untilCronJob(key, ({ spec }) => spec?.schedule === '*/5 * * * *')
  t.match(changed.metadata.labels, { team: 'a' })
  await client.patch(batch.cronJob, key, { spec: { concurrencyPolicy: 'Allow' } })
  await untilCronJob(key, ({ spec }) => spec?.concurrencyPolicy === 'Forbid')
  await client.delete(batch.cronJob, key)
  await untilCronJob(key, ({ metadata }) => metadata.uid !== cronJob.metadata.uid)
  const { status } = await client.get(scheduledEcho, key)
  t.equal(status?.cronJobName, key.name)
  t.strictSame(status?.active, [])
  t.equal(findCondition(status?.conditions, 'Scheduled')?.status, 'True')
})

t.test('E5: Kubernetes expands nothing in a message', async (t) => {
  const key = await newKey('hostile')
  await createEcho(key, '$(HOSTNAME) ; rm -rf / && "x" $$ $')
  const { spec } = await untilJob(key)
  t.strictSame(spec?.template.spec?.containers[0]?.command, ['echo', '$$(HOSTNAME) ; rm -rf / && "x" $$$$ $$'])
})

t.test('E6: kubectl lists Echos and ScheduledEchos by their short names', needsKubectl, async (t) => {
  const key = await newKey('short')
  await Promise.all([createEcho(key), createScheduled(key, { schedule: '@daily' })])
  const { until: untilPrinted } = kubectlAs(t, controlPlane.kubeconfig)
  for (const [shortName, list] of [
    ['ec', /^NAME +MESSAGE +COMPLETE +AGE\nshort +Hola, 世界! +True +\d+s\n$/],
    ['sec', /^NAME +MESSAGE +SCHEDULE +SCHEDULED +LAST +AGE\nshort +Hola, 世界! +@daily +True +\d+s\n$/],
  ] as const)
    await untilPrinted(`get ${shortName} -n ${key.namespace}`, (text) => list.test(text))
})

t.test('E7: a schedule that is none is refused, and so are a missing message and names that Jobs cannot have', async (t) => {
  const key = await newKey('wrong')
  for (const schedule of ['foo', '* * * * * *', 'TZ=UTC * * * * *'])
    await t.rejects(createScheduled(key, { schedule }), { statusCode: 422, message: /spec\.schedule: Invalid value/ })
  for (const schedule of ['@daily', '0 4 * * mon'])
    await t.resolves(createScheduled({ ...key, name: `right-${schedule.length}` }, { schedule }))
  await t.rejects(client.create(echo, { metadata: key, spec: {} } as never), { statusCode: 422, message: /spec\.message: Required value/ })
  await t.rejects(createEcho({ ...key, name: 'a.b' }), { statusCode: 422, message: /metadata\.name: Invalid value: "a\.b"/ })
  await t.rejects(createScheduled({ ...key, name: 'a'.repeat(53) }), { statusCode: 422, message: /at most 52 characters/ })
  await t.resolves(createScheduled({ ...key, name: 'a'.repeat(52) }))
  const generated = { namespace: key.namespace, generateName: 'generated-' } as never
  await t.resolves(client.create(echo, { metadata: generated, spec: { message } }))
  await t.resolves(client.create(scheduledEcho, { metadata: generated, spec: { message, schedule: '@daily' } }))
})

t.test('E8: after a restart of the operator nothing runs again, also when the Job is gone', async (t) => {
  const key = await newKey('once')
  await createEcho(key)
  const before = await untilJob(key)
  await untilComplete(key)
  const { metadata: atRest } = await client.get(echo, key)
  await operator.stop()
  operator = await start()
  const later = { ...key, name: 'later' }
  await untilWebhooksAnswer(() => client.create(echo, { metadata: later, spec: { message } }, { dryRun: true }))
  await createEcho(later)
  await untilComplete(later)
  t.equal((await client.get(batch.job, key)).metadata.uid, before.metadata.uid)
  t.equal((await client.get(echo, key)).metadata.resourceVersion, atRest.resourceVersion, 'at rest nothing is written')
  const { metadata } = await client.get(echo, key)
  await client.delete(batch.job, key, { propagationPolicy: 'Background' })
  await until('the Job is gone', async () => (await client.list(batch.job, { namespace: key.namespace })).items.length === 1)
  const last = { ...key, name: 'last' }
  await createEcho(last)
  await untilComplete(last)
  t.equal((await client.list(batch.job, { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` })).items.length, 0)
  t.equal((await client.get(echo, key)).metadata.generation, metadata.generation)
  t.equal(findCondition((await client.get(echo, key)).status?.conditions, 'Complete')?.status, 'True')
})

t.test('E8: a Job that has ended and is deleted in the foreground, after its Pods, does not run again', async (t) => {
  const key = await newKey('once')
  await createEcho(key)
  await untilJob(key)
  const { metadata: atRest } = await untilComplete(key)
  await client.delete(batch.job, key, { propagationPolicy: 'Foreground' })
  await untilGone(client, batch.job, key)
  const last = { ...key, name: 'last' }
  await createEcho(last)
  await untilComplete(last)
  t.strictSame(
    (await client.list(batch.job, { namespace: key.namespace })).items.map(({ metadata }) => metadata.name),
    ['last'],
  )
  const { metadata, status } = await client.get(echo, key)
  t.equal(metadata.generation, atRest.generation)
  t.equal(findCondition(status?.conditions, 'Complete')?.status, 'True')
  t.equal(findCondition(status?.conditions, 'Progressing')?.reason, 'AsExpected')
})

t.test('another message is another Job', async (t) => {
  const key = await newKey('changed')
  await createEcho(key)
  const before = await untilJob(key)
  await untilComplete(key)
  await client.patch(echo, key, { spec: { message: 'Adiós' } })
  const after = await untilJob(key, ({ metadata }) => metadata.uid !== before.metadata.uid)
  t.strictSame(after.spec?.template.spec?.containers[0]?.command, ['echo', 'Adiós'])
  const { metadata } = await client.get(echo, key)
  await until('the new message is complete', async () => {
    const { status } = await client.get(echo, key)
    return findCondition(status?.conditions, 'Complete')?.status === 'True' && status?.observedGeneration === metadata.generation
  })
})

t.test('E9: Echos of one name in two namespaces have a Job each', async (t) => {
  const [one, two] = [await newKey('same'), await newKey('same')]
  await Promise.all([createEcho(one), createEcho(two)])
  t.not((await untilJob(one)).metadata.uid, (await untilJob(two)).metadata.uid)
})

t.test('a Job of somebody else is left alone', async (t) => {
  const key = await newKey('taken')
  const foreign = await client.create(batch.job, { metadata: key, spec: { suspend: true, template } })
  await createEcho(key)
  const { status } = await untilEcho(key, 'Failed')
  t.match(findCondition(status?.conditions, 'Failed'), { reason: 'NameConflict' })
  t.equal((await client.get(batch.job, key)).metadata.uid, foreign.metadata.uid)
})

t.test('Jobs and CronJobs that the API server refuses are reported once, and tried again', async (t) => {
  const kept = await newKey('kept')
  await createScheduled(kept)
  await untilCronJob(kept)
  const mayWrite = (wanted: boolean) =>
    setRules(
      controlPlane,
      user,
      wanted
        ? user.rules
        : ['jobs', 'cronjobs'].reduce((rules, resource) => withoutVerbs(rules, resource, ['create', 'patch']), user.rules),
      (client) =>
        client.create(batch.job, { metadata: { ...kept, name: 'may-i' }, spec: { template } }, { dryRun: true }).then(
          () => wanted,
          () => !wanted,
        ),
    )
  await mayWrite(false)
  const key = await newKey('refused')
  await createEcho(key)
  const { status } = await untilEcho(key, 'Failed')
  t.match(findCondition(status?.conditions, 'Failed'), { reason: 'JobRefused', message: /cannot create resource "jobs"/ })
  await client.patch(scheduledEcho, kept, { spec: { schedule: '@yearly' } })
  const scheduled = await until('the refusal is reported', async () => {
    const found = await client.get(scheduledEcho, kept)
    return findCondition(found.status?.conditions, 'Degraded')?.reason === 'CronJobRefused' && found
  })
  t.equal(scheduled.status?.cronJobName, kept.name, 'it still runs with the schedule before')
  // Each of these changes triggers a reconcile.
  for (const seen of ['1', '2', '3']) {
    await client.patch(echo, key, { metadata: { labels: { seen } } })
    await client.patch(scheduledEcho, kept, { metadata: { labels: { seen } } })
  }
  await until('the Events', async () => (await reasonsOf(key)).includes('JobRefused') && (await reasonsOf(kept)).includes('CronJobRefused'))
  await mayWrite(true)
  await client.patch(echo, key, { spec: { message: 'again' } })
  await untilComplete(key)
  await client.patch(scheduledEcho, kept, { metadata: { labels: { seen: 'last' } } })
  await untilCronJob(kept, ({ spec }) => spec?.schedule === '@yearly')
  const { items } = await client.list(core.event, { namespace: key.namespace, fieldSelector: 'reason=JobRefused' })
  t.strictSame(
    items.map(({ count = 1 }) => count),
    [1],
  )
})

t.test('E12: Jobs and CronJobs are deleted with their owners', async () => {
  await untilCollected(client, echo, { metadata: await newKey('probe'), spec: { message } })
  await untilCollected(client, scheduledEcho, { metadata: await newKey('probe'), spec: { message, schedule: '@daily' } })
  const key = await newKey('leaving')
  await Promise.all([createEcho(key), createScheduled(key)])
  await Promise.all([untilJob(key), untilCronJob(key)])
  await Promise.all([client.delete(echo, key), client.delete(scheduledEcho, key)])
  await until(
    'nothing is left',
    async () => {
      const lists = await Promise.all(
        [batch.job, batch.cronJob].map((type) => client.list(type as typeof batch.job, { namespace: key.namespace })),
      )
      return lists.every(({ items }) => items.length === 0)
    },
    40_000,
  )
})

t.test('E2: within 70 s the CronJob of a ScheduledEcho has run a Job', async (t) => {
  const cronJob = await client.get(batch.cronJob, everyMinute)
  const isComplete = ({ status }: batch.Job) => findCondition(status?.conditions, 'Complete')?.status === 'True'
  const job = await until(
    'a Job is complete',
    async () => (await client.list(batch.job, { namespace: everyMinute.namespace })).items.find(isComplete),
    70_000,
  )
  t.ok(isControlledBy(job, cronJob))
  t.strictSame(job.spec?.template.spec?.containers[0]?.command, ['echo', message])
  await until('the status says when', async () => {
    const { status } = await client.get(scheduledEcho, everyMinute)
    return status?.lastScheduleTime !== undefined && status.lastSuccessfulTime !== undefined
  })
})
