/** Tests of the worker threads of a webhook server. */
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import type { Test } from 'tap'
import { shareMemory } from '../../src/webhook/http/memory-shares.ts'
import { fixture, widgetObject } from '../support/webhook/fixture.ts'

const object = widgetObject({ size: 3, image: 'i' })
const isInline = (): boolean => false

/** Returns the worker threads that start during the test. */
function workersOf(t: Test): readonly Worker[] {
  const workers: Worker[] = []
  const onWorker = (worker: Worker): void => void workers.push(worker)
  process.on('worker', onWorker)
  t.teardown(() => process.off('worker', onWorker))
  return workers
}

t.test('a stopped server has ended its threads, and takes no more requests', async (t) => {
  const workers = workersOf(t)
  const { ask, server } = await fixture(t, {}, { evaluation: { isInline, threads: 1 } })
  t.match(await ask('validate', { object }), { allowed: true })
  t.equal(workers.length, 1)
  t.not(workers[0]!.threadId, -1)
  await server.stop(0)
  t.equal(workers[0]!.threadId, -1)
  await t.rejects(ask('validate', { object }))
})

t.test('the memory shares limit the number of threads and their heaps', async (t) => {
  const workers = workersOf(t)
  const shares = shareMemory({ limitBytes: 2 ** 30, idleBytes: 160 * 2 ** 20, heapLimitBytes: 2 ** 29, processors: 2 })
  const memory = { ...shares, threads: { count: 3, heapMegabytes: 70 } }
  const { ask } = await fixture(t, {}, { memory, evaluation: { isInline } })
  await Promise.all(Array.from({ length: 5 }, () => ask('validate', { object })))
  t.strictSame(
    workers.map(({ resourceLimits }) => resourceLimits?.maxOldGenerationSizeMb),
    [70, 70, 70],
  )
})
