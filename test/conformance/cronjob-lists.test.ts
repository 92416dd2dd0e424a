/** Tests of large lists of CronJobs. Half of the CronJobs in a list are written in `v1`, and the other half in `v2`. */
import t from 'tap'
import { jsonEqual } from '../../src/api/json.ts'
import { cronJobOperator } from '../../src/operators/cronjob/index.ts'
import { cronJob, cronJobV2 } from '../../src/operators/cronjob/kind.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { jobTemplate } from '../support/cronjob/objects.ts'

const namespace = 'conformance-cronjob-lists'
/**
 * The number of CronJobs that the test creates in each API version of the kind. In the embedded API server, the test creates fewer
 * CronJobs, because 2500 would make `npm test` half a minute longer.
 */
const count = process.env.PROREUS_BACKEND ? 2500 : 250
/** The number of requests that are sent at the same time. */
const parallel = 25
const listDeadlineMs = 60_000

// On a busy machine, the creation of the objects alone takes two minutes.
t.setTimeout(420_000)

t.test(`${2 * count} CronJobs of both versions are listed in each of them`, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const { client } = controlPlane
  // The test of lists does not need the controller.
  await controlPlane.startOperator([{ ...cronJobOperator, controllers: [] }])
  const spec = { suspend: true, jobTemplate }
  const nameOf = (version: string, index: number): string => `${version}-${String(index).padStart(4, '0')}`
  const texts = ['@hourly', '0 3 * * *', '*/5  1-5 * * MON', '0 0 1 1 *']
  const fields = [{}, { minute: '0' }, { hour: '*/2', dayOfWeek: 'MON-FRI' }]
  const create = async (index: number): Promise<void> => {
    const [text, some] = [texts[index % texts.length]!, fields[index % fields.length]!]
    await client.create(cronJob, { metadata: { namespace, name: nameOf('v1', index) }, spec: { ...spec, schedule: text } })
    await client.create(cronJobV2, { metadata: { namespace, name: nameOf('v2', index) }, spec: { ...spec, schedule: some } })
  }
  // A real API server calls a new webhook only after a moment.
  await until('CronJobs of both versions can be created', () => create(count).then(() => true))
  await client.delete(cronJob, { namespace, name: nameOf('v1', count) })
  await client.delete(cronJob, { namespace, name: nameOf('v2', count) })
  let next = 0
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (next < count) await create(next++)
    }),
  )

  const startedAt = Date.now()
  const listed = new Map<string, string>()
  for (const { metadata, spec } of (await client.list(cronJob, { namespace })).items) listed.set(metadata.name, spec.schedule)
  t.equal(listed.size, 2 * count)
  const listedInV2 = new Map<string, object>()
  for (const { metadata, spec } of (await client.list(cronJobV2, { namespace })).items) listedInV2.set(metadata.name, spec.schedule)
  t.equal(listedInV2.size, 2 * count)
  t.ok(Date.now() - startedAt < listDeadlineMs, `both lists took ${Date.now() - startedAt} ms`)

  const expectedFields = [{ minute: '0' }, { minute: '0', hour: '3' }, { minute: '*/5', hour: '1-5', dayOfWeek: 'MON' }, { minute: '0', hour: '0', dayOfMonth: '1', month: '1' }] // prettier-ignore
  const expectedTexts = ['* * * * *', '0 * * * *', '* */2 * * MON-FRI']
  const wrong = Array.from({ length: count }, (_, index) => index).filter(
    (index) =>
      listed.get(nameOf('v1', index)) !== texts[index % texts.length] ||
      listed.get(nameOf('v2', index)) !== expectedTexts[index % expectedTexts.length] ||
      !jsonEqual(listedInV2.get(nameOf('v1', index)), expectedFields[index % expectedFields.length]) ||
      !jsonEqual(listedInV2.get(nameOf('v2', index)), fields[index % fields.length]),
  )
  t.strictSame(wrong, [])
})
