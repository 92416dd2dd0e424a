/**
 * Tests of the shipped operators from the view of a user: `proreus dev` runs all of them, and kubectl applies, lists and describes the
 * samples.
 */
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../src/testing/until.ts'
import { startDev } from '../support/process/dev.ts'

interface Sample {
  readonly file: string
  /** The object in the output of `kubectl apply`, without the word `created`. */
  readonly object: string
  readonly namespace?: string
  /** The header line of `kubectl get`. `row` matches the row of the sample after the sample has converged. */
  readonly columns: string
  readonly row: RegExp
  /** Parts of the output of `kubectl describe`: fields, conditions and Events. */
  readonly described: readonly RegExp[]
}

const samples: readonly Sample[] = [
  {
    file: 'mypod.yaml',
    object: 'mypod.harryyann.github.io/mypod-sample',
    namespace: 'test-mypod',
    columns: 'NAME PHASE PODIP AGE',
    row: /mypod-sample +Running +10\.244\./,
    described: [/Pod Phase: +Running/, /Type: +Ready\n/, /Normal +Created /],
  },
  {
    file: 'memcached.yaml',
    object: 'memcached.cache.example.com/example-memcached',
    columns: 'NAME SIZE READY AVAILABLE AGE',
    row: /example-memcached +3 +3 +True /,
    described: [/Type: +Available\n/, /Nodes:\n/, /Normal +DeploymentCreated /],
  },
  {
    file: 'memcached-limingnihao.yaml',
    object: 'memcached.cache.limingnihao.com/example-memcached',
    // The Deployment of this sample has the same name as the Deployment of the sample in `memcached.yaml`.
    namespace: 'other',
    columns: 'NAME SIZE READY AVAILABLE AGE',
    row: /example-memcached +3 +3 +True /,
    described: [/Type: +Available\n/, /Nodes:\n/, /Normal +DeploymentCreated /],
  },
  {
    file: 'echo.yaml',
    object: 'echo.mmontes.io/hello-world',
    columns: 'NAME MESSAGE COMPLETE AGE',
    row: /hello-world +Hola, 世界! +True/,
    described: [/Message: +Hola, 世界!/, /Type: +Complete\n/, /Normal +Created .* Job hello-world/, /Normal +JobComplete /],
  },
  {
    file: 'echo.yaml',
    object: 'scheduledecho.mmontes.io/hello-world-scheduled',
    columns: 'NAME MESSAGE SCHEDULE SCHEDULED LAST AGE',
    row: /hello-world-scheduled +Hola, 世界! +\*\/1 \* \* \* \* +True/,
    described: [/Schedule: +\*\/1/, /Type: +Scheduled\n/, /Normal +Created /],
  },
  {
    file: 'cronjob-v1.yaml',
    object: 'cronjob.batch.tutorial.kubebuilder.io/cronjob-sample',
    // kubectl requests version v2 of the CronJob. In v2, the schedule is an object and not a string, so v2 defines no column `SCHEDULE`.
    // The text `LAST SCHEDULE` is the name of a single column.
    columns: 'NAME SUSPEND ACTIVE LAST SCHEDULE AGE',
    row: /cronjob-sample +false +\d+ /,
    described: [/Concurrency Policy: +Allow/, /Type: +Available\n/],
  },
  {
    file: 'xxx.yaml',
    object: 'xxx.test.inspur.com/xxx-sample',
    columns: 'NAME PHASE JOB BINARY AGE',
    row: /xxx-sample +Succeeded +build-helloworld +helloworld/,
    described: [/Binary Name: +helloworld\n/, /Type: +Ready\n/, /Normal +JobCreated /, /Normal +BuildSucceeded /],
  },
]

t.test('kubectl applies, lists and describes the samples', async (t) => {
  const { ok } = await startDev(t)
  await ok('create namespace other')
  const folder = join(import.meta.dirname, '../../config/samples')
  const applied = new Map<string, string>()
  const apply = (file: string, namespace: string): Promise<string> => ok(`apply -n ${namespace} -f ${join(folder, file)}`)
  for (const { file, namespace = 'default' } of samples) if (!applied.has(file)) applied.set(file, await apply(file, namespace))
  for (const { file, object, namespace = 'default', columns, row, described } of samples)
    await t.test(object, async (t) => {
      t.match(applied.get(file), `${object} created`)
      const list = await until('it has converged', async () => {
        const text = await ok(`get ${object} -n ${namespace}`)
        return row.test(text) && text
      })
      t.equal(list.split('\n')[0]?.trim().replaceAll(/ +/g, ' '), columns)
      const isDescribed = (text: string): boolean => described.every((part) => part.test(text))
      const text = await until('the Events are there', async () => {
        const found = await ok(`describe ${object} -n ${namespace}`)
        return isDescribed(found) && found
      }).catch(() => ok(`describe ${object} -n ${namespace}`))
      for (const part of described) t.match(text, part)
      t.match(await apply(file, namespace), `${object} unchanged`)
    })
})
