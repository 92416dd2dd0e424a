import t from 'tap'
import type { Client } from '../../src/client/client.ts'
import { inBackground } from '../../src/manager/background.ts'
import { drain } from '../../src/manager/drain.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import type { Running } from '../../src/manager/running-parts.ts'
import { aborted, sleep } from '../../src/runtime/waiting.ts'
import { createLogger, silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { WebhookServer } from '../../src/webhook/server.ts'

const never = (): Promise<never> => new Promise(() => undefined)
const hung = (name: string): ReturnType<typeof inBackground> => inBackground(name, never, silentLogger())

/** Returns the `identities` of a process with one operator. `flush` is the method of the operator's event recorder. */
function identitiesThat(flush: () => Promise<void>): Running['identities'] {
  const events = { event: () => undefined, flush }
  return new Map([[defineOperator({ name: 'thing', kinds: [] }), { client: {} as Client, leaderClient: {} as Client, events }]])
}

/** Returns a running process whose components never stop. */
function hangingProcess(): Running {
  return {
    client: { close: never } as unknown as Client,
    identities: identitiesThat(never),
    draining: false,
    controllers: new Map([['thing', hung('thing')]]),
    queues: new Map(),
    runnables: new Map([['import', hung('import')]]),
    operatorChecks: { healthz: [], readyz: [] },
    probes: { probes: undefined, metrics: undefined, close: never },
    webhookServer: { beginDrain: () => undefined, stop: never } as unknown as WebhookServer,
    certificates: { source: { current: never as never, onChange: () => () => undefined, start: never }, task: hung('certificates') },
    injection: hung('injection'),
    cache: { task: hung('cache'), status: () => [] },
  }
}

/** Returns the milliseconds that the drain takes according to the fake clock. */
async function duration(running: Running, clock: FakeClock, logger = silentLogger()): Promise<number> {
  const startedAt = clock.now()
  let over = false
  const done = drain(running, { delayMs: 10_000, deadlineMs: 1_000, clock, logger }).then(() => (over = true))
  while (!over && clock.now() - startedAt < 600_000) await clock.advance(100)
  await done
  return clock.now() - startedAt
}

t.test('a stop ends some seconds after its deadline even if everything hangs, and logs what is left', async (t) => {
  const clock = new FakeClock()
  const lines: string[] = []
  const took = await duration(hangingProcess(), clock, createLogger({ destination: { write: (line) => void lines.push(line) } }))
  // The expected time is the sum of all time limits: 10 s for the drain delay, 1 s for running requests to end normally, 1 s for the
  // remaining requests to end after their signals have aborted, 3 s for the cache and the other components, 2 s for the probes, and 2 s for
  // the client.
  t.ok(took >= 19_000 && took <= 19_100, `took ${took} ms`)
  const left = [
    'the webhook server',
    'a reconcile of the controller "thing"',
    'the runnable "import"',
    'the cache',
    'the caBundle injection',
    'the certificates',
    'the writing of events',
  ]
  t.strictSame(
    lines.map((line) => JSON.parse(line) as { level: string; msg: string }).map(({ level, msg }) => `${level} ${msg}`),
    [
      'info not ready any more; the webhooks accept a while longer',
      ...[...left, 'the probes', 'the client'].map((part) => `warn ${part} did not stop in time and is left behind`),
      'info stopped',
    ],
  )
  t.match(lines[0], /"delayMs":10000/)
  t.equal(clock.pending, 0)
})

t.test('parts that hang for the same reason are waited for together: an unreachable API server costs seconds', async (t) => {
  const stopped = (name: string): ReturnType<typeof inBackground> => inBackground(name, async () => undefined, silentLogger())
  const running: Running = {
    ...hangingProcess(),
    controllers: new Map(),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
    client: { close: async () => undefined } as unknown as Client,
    probes: { probes: undefined, metrics: undefined, close: async () => undefined },
    webhookServer: { beginDrain: () => undefined, stop: async () => undefined } as unknown as WebhookServer,
    cache: { task: stopped('cache'), status: () => [] },
  }
  const took = await duration(running, new FakeClock())
  t.ok(took >= 13_000 && took <= 13_100, `took ${took} ms`)
})

for (const jumpMs of [60_000, -3_600_000]) {
  t.test(`a time of day that is set by ${jumpMs / 1000} s during the drain delay changes no time limit`, async (t) => {
    const clock = new FakeClock()
    const startedAt = clock.monotonicNow()
    let over = false
    const done = drain(hangingProcess(), { delayMs: 10_000, deadlineMs: 1_000, clock, logger: silentLogger() }).then(() => (over = true))
    await clock.advance(1_000)
    clock.set(clock.now() + jumpMs)
    while (!over && clock.monotonicNow() - startedAt < 600_000) await clock.advance(100)
    t.ok(over)
    const took = clock.monotonicNow() - startedAt
    t.ok(took >= 19_000 && took <= 19_100, `took ${took} ms`)
    await done
  })
}

t.test('a running reconcile gets its time although the time of day is set forward', async (t) => {
  const clock = new FakeClock()
  const lines: string[] = []
  const reconciling = async (stop: AbortSignal): Promise<void> => {
    await aborted(stop)
    await sleep(clock, 12_000)
  }
  const running: Running = {
    client: { close: async () => undefined } as unknown as Client,
    identities: new Map(),
    draining: false,
    controllers: new Map([['thing', inBackground('thing', reconciling, silentLogger())]]),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
    webhookServer: { beginDrain: () => undefined, stop: async () => undefined } as unknown as WebhookServer,
  }
  const logger = createLogger({ destination: { write: (line) => void lines.push(line) } })
  const done = drain(running, { delayMs: 10_000, deadlineMs: 30_000, clock, logger })
  await clock.advance(1_000)
  clock.set(clock.now() + 60_000)
  await clock.advance(30_000)
  await done
  t.notMatch(lines.join(), /left behind/)
})

t.test('a failing stop is logged, and the rest is stopped nevertheless', async (t) => {
  const lines: string[] = []
  let closed = false
  const running: Running = {
    client: { close: async () => void (closed = true) } as unknown as Client,
    identities: identitiesThat(() => Promise.reject(new Error('no events'))),
    draining: false,
    controllers: new Map(),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
  }
  const clock = new FakeClock()
  await drain(running, {
    delayMs: 10_000,
    deadlineMs: 1_000,
    clock,
    logger: createLogger({ destination: { write: (line) => void lines.push(line) } }),
  })
  t.match(lines.map((line) => JSON.parse(line) as object), [
    { level: 'warn', msg: 'the writing of events did not stop as it should', err: { message: 'no events' } },
    { level: 'info', msg: 'stopped' },
  ]) // prettier-ignore
  t.equal(lines.length, 2, 'without webhooks there is no drain delay')
  t.equal(running.draining, true)
  t.ok(closed)
  t.equal(clock.pending, 0)
})

t.test('the servers of probes, metrics and debugging are closed after everything else, and before the client', async (t) => {
  const steps: string[] = []
  const task = (name: string): ReturnType<typeof inBackground> =>
    inBackground(name, (signal) => aborted(signal).then(() => void steps.push(name)), silentLogger())
  const running: Running = {
    ...hangingProcess(),
    client: { close: async () => void steps.push('client') } as unknown as Client,
    identities: identitiesThat(async () => void steps.push('events')),
    controllers: new Map([['thing', task('controller')]]),
    runnables: new Map([['import', task('runnable')]]),
    probes: { probes: undefined, metrics: undefined, close: async () => void steps.push('probes') },
    monitoring: { metrics: undefined, debug: undefined, certificateTask: undefined, close: async () => void steps.push('monitoring') },
    webhookServer: { beginDrain: () => undefined, stop: async () => void steps.push('webhooks') } as unknown as WebhookServer,
    certificates: { source: { current: never as never, onChange: () => () => undefined, start: never }, task: task('certificates') },
    injection: task('injection'),
    cache: { task: task('cache'), status: () => [] },
    electionTask: task('election'),
  }
  await duration(running, new FakeClock())
  t.strictSame(steps.slice(0, 3), ['controller', 'runnable', 'webhooks'])
  t.strictSame(steps.slice(3, 8).sort(), ['cache', 'certificates', 'election', 'events', 'injection'])
  t.strictSame(steps.slice(8), ['probes', 'monitoring', 'client'])
})

t.test('reconciles have the time of the delay and the deadline', async (t) => {
  const clock = new FakeClock()
  const log: string[] = []
  const startedAt = clock.now()
  const note = (what: string): void => void log.push(`${clock.now() - startedAt} ${what}`)
  const running: Running = {
    client: { close: async () => note('client') } as unknown as Client,
    identities: new Map(),
    draining: false,
    controllers: new Map([['thing', hung('thing')]]),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
    webhookServer: {
      beginDrain: () => note('begin'),
      stop: async (deadlineMs: number) => note(`webhooks ${deadlineMs}`),
    } as unknown as WebhookServer,
  }
  const done = drain(running, { delayMs: 2_000, deadlineMs: 5_000, clock, logger: silentLogger() })
  t.equal(running.draining, true)
  await clock.advance(60_000)
  await done
  t.strictSame(log, ['0 begin', '2000 webhooks 5000', '8000 client'])
  t.equal(clock.pending, 0)
})

t.test('without a drain delay the webhook server is stopped at once', async (t) => {
  const clock = new FakeClock()
  const lines: string[] = []
  const stopped: unknown[] = []
  const running: Running = {
    client: { close: async () => undefined } as unknown as Client,
    identities: new Map(),
    draining: false,
    controllers: new Map(),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
    webhookServer: {
      beginDrain: () => undefined,
      stop: async (deadlineMs: number) => void stopped.push(deadlineMs),
    } as unknown as WebhookServer,
  }
  const destination = { write: (line: string) => void lines.push(line) }
  const done = drain(running, { delayMs: 0, deadlineMs: 5_000, clock, logger: createLogger({ destination }) })
  t.strictSame(stopped, [5_000], 'before any time has passed')
  await done
  t.strictSame(
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['stopped'],
  )
  t.equal(clock.pending, 0)
})

/**
 * Returns a running process with the given controllers and an elector. The process adds a line to `steps` when the elector has released the
 * lease, and when the client is closed.
 */
function electedProcess(steps: string[], controllers: Running['controllers'], resign: () => Promise<void>): Running {
  const elector = {
    run: never,
    term: never,
    guard: () => undefined,
    resign: () => resign().then(() => void steps.push('the lease is released')),
  }
  return {
    ...hangingProcess(),
    client: { close: async () => void steps.push('the client is closed') } as unknown as Client,
    controllers,
    runnables: new Map(),
    election: { elector, events: { event: () => undefined, flush: async () => undefined } },
  }
}

t.test('the lease is released before the client is closed, when the last reconcile has ended', async (t) => {
  const clock = new FakeClock()
  const steps: string[] = []
  const reconcile = inBackground(
    'thing',
    async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => clock.after(500, resolve), { once: true }))
      steps.push('the reconcile has ended')
    },
    silentLogger(),
  )
  const slow = (): Promise<void> => new Promise((resolve) => clock.after(100, resolve))
  await duration({ ...electedProcess(steps, new Map([['thing', reconcile]]), slow), webhookServer: undefined as never }, clock)
  t.strictSame(steps, ['the reconcile has ended', 'the lease is released', 'the client is closed'])
})

t.test('the lease is released when the last runnable has ended', async (t) => {
  const clock = new FakeClock()
  const steps: string[] = []
  const runnable = inBackground(
    'import',
    async (signal) => {
      await aborted(signal)
      await sleep(clock, 500)
      steps.push('the runnable has ended')
    },
    silentLogger(),
  )
  const running = electedProcess(steps, new Map(), async () => undefined)
  await duration({ ...running, runnables: new Map([['import', runnable]]) }, clock)
  t.strictSame(steps, ['the runnable has ended', 'the lease is released', 'the client is closed'])
})

t.test('the lease is not released while a reconcile goes on', async (t) => {
  const steps: string[] = []
  await duration(
    electedProcess(steps, new Map([['thing', hung('thing')]]), async () => undefined),
    new FakeClock(),
  )
  t.strictSame(steps, ['the client is closed'])
})
