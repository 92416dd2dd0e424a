/** Tests that run the CronJob operator as a separate process, and that apply the samples of v1 and v2 with kubectl. */
import { join } from 'node:path'
import t from 'tap'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { customResourceDefinition } from '../../src/api/builtin.ts'
import { cronJob } from '../../src/operators/cronjob/kind.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { until } from '../../src/testing/until.ts'
import { jobTemplate, minute } from '../support/cronjob/objects.ts'
import { startDev } from '../support/process/dev.ts'
import { needsKubectl, repository, startProreus } from '../support/process/process.ts'

t.setTimeout(120_000)

const namespace = 'default'

t.test('C17: with ENABLE_WEBHOOKS=false, the operator runs without certificates', async (t) => {
  const controlPlane = await startControlPlane({ controllers: false })
  t.teardown(() => controlPlane.stop())
  const { client, kubeconfig } = controlPlane
  const cwd = t.testdir({})
  const probes = ['--health-probe-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0']
  const running = startProreus(['run', '--operators', 'cronjob', '--install', ...probes], {
    cwd,
    env: { ...process.env, KUBECONFIG: kubeconfig, ENABLE_WEBHOOKS: 'false' },
  })
  t.teardown(() => running.stop())
  await until('it has started', () => running.output().includes('"started"'))
  const key = { namespace, name: 'each' }
  await until('a CronJob can be created', () =>
    client.create(cronJob, { metadata: key, spec: { schedule: '* * * * *', suspend: true, jobTemplate } }),
  )
  // With this time, the CronJob has missed the previous minute. Therefore, the operator starts the Job of that minute at once.
  const lastScheduleTime = new Date(Date.now() - 2 * minute).toISOString()
  await client.patchStatus(cronJob, key, { status: { lastScheduleTime } })
  await client.patch(cronJob, key, { spec: { suspend: false } })
  await until('there is a Job', async () => (await client.list(batch.job, { namespace })).items.length > 0)
  const { spec } = await client.get(customResourceDefinition, { name: 'cronjobs.batch.tutorial.kubebuilder.io' })
  t.equal(spec.conversion?.webhook?.clientConfig?.caBundle, undefined)
  t.equal(await running.stop(), 0)
  t.notMatch(running.output(), /certificate/i)
})

t.test('C13: kubectl applies the sample of v2 to that of v1, and shows both', needsKubectl, async (t) => {
  const { ok } = await startDev(t, 'cronjob')
  const samples = join(repository, 'config/samples')
  const names = ['v1', 'v2'].map((version) => `cronjobs.${version}.batch.tutorial.kubebuilder.io`)
  t.equal(await ok(`apply -f ${samples}/cronjob-v1.yaml`), 'cronjob.batch.tutorial.kubebuilder.io/cronjob-sample created\n')
  t.equal(await ok(`get ${names[1]} cronjob-sample -o jsonpath={.spec.schedule}`), '{"minute":"*/1"}')
  t.equal(await ok(`apply -f ${samples}/cronjob-v2.yaml`), 'cronjob.batch.tutorial.kubebuilder.io/cronjob-sample configured\n')
  t.equal(await ok(`get ${names[0]} cronjob-sample -o jsonpath={.spec.schedule}`), '*/1 * * * *')
  t.match(await ok(`get ${names[0]}`), /^NAME +SCHEDULE +SUSPEND +ACTIVE +LAST SCHEDULE +AGE\ncronjob-sample +\*\/1 \* \* \* \* +false +/)
  await ok('delete cronjobs.batch.tutorial.kubebuilder.io cronjob-sample')
})
