import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { batch, core, createClient, isNotFound, keyOf, versionOf } from 'proreus'
import type { InferInput } from 'proreus'
import { FakeClock, startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { parse } from 'yaml'
import { cronJob } from './kind.ts'
import { operator } from './operator.ts'

const v2 = versionOf(cronJob, 'v2')
const namespace = 'test'
const second = 1000
const minute = 60 * second
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } } }

const rules = [{ apiGroups: ['batch.tutorial.kubebuilder.io'], resources: ['cronjobs'], verbs: ['create'] }]
const editor = { name: 'editor', rules }

const clock = new FakeClock(Date.now())
let controlPlane: ControlPlane
before(async () => {
  // `binaries` takes a real kube-apiserver and etcd. The tests finish the Jobs themselves.
  const backend = process.env.PROREUS_BACKEND === 'binaries' ? 'binaries' : 'embedded'
  controlPlane = await startControlPlane({ backend, controllers: false, namespaces: [namespace], users: [editor] })
  await controlPlane.startOperator([operator], { clock })
  const probe = { metadata: { namespace, name: 'probe' }, spec: { schedule: '0 0 29 2 *', jobTemplate } }
  await until('conversion and webhook work', () => controlPlane.client.create(cronJob, probe, { dryRun: true }).then(() => true))
  const refused = { ...probe, spec: { schedule: 'never', jobTemplate } }
  await until('bad schedules are refused', () =>
    controlPlane.client.create(cronJob, refused, { dryRun: true }).then(
      () => false,
      () => true,
    ),
  )
})
after(() => controlPlane.stop())
// The API server sets creation timestamps by the real time.
beforeEach(() => clock.set(Date.now()))

/** Creates a CronJob, and waits until it was reconciled. Returns the first minute after its creation. */
async function create(name: string, spec: Partial<InferInput<typeof cronJob>['spec']> = {}): Promise<number> {
  const object = await controlPlane.client.create(cronJob, {
    metadata: { namespace, name },
    spec: { schedule: '* * * * *', jobTemplate, ...spec },
  })
  await until(`${name} is reconciled`, async () => {
    // A real API server ends watches after a change of the CustomResourceDefinition. The pause before the next watch needs the clock.
    await clock.advance(100)
    return (await get(name)).status?.active !== undefined
  })
  const created = Math.max(Date.parse(object.metadata.creationTimestamp), clock.now())
  return Math.floor(created / minute) * minute + minute
}
const advanceTo = (time: number) => clock.advance(time - clock.now())
const get = (name: string) => controlPlane.client.get(cronJob, { namespace, name })
const jobName = (name: string, time: number) => `${name}-${time / second}`

async function jobsOf(name: string): Promise<string[]> {
  const { items } = await controlPlane.client.list(batch.job, { namespace })
  return items.map(({ metadata }) => metadata.name).filter((job) => job.replace(/-\d+$/, '') === name)
}
const untilJobs = (name: string, times: readonly number[]) =>
  until(`${name} has Jobs of ${times.join()}`, async () => String(await jobsOf(name)) === String(times.map((time) => jobName(name, time))))
const untilActive = (name: string, times: readonly number[]) =>
  until(`${times.join()} are active`, async () => {
    const names = (await get(name)).status?.active?.map((job) => job.name)
    return names !== undefined && String(names) === String(times.map((time) => jobName(name, time)))
  })
const untilEvent = (name: string, reason: string) =>
  until(`there is an event ${reason}`, async () =>
    (await controlPlane.client.list(core.event, { namespace })).items.find(
      (event) => event.involvedObject.name === name && event.reason === reason,
    ),
  )

async function finish(name: string, time: number, outcome: 'Complete' | 'Failed' = 'Complete'): Promise<void> {
  const at = new Date().toISOString().replace(/\.\d+/, '')
  const first = outcome === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  const conditions = [first, outcome].map((type) => ({ type, status: 'True', lastProbeTime: at, lastTransitionTime: at }))
  const status = { startTime: at, conditions, ...(outcome === 'Complete' && { completionTime: at }) }
  await controlPlane.client.patchStatus(batch.job, { namespace, name: jobName(name, time) }, { status })
}

test('a Job is created at each scheduled time, and the status names it', async () => {
  const labels = { app: 'report' }
  const first = await create('each', {
    jobTemplate: { ...jobTemplate, metadata: { labels, annotations: { note: 'x' }, finalizers: ['a/b'] } },
  })
  await advanceTo(first - 1)
  assert.deepEqual(await jobsOf('each'), [])
  await clock.advance(1)
  await untilActive('each', [first])
  const job = await controlPlane.client.get(batch.job, { namespace, name: jobName('each', first) })
  const object = await get('each')
  const scheduledAt = new Date(first).toISOString()
  assert.deepEqual(job.metadata.annotations, { note: 'x', 'batch.tutorial.kubebuilder.io/scheduled-at': scheduledAt })
  assert.equal(job.metadata.labels?.['app'], 'report')
  assert.equal(job.metadata.finalizers, undefined)
  assert.equal(job.metadata.ownerReferences?.[0]?.uid, object.metadata.uid)
  assert.equal(object.status?.lastScheduleTime, scheduledAt)
  assert.equal(object.status.active?.[0]?.uid, job.metadata.uid)
  await advanceTo(first + minute)
  await untilActive('each', [first + minute, first])
  await untilEvent('each', 'SuccessfulCreate')
})

test('of several missed times, only the latest gets a Job', async () => {
  const first = await create('missed')
  clock.set(first + 300 * minute + 10 * second)
  await controlPlane.client.patch(cronJob, { namespace, name: 'missed' }, { metadata: { labels: { seen: 'yes' } } })
  await untilJobs('missed', [first + 300 * minute])
})

test('a time is skipped after its starting deadline', async () => {
  const first = await create('late', { schedule: '0 * * * *', startingDeadlineSeconds: 30 })
  const hour = Math.ceil(first / (60 * minute)) * 60 * minute
  clock.set(hour + 31 * second)
  await controlPlane.client.patch(cronJob, { namespace, name: 'late' }, { metadata: { labels: { seen: 'yes' } } })
  await untilEvent('late', 'MissedSchedule')
  assert.deepEqual(await jobsOf('late'), [])
  clock.set(hour + 30 * second)
  await controlPlane.client.patch(cronJob, { namespace, name: 'late' }, { metadata: { labels: { seen: 'twice' } } })
  await untilJobs('late', [hour])
})

test('with Forbid, a Job waits until the active one has finished', async () => {
  const first = await create('forbid', { concurrencyPolicy: 'Forbid' })
  await advanceTo(first)
  await untilActive('forbid', [first])
  await advanceTo(first + minute)
  await untilEvent('forbid', 'JobAlreadyActive')
  assert.deepEqual(await jobsOf('forbid'), [jobName('forbid', first)])
  await finish('forbid', first)
  await untilActive('forbid', [first + minute])
})

test('with Replace, a Job replaces the active one', async () => {
  const first = await create('replace', { concurrencyPolicy: 'Replace' })
  await advanceTo(first)
  await untilActive('replace', [first])
  await advanceTo(first + minute)
  await untilJobs('replace', [first + minute])
  await untilActive('replace', [first + minute])
  await untilEvent('replace', 'SuccessfulDelete')
})

test('of finished Jobs, the newest are kept', async () => {
  const first = await create('history', { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 0 })
  for (const index of [0, 1, 2, 3]) {
    await advanceTo(first + index * minute)
    await untilActive('history', [first + index * minute])
    await finish('history', first + index * minute, index === 2 ? 'Failed' : 'Complete')
    await untilActive('history', [])
  }
  await untilJobs('history', [first + minute, first + 3 * minute])
})

test('a time is not repeated when no Job of it is kept', async () => {
  const first = await create('unkept', { successfulJobsHistoryLimit: 0 })
  await advanceTo(first)
  await untilActive('unkept', [first])
  await finish('unkept', first)
  await untilJobs('unkept', [])
  await untilActive('unkept', [])
  await advanceTo(first + minute)
  await untilActive('unkept', [first + minute])
  assert.deepEqual(await jobsOf('unkept'), [jobName('unkept', first + minute)])
})

test('a suspended CronJob creates no Jobs until it is resumed', async () => {
  const first = await create('suspended', { suspend: true })
  const other = await create('other')
  await advanceTo(Math.max(first, other) + minute)
  await until('the other one has a Job', async () => (await jobsOf('other')).length > 0)
  assert.deepEqual(await jobsOf('suspended'), [])
  await controlPlane.client.patch(cronJob, { namespace, name: 'suspended' }, { spec: { suspend: false } })
  await untilJobs('suspended', [Math.max(first, other) + minute])
})

test('schedules are converted both ways', async () => {
  const { client } = controlPlane
  await create('text', { schedule: '*/5  1 * * MON', suspend: true })
  assert.deepEqual((await client.get(v2, { namespace, name: 'text' })).spec.schedule, { minute: '*/5', hour: '1', dayOfWeek: 'MON' })
  await client.patch(v2, { namespace, name: 'text' }, { spec: { failedJobsHistoryLimit: 7 } })
  assert.equal((await get('text')).spec.schedule, '*/5  1 * * MON')
  await client.patch(v2, { namespace, name: 'text' }, { spec: { schedule: { hour: null, month: '2' } } })
  assert.equal((await get('text')).spec.schedule, '*/5 * * 2 MON')

  await create('hourly', { schedule: '@hourly', suspend: true })
  assert.deepEqual((await client.get(v2, { namespace, name: 'hourly' })).spec.schedule, { minute: '0' })
  const schedule = { minute: '30', hour: '*' }
  await client.create(v2, { metadata: { namespace, name: 'fields' }, spec: { schedule, suspend: true, jobTemplate } })
  assert.equal((await get('fields')).spec.schedule, '30 * * * *')
  assert.deepEqual((await client.get(v2, { namespace, name: 'fields' })).spec.schedule, schedule)
})

test('bad schedules and long names are refused', async () => {
  const bad = {
    never: 'expected exactly 5 fields, found 1',
    '60 * * * *': 'Invalid value for minute: 60',
    '0 0 30 2 *': 'never selects a time',
  }
  for (const [schedule, message] of Object.entries(bad))
    await assert.rejects(create('bad', { schedule }), { message: new RegExp(`spec\\.schedule: Invalid value: ".*": .*${message}`) })
  for (const schedule of ['TZ=UTC * * * * *', '@every 5m', '0 0 1 1 * *', '', '2026-01-01T00:00:00'])
    await assert.rejects(create('bad', { schedule }))
  const fields = { metadata: { namespace, name: 'bad' }, spec: { schedule: { minute: '61' }, jobTemplate } }
  await assert.rejects(controlPlane.client.create(v2, fields), /Invalid value for minute: 61/)
  await assert.rejects(controlPlane.client.create(v2, { ...fields, spec: { schedule: { minute: '1 2' }, jobTemplate } }), /found 6/)
  await assert.rejects(create('x'.repeat(53), { schedule: 'never' }), /metadata\.name: Too long[\s\S]*spec\.schedule/)
  await create('x'.repeat(52), { suspend: true })
})

test('a user who may not create Jobs cannot create CronJobs', async () => {
  const client = createClient(controlPlane.connectionFor('editor'))
  after(() => client.close())
  const object = { metadata: { namespace, name: 'editors' }, spec: { schedule: '@daily', jobTemplate } }
  await assert.rejects(client.create(cronJob, object), /spec\.jobTemplate: Forbidden: user "editor" cannot create Jobs/)
})

test('both samples of the tutorial are accepted, and have the defaults', async () => {
  const { client } = controlPlane
  const read = (name: string) => {
    const sample = parse(readFileSync(join(import.meta.dirname, 'samples', name), 'utf8'))
    return { ...sample, metadata: { ...sample.metadata, namespace } }
  }
  const created = await client.create(cronJob, read('v1.yaml'))
  const { concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit } = created.spec
  assert.deepEqual([concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit], ['Allow', false, 3, 1])
  const updated = await client.apply(v2, { ...read('v2.yaml'), metadata: { ...read('v2.yaml').metadata, namespace } })
  assert.equal(updated.metadata.uid, created.metadata.uid)
  assert.deepEqual(updated.spec.schedule, { minute: '*/1' })
  assert.equal((await get('cronjob-sample')).spec.schedule, '*/1 * * * *')
  await client.delete(cronJob, keyOf(updated))
  await until('it is gone', () => get('cronjob-sample').then(() => false, isNotFound))
})
