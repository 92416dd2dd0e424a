/** Tests of the Job controller while another client writes the same Pods. */
import t from 'tap'
import { pod as podType } from '../../../../../src/api/builtin.ts'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { Cache } from '../../../../../src/cache/cache.ts'
import type { Client } from '../../../../../src/client/client.ts'
import { runController } from '../../../../../src/controller/run-controller.ts'
import { jobController } from '../../../../../src/devcluster/controllers/workloads/job/job.ts'
import { silentLogger } from '../../../../../src/telemetry/logger.ts'
import { Metrics } from '../../../../../src/telemetry/metrics.ts'
import { FakeClock } from '../../../../../src/testing/fake-clock.ts'
import { until } from '../../../../../src/testing/until.ts'
import { inProcessClient } from '../../../../support/devcluster/in-process-client.ts'
import { fixture } from '../../../../support/devcluster/registry.ts'

const namespace = 'default'
const key = { namespace, name: 'work' }

t.test('the Pods that a succeeded Job deletes have not failed, also when another client writes them meanwhile', async (t) => {
  const clock = new FakeClock()
  const client = inProcessClient(await fixture({ clock }))
  const touched = new Set<string>()
  // Another client writes a Pod immediately before the controller patches the Pod for the first time. The patch of the controller therefore
  // fails with a conflict.
  const conflicting = {
    ...client,
    async patch(type, pod, patch, options) {
      if (type.kind === 'Pod' && !touched.has(pod.name)) {
        touched.add(pod.name)
        await client.patch(podType, pod, { metadata: { annotations: { touched: 'true' } } })
      }
      return client.patch(type, pod, patch, options)
    },
  } as Client
  const logger = silentLogger()
  const stop = new AbortController()
  const cache = new Cache(conflicting, { logger, clock })
  const events = { event: () => undefined }
  const environment = { client: conflicting, cache, logger, metrics: new Metrics(), clock, events, graceMs: 0 }
  const running = [runController(jobController(), environment, stop.signal), cache.start(stop.signal)]
  t.teardown(() => {
    stop.abort()
    return Promise.allSettled(running)
  })

  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/work:1' }] } }
  const successPolicy = { rules: [{ succeededIndexes: '0' }] }
  await client.create(batch.job, {
    metadata: key,
    spec: { completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy, template },
  })
  const pods = await until('three Pods exist', async () => {
    const { items } = await client.list(podType, { namespace })
    return items.length === 3 && items
  })
  const first = pods.find(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === '0')!
  await client.patch(podType, first.metadata, { status: { phase: 'Succeeded' } }, { subresource: 'status' })
  const { status } = await until('the Job is complete', async () => {
    await clock.advance(1_000)
    const job = await client.get(batch.job, key)
    return job.status?.conditions?.some(({ type }) => type === 'Complete') === true && job
  })
  t.equal(touched.size, 3)
  t.strictSame([status?.succeeded, status?.failed], [1, undefined])
})
