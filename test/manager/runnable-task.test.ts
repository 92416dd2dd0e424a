import t from 'tap'
import type { Terms } from '../../src/controller/run-controller.ts'
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

function start(t: { teardown(end: () => unknown): unknown }, runnable: Partial<Runnable>, terms?: Terms) {
  const { logger, entries } = recordingLogger()
  const cache = new FakeCache()
  const environment: RunnableEnvironment = {
    client: {} as Client,
    cache,
    logger,
    clock: new FakeClock(),
    metrics: new Metrics(),
    terms,
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
  t.teardown(() => void task.stop())
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

t.test('it acquires types at run time, which are released when it ends', async (t) => {
  let counted: number | undefined
  const { task, cache } = start(t, {
    mayEnd: true,
    async run({ cache, signal }) {
      const lease = cache.acquire(configMap)
      await lease.whenSynced(signal)
      counted = cache.list(configMap).length
      throw new Error('enough')
    },
  })
  await Promise.resolve()
  t.strictSame(cache.releases, [])
  cache.of(configMap).sync()
  await task.ended
  t.equal(counted, 0)
  t.strictSame(cache.releases, ['configmaps'])
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
  let begin: (term: { lost: AbortSignal }) => void = () => undefined
  const terms: Terms = {
    term: (signal) =>
      new Promise((resolve, reject) => {
        begin = resolve
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
  }
  const everywhere = start(t, { everyReplica: true }, terms)
  const leading = start(t, {}, terms)
  await until('it runs on every replica', () => everywhere.contexts.length === 1)
  t.strictSame(leading.contexts, [])
  const first = new AbortController()
  begin({ lost: first.signal })
  await until('it runs on the leader', () => leading.contexts.length === 1)
  first.abort()
  t.ok(leading.contexts[0]!.signal.aborted)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(leading.task.state, 'running', 'it waits for the next term')
  begin({ lost: new AbortController().signal })
  await until('it runs again', () => leading.contexts.length === 2)
  t.notOk(leading.contexts[1]!.signal.aborted)
  await leading.task.stop()
  t.equal(leading.task.state, 'ended')
})

t.test('an error after the end of the term is no failure, one before it is', async (t) => {
  const lost = new AbortController()
  const terms = (): Terms => {
    let count = 0
    return { term: () => (count++ === 0 ? Promise.resolve({ lost: lost.signal }) : new Promise(() => undefined)) }
  }
  const failing = start(t, { run: () => Promise.reject(new Error('no luck')) }, terms())
  await failing.task.ended
  t.match(failing.task.state, { failed: { message: 'no luck' } })
  const run: Runnable['run'] = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true }))
  const ending = start(t, { run }, terms())
  await new Promise((resolve) => setImmediate(resolve))
  lost.abort()
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(ending.task.state, 'running')
})

t.test('an error of a runnable of the leader is logged when the process stops', async (t) => {
  const terms: Terms = { term: () => Promise.resolve({ lost: new AbortController().signal }) }
  const run: Runnable['run'] = ({ signal }) => aborted(signal).then(() => Promise.reject(new Error('half done')))
  const { task, entries } = start(t, { run }, terms)
  await new Promise((resolve) => setImmediate(resolve))
  await task.stop()
  t.equal(task.state, 'ended')
  t.match(entries, [{ level: 'warn', msg: 'the runnable import has failed while it was being stopped', err: { message: 'half done' } }])
})
