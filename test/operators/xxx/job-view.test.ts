import t from 'tap'
import type { Client } from '../../../src/client/client.ts'
import { jobView } from '../../../src/operators/xxx/job-view.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { anXxx } from '../../support/xxx/objects.ts'
import { buildOf } from '../../support/xxx/steps.ts'

t.test('a Job of any size is small in the cache', async (t) => {
  const own = buildOf(anXxx())
  const huge = 'x'.repeat(200_000)
  const annotations = { ...own.metadata.annotations, 'test.inspur.com/binary-name': huge, 'example.com/other': huge }
  const labels = { ...own.metadata.labels, ...Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`label-${index}`, 'x'])) }
  const job = { ...own, metadata: { ...own.metadata, annotations, labels }, spec: { ...own.spec!, template: { spec: { containers: [{ name: 'a', image: huge }] } } } } // prettier-ignore
  const { cache } = reconcileContext({ client: {} as Client, cached: [job] })
  const cached = cache.get(jobView, { namespace: 'default', name: own.metadata.name })
  t.ok(JSON.stringify(cached).length < 2000)
  t.strictSame(cached?.metadata.labels, own.metadata.labels)
  t.strictSame(cached?.metadata.ownerReferences, own.metadata.ownerReferences)
})
