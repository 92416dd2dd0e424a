import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import type { Client } from '../../src/client/client.ts'
import { aborted } from '../../src/runtime/waiting.ts'
import type { RunnableContext, Runnable } from '../../src/manager/runnable.ts'
import { startRunnable, type RunnableEnvironment } from '../../src/manager/runnable-task.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { FakeCache } from '../support/controller/fakes.ts'
import { recordingLogger } from '../support/recording-logger.ts'

type Task = (signal: AbortSignal) => Promise<void>

function start(
  t: { teardown(end: () => unknown): unknown },
  runnable: Partial<Runnable>,
  whileLeader: (task: Task) => Task = (task) => task,
) {
  const { logger, entries } = recordingLogger()
  const cache = new FakeCache()
  const environment: RunnableEnvironment = {
    client: {} as Client,
    cache,
    logger,
    clock: new FakeClock(),
    metrics: new Metrics(),
    whileLeader,
  }
  const contexts: RunnableContext[] = []
  const task = startRunnable(
    {
      name: 'import',
      async run(context) {
        contexts.push(context)
        await aborted(context.signal)
      },
      ...runnable,
    },
    environment,
  )
  t.teardown(() => task.stop())
  return { task, cache, contexts, entries, environment }
}

t.test('a runnable gets what controllers get, and ends when it is stopped', async (t) => {
  const { task, contexts, environment, entries } = start(t, {})
  await until('it runs', () => contexts.length === 1)
  const { client, clock, metrics, logger } = contexts[0]!
  t.equal(client, environment.client)
  t.equal(clock, environment.clock)
  t.equal(metrics, environment.metrics)
  logger.info('hello')
  t.match(entries, [{ runnable: 'import', msg: 'hello' }])
  t.equal(task.state, 'running')
  await task.stop()
  t.equal(task.state, 'ended')
})

t.test('it runs when the types that it reads have synced, and reads no other', async (t) => {
  const { cache, contexts } = start(t, { reads: [configMap] })
  await Promise.resolve()
  t.strictSame(contexts, [])
  cache.of(configMap).sync()
  await until('it runs', () => contexts.length === 1)
  t.strictSame(contexts[0]!.cache.list(configMap), [])
  t.throws(() => contexts[0]!.cache.list(pod), { code: 'PRO_INPUT', message: /The runnable "import" does not read pods/ })
})

t.test('a failure and an early return are logged and kept for the liveness probe', async (t) => {
  const failing = start(t, { run: () => Promise.reject(new Error('no luck')) })
  await failing.task.ended
  t.match(failing.task.state, { failed: { message: 'no luck' } })
  t.match(failing.entries, [{ level: 'error', runnable: 'import', msg: /the runnable import has failed/ }])
  const early = start(t, { run: () => undefined })
  await early.task.ended
  t.match(early.task.state, { failed: { message: /returned before the process stopped.*mayEnd/ } })
})

t.test('a runnable that may end does not count as ended', async (t) => {
  let done = 0
  const { task, entries } = start(t, { mayEnd: true, run: () => void (done += 1) })
  await until('it has returned', () => done === 1)
  t.equal(task.state, 'running')
  await task.stop()
  t.strictSame(
    entries.filter(({ level }) => level !== 'debug'),
    [],
  )
})

t.test('it runs on the leader only, or on every replica by choice', async (t) => {
  const elected = Promise.withResolvers<void>()
  const whileLeader =
    (task: Task): Task =>
    async (signal) => {
      await elected.promise
      await task(signal)
    }
  const everywhere = start(t, { everyReplica: true }, whileLeader)
  const leading = start(t, {}, whileLeader)
  await until('it runs on every replica', () => everywhere.contexts.length === 1)
  t.strictSame(leading.contexts, [])
  elected.resolve()
  await until('it runs on the leader', () => leading.contexts.length === 1)
})
