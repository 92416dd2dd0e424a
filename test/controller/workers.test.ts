import { getEventListeners } from 'node:events'
import t from 'tap'
import { systemClock } from '../../src/runtime/clock.ts'
import { systemRandom } from '../../src/runtime/random.ts'
import type { Client } from '../../src/client/client.ts'
import { Workers, type WorkersOptions } from '../../src/controller/workers.ts'
import { WorkQueue } from '../../src/controller/queue.ts'
import { RunningReconciles } from '../../src/controller/running-reconciles.ts'
import { TerminalError, type Reconciler, type ReconcileContext, type Result } from '../../src/controller/reconciler.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { controllerWorld, thing, type ControllerWorld } from '../support/controller/fakes.ts'

interface World extends ControllerWorld {
  readonly queue: WorkQueue<string>
  readonly running: RunningReconciles
  readonly done: Promise<void>
  end(): Promise<void>
}

function run(reconcile: Reconciler, options: Partial<WorkersOptions> = {}, client: Partial<Client> = {}): World {
  const world = controllerWorld(client)
  const { environment, clock, stop } = world
  const queue = new WorkQueue<string>({ clock: options.clock ?? clock })
  const { clock: own = clock, logger = environment.logger } = options
  const running = new RunningReconciles(
    { ...environment, cache: world.cache, controller: 'thing', writes: environment.cache, clock: own, logger, random: systemRandom },
    queue,
  )
  const done = new Workers({
    ...environment,
    metrics: environment.metrics.controller('thing'),
    graceMs: 30_000,
    count: 1,
    queue,
    running,
    reconcile,
    ...options,
  }).work({ stop: stop.signal, lost: new AbortController().signal })
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  return { ...world, queue, running, done, end }
}

const total = (result: string, count: number): string =>
  `controller_runtime_reconcile_total{controller="thing",result="${result}"} ${count}`

t.test('a successful reconcile is forgotten and logged at debug level', async (t) => {
  const seen: object[] = []
  const world = run(async (request) => void seen.push(request))
  world.queue.add('ns/a')
  world.queue.add('cluster-scoped')
  await world.clock.advance(0)
  t.strictSame(seen, [{ namespace: 'ns', name: 'a' }, { name: 'cluster-scoped' }])
  t.ok(await world.measured(total('success', 2)))
  t.ok(await world.measured('controller_runtime_reconcile_time_seconds_count{controller="thing"} 2'))
  t.match(world.log[0], { level: 'debug', namespace: 'ns', name: 'a', reconcileID: /^[0-9a-f-]{36}$/ })
  t.not(world.log[0]?.['reconcileID'], world.log[1]?.['reconcileID'])
  await world.end()
  t.equal(world.clock.pending, 0)
})

t.test('thrown errors and rejections are logged and retried with back-off', async (t) => {
  const throwers: Record<string, Reconciler> = {
    sync: () => {
      throw new Error('broken')
    },
    async: async () => {
      throw new Error('broken')
    },
    late: async ({ name }, { clock }) => {
      await new Promise<void>((resolve) => clock.after(1, resolve))
      throw new Error(`broken ${name}`)
    },
  }
  for (const [name, reconcile] of Object.entries(throwers)) {
    let calls = 0
    const world = run((request, context) => {
      calls += 1
      return reconcile(request, context)
    })
    world.queue.add('ns/a')
    await world.clock.advance(100)
    t.ok(calls >= 4 && calls <= 5, `${name}: at 0, 5, 15, 35 and 75 ms, was ${calls}`)
    t.match(world.log[0], { level: 'error', reconcileID: String, namespace: 'ns', name: 'a', err: { message: /broken/, stack: String } })
    t.ok(await world.measured(total('error', calls)))
    t.ok(await world.measured(`controller_runtime_reconcile_errors_total{controller="thing"} ${calls}`))
    await world.end()
  }
})

t.test('a thrown value that is not an Error is an error', async (t) => {
  const world = run(async () => {
    throw 'a string' as unknown as Error
  })
  world.queue.add('a')
  await world.clock.advance(0)
  t.match(world.log[0], { level: 'error', err: 'a string' })
  await world.end()
})

t.test('a terminal error is not retried, even if it is only the cause of the error', async (t) => {
  let calls = 0
  const world = run(async () => {
    calls += 1
    throw new Error('the image name is malformed', { cause: new TerminalError('never') })
  })
  world.queue.add('a')
  await world.clock.advance(10_000_000)
  t.equal(calls, 1)
  t.match(world.log[0], { level: 'error', err: { message: 'the image name is malformed' } })
  t.ok(await world.measured('controller_runtime_terminal_reconcile_errors_total{controller="thing"} 1'))
  t.ok(await world.measured('controller_runtime_reconcile_panics_total{controller="thing"} 0'))
  await world.end()
})

t.test('requeueAfterMs requeues after that time, and resets the back-off', async (t) => {
  const at: number[] = []
  const results: (() => Result)[] = [
    () => {
      throw new Error('first')
    },
    () => ({ requeueAfterMs: 1000 }),
    () => {
      throw new Error('second')
    },
    () => undefined,
  ]
  const world = run(async (_, { clock }) => {
    at.push(clock.now())
    return results[at.length - 1]?.()
  })
  const start = world.clock.now()
  world.queue.add('a')
  await world.clock.advance(5000)
  t.strictSame(
    at.map((time) => time - start),
    [0, 5, 1005, 1010],
    'the second failure waits 5 ms again',
  )
  t.ok(await world.measured(total('requeue_after', 1)))
  await world.end()
})

t.test('a requeueAfterMs of zero or less requeues with back-off, and one that is not finite is an error', async (t) => {
  const results: Result[] = [{ requeueAfterMs: 0 }, { requeueAfterMs: -3 }, { requeueAfterMs: NaN }, { requeueAfterMs: Infinity }]
  const at: number[] = []
  const world = run(async (_, { clock }) => {
    at.push(clock.now())
    // A controller that requeues without waiting for the clock would loop forever. After 1000 reconciles the test therefore ends the loop
    // and fails.
    return at.length > 1000 ? undefined : results[at.length - 1]
  })
  const start = world.clock.now()
  world.queue.add('a')
  await world.clock.advance(5000)
  t.strictSame(
    at.map((time) => time - start),
    [0, 5, 15, 35, 75],
  )
  t.ok(await world.measured(total('requeue', 2)))
  t.ok(await world.measured(total('requeue_after', 0)))
  t.match(world.log[2], { level: 'error', err: { message: /returned requeueAfterMs: NaN;/ } })
  t.match(world.log[3], { level: 'error', err: { message: /returned requeueAfterMs: Infinity;/ } })
  await world.end()
})

t.test('an empty result is a success, and an unknown result is an error', async (t) => {
  const success = [{}, { requeueAfterMs: undefined }, { requeue: false }]
  const wrong: [unknown, string][] = [
    [null, 'null'],
    [true, 'true'],
    [[], ''],
    [{ requeueAfter: 5 }, 'an object with "requeueAfter"'],
    [{ requeue: 1 }, 'requeue: 1'],
    [{ requeueAfterMs: '5' }, 'requeueAfterMs: 5'],
  ]
  const results: unknown[] = [...success, ...wrong.map(([result]) => result)]
  const world = run(async () => results.shift() as Result)
  for (const index of results.keys()) world.queue.add(`key-${index}`)
  const counts = [results.length, success.length]
  await world.clock.advance(0)
  t.equal(counts[0], 9)
  t.ok(await world.measured(total('success', 3)))
  t.ok(await world.measured(total('error', 6)))
  t.strictSame(
    world.log.filter(({ level }) => level === 'error').map(({ err }) => (err as Error).message),
    wrong.map(
      ([, found]) => `The reconciler returned ${found}; expected is nothing, { requeueAfterMs: milliseconds } or { requeue: true }.`,
    ),
  )
  await world.end()
})

t.test('repeated requeueAfterMs: 0 does not busy-loop', async (t) => {
  let calls = 0
  const world = run(async () => (++calls > 10_000 ? undefined : { requeueAfterMs: 0 }))
  world.queue.add('a')
  await world.clock.advance(20)
  t.equal(calls, 3, 'at once, after 5 ms, and after 10 ms more')
  await world.end()
})

t.test('timers fire between reconciles that never wait, for any number of controllers and workers', async (t) => {
  const keys = 200
  const spinMs = 0.5
  let calls = 0
  const reconcile = async (): Promise<void> => {
    calls += 1
    for (const end = performance.now() + spinMs; performance.now() < end;);
  }
  const worlds = Array.from({ length: 3 }, () => run(reconcile, { clock: systemClock, count: 20 }))
  for (const { queue } of worlds) for (let i = 0; i < keys; i++) queue.add(`ns/${i}`)
  const seen: number[] = []
  while (calls < 3 * keys) {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(calls)
  }
  const most = Math.max(...seen.map((count, index) => count - (seen[index - 1] ?? 0)))
  t.ok(most <= 20, `${most} reconciles of ${spinMs} ms in a row`)
  for (const world of worlds) await world.end()
})

t.test('requeue: true requeues with back-off', async (t) => {
  let calls = 0
  const world = run(async () => (++calls < 4 ? { requeue: true } : undefined))
  world.queue.add('a')
  await world.clock.advance(34)
  t.equal(calls, 3)
  await world.clock.advance(1)
  t.equal(calls, 4)
  t.ok(await world.measured(total('requeue', 3)))
  await world.end()
})

t.test('a retry keeps the priority of its key', async (t) => {
  const order: string[] = []
  const world = run(async ({ name }) => {
    order.push(name)
    return order.length === 1 ? { requeueAfterMs: 10 } : undefined
  })
  world.queue.add('low', { priority: -100 })
  await world.clock.advance(10)
  world.queue.add('low', { priority: -100 })
  world.queue.add('high')
  t.strictSame(order, ['low', 'low'])
  await world.clock.advance(0)
  t.strictSame(order.slice(2), ['low', 'high'], 'the waiting worker holds the first one already')
  await world.end()
})

t.test('the number of workers bounds concurrent reconciles, and a key is never reconciled twice at once', async (t) => {
  const running = new Set<string>()
  let most = 0
  const world = run(
    async ({ name }, { clock }) => {
      if (running.has(name)) t.fail(`${name} runs twice`)
      running.add(name)
      most = Math.max(most, running.size)
      await new Promise<void>((resolve) => clock.after(10, resolve))
      running.delete(name)
    },
    { count: 3 },
  )
  for (let round = 0; round < 3; round++) {
    for (const key of ['a', 'b', 'c', 'd', 'e']) world.queue.add(key)
    await world.clock.advance(5)
    t.ok(await world.measured('controller_runtime_active_workers{controller="thing"} 3'))
  }
  await world.clock.advance(100)
  t.equal(most, 3)
  t.ok(await world.measured('controller_runtime_max_concurrent_reconciles{controller="thing"} 3'))
  t.ok(await world.measured('controller_runtime_active_workers{controller="thing"} 0'))
  await world.end()
})

t.test('on stop, running reconciles finish and no new ones start', async (t) => {
  const finished: string[] = []
  let aborted = false
  const world = run(async ({ name }, { clock, signal }) => {
    await new Promise<void>((resolve) => clock.after(20_000, resolve))
    aborted = signal.aborted
    finished.push(name)
  })
  world.queue.add('a')
  world.queue.add('b')
  await world.clock.advance(10)
  world.stop.abort()
  await world.clock.advance(20_000)
  await world.done
  t.strictSame(finished, ['a'])
  t.notOk(aborted)
  t.equal(world.clock.pending, 0)
})

t.test('a reconcile that exceeds the grace period has its signal and its requests aborted', async (t) => {
  const signals: (AbortSignal | undefined)[] = []
  const get = ((_type: unknown, _key: unknown, options?: { signal?: AbortSignal }) => {
    signals.push(options?.signal)
    return new Promise((_, reject) =>
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error), { once: true }),
    )
  }) as Client['get']
  let context: ReconcileContext | undefined
  const world = run(
    async (request, reconcileContext) => {
      context = reconcileContext
      await reconcileContext.client.get({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }, request)
    },
    { graceMs: 100 },
    { get },
  )
  world.queue.add('a')
  await world.clock.advance(0)
  world.stop.abort()
  await world.clock.advance(99)
  t.notOk(context?.signal.aborted)
  await world.clock.advance(1)
  await world.done
  t.ok(context?.signal.aborted)
  t.equal(signals[0], context?.signal)
  t.match(world.log[0], { level: 'warn', err: { code: 'PRO_ABORTED' } })
})

t.test('a reconcile that exceeds its time limit has its signal aborted and is retried', async (t) => {
  let calls = 0
  const world = run(
    async (_, { signal }) => {
      calls += 1
      if (calls > 1) return
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
    },
    { reconciliationTimeoutMs: 1000 },
  )
  world.queue.add('a')
  await world.clock.advance(999)
  t.equal(world.log.length, 0)
  await world.clock.advance(10)
  t.match(world.log[0], { level: 'error', err: { message: /longer than its limit of 1000 ms/ } })
  t.equal(calls, 2)
  t.ok(await world.measured('controller_runtime_reconcile_timeouts_total{controller="thing"} 1'))
  await world.end()
  t.equal(world.clock.pending, 0, 'the timer of a finished reconcile is cancelled')
})

t.test('programming errors are counted as panics', async (t) => {
  const world = run(async () => {
    const missing = undefined as unknown as { spec: string }
    void missing.spec
  })
  world.queue.add('a')
  await world.clock.advance(0)
  t.ok(await world.measured('controller_runtime_reconcile_panics_total{controller="thing"} 1'))
  await world.end()
})

t.test('a network error is no panic, although fetch throws a TypeError', async (t) => {
  const world = run(async () => {
    throw new TypeError('fetch failed', { cause: new Error('connection refused') })
  })
  world.queue.add('a')
  await world.clock.advance(0)
  t.ok(await world.measured(total('error', 1)))
  t.ok(await world.measured('controller_runtime_reconcile_panics_total{controller="thing"} 0'))
  await world.end()
})

/** An error whose message cannot be read. A logger therefore cannot serialize the error. */
const unreadable = Object.defineProperty(new Error('x'), 'message', {
  get: () => {
    throw new Error('not to be read')
  },
})

t.test('an error that cannot be logged affects neither its object nor others', async (t) => {
  const errors = {
    getter: unreadable,
    proxy: new Proxy(new Error('x'), {
      getPrototypeOf: () => {
        throw unreadable
      },
    }),
  }
  for (const [name, error] of Object.entries(errors)) {
    const seen: string[] = []
    const world = run(async (request) => {
      seen.push(request.name)
      if (request.name === 'bad' && seen.length === 1) throw error
    })
    world.queue.add('ns/bad')
    await world.clock.advance(0)
    world.queue.add('ns/good')
    await world.clock.advance(0)
    t.strictSame(seen, ['bad', 'good'], name)
    t.match(world.log, [{ level: 'error', msg: /^the outcome of the reconcile of ns\/bad could not be reported: / }, {}])
    await world.clock.advance(100)
    t.strictSame(seen, ['bad', 'good', 'bad'], `${name}: retried`)
    await world.end()
  }
})

t.test('a key whose rate limiter fails is retried after five seconds', async (t) => {
  const failing: Record<string, () => number> = {
    throws: () => {
      throw new Error('no delay')
    },
    'returns NaN': () => Number.NaN,
  }
  for (const [name, delayMs] of Object.entries(failing)) {
    let reconciles = 0
    const reconcile: Reconciler = async () => {
      reconciles += 1
      return reconciles === 1 ? { requeue: true } : undefined
    }
    const clock = new FakeClock()
    const queue = new WorkQueue<string>({ clock, rateLimiter: { delayMs, forget: () => undefined } })
    const world = run(reconcile, { queue, clock })
    queue.add('ns/a')
    await clock.advance(4999)
    t.equal(reconciles, 1, name)
    await clock.advance(1)
    t.equal(reconciles, 2, name)
    t.match(world.log, [{ level: 'error', msg: /^the outcome of the reconcile of ns\/a could not be reported: / }])
    await world.end()
  }
})

t.test('a logger that always throws fails the controller', async (t) => {
  const broken = (): never => {
    throw new Error('the disk is full')
  }
  const logger = { child: () => logger, debug: broken, info: broken, warn: broken, error: broken } as unknown as WorkersOptions['logger']
  const world = run(async () => undefined, { logger })
  world.queue.add('a')
  await t.rejects(world.done, { message: 'the disk is full' })
  t.strictSame(getEventListeners(world.stop.signal, 'abort'), [], 'no listener is left')
})

t.test('a failed worker stops the others, and the error is thrown when the last of them has ended', async (t) => {
  const logger = { child: () => logger, debug: () => undefined } as unknown as WorkersOptions['logger']
  const slow = Promise.withResolvers<void>()
  const started: string[] = []
  let running = 0
  const world = run(
    async ({ name }) => {
      started.push(name)
      if (name === 'bad') throw new Error('logged by a logger that cannot')
      running += 1
      await slow.promise
      running -= 1
    },
    { logger, count: 2 },
  )
  let settled = false
  const done = t.rejects(world.done, TypeError).finally(() => (settled = true))
  for (const key of ['slow', 'bad', 'later']) world.queue.add(key)
  await world.clock.advance(10)
  t.strictSame([started, running, settled], [['slow', 'bad'], 1, false])
  slow.resolve()
  await done
  t.equal(running, 0)
  t.equal(world.clock.pending, 0)
  world.stop.abort()
  t.equal(world.clock.pending, 0, 'a later stop has no effect')
})

t.test('a controller that is stopped before its start does nothing', async (t) => {
  const world = run(async () => void t.fail('must not run'))
  const stop = AbortSignal.abort()
  const queue = new WorkQueue<string>({ clock: world.clock })
  queue.add('a')
  await new Workers({
    ...world.environment,
    metrics: world.environment.metrics.controller('x'),
    graceMs: 1,
    count: 2,
    queue,
    running: world.running,
    reconcile: async () => void t.fail('must not run'),
  }).work({ stop, lost: new AbortController().signal })
  await world.end()
})

t.test('each outcome has a log line with the object and the duration', async (t) => {
  const outcomes: Record<string, () => Result> = {
    success: () => undefined,
    later: () => ({ requeueAfterMs: 60_000 }),
    requeue: () => ({ requeue: true }),
    error: () => {
      throw new Error('oops')
    },
    terminal: () => {
      throw new TerminalError('never')
    },
  }
  const calls: string[] = []
  const world = run(async ({ name }, { clock }) => {
    calls.push(name)
    await new Promise<void>((resolve) => clock.after(1500, resolve))
    if (calls.filter((call) => call === name).length > 1) return
    return outcomes[name]!()
  })
  for (const name of Object.keys(outcomes)) world.queue.add(`ns/${name}`)
  await world.clock.advance(5 * 1500)
  const lines = world.log.map(({ reconcileID: _, time: __, err, ...line }) => ({
    ...line,
    ...(err === undefined ? {} : { err: (err as Error).message }),
  }))
  const about = (name: string): object => ({ namespace: 'ns', name, seconds: 1.5 })
  t.strictSame(lines.slice(0, 5), [
    { level: 'debug', ...about('success'), msg: 'reconciled' },
    { level: 'debug', ...about('later'), requeueAfterMs: 60_000, msg: 'reconciled, again later' },
    { level: 'debug', ...about('requeue'), msg: 'reconciled, again with back-off' },
    { level: 'error', ...about('error'), err: 'oops', msg: 'the reconcile failed and is tried again' },
    { level: 'error', ...about('terminal'), err: 'never', msg: 'the reconcile failed and is not tried again until the object changes' },
  ])
  await world.clock.advance(100_000)
  t.strictSame(calls.slice(5).sort(), ['error', 'later', 'requeue'])
  for (const [result, count] of [
    ['success', 4],
    ['requeue_after', 1],
    ['requeue', 1],
    ['error', 2],
  ] as const)
    t.ok(await world.measured(total(result, count)), result)
  t.ok(await world.measured('controller_runtime_reconcile_time_seconds_sum{controller="thing"} 12'))
  await world.end()
})

t.test('a reconcile receives the context of its controller, with the id of its log lines', async (t) => {
  const contexts: ReconcileContext[] = []
  const world = run(async (_, context) => {
    contexts.push(context)
    context.logger.info('from within')
  })
  world.queue.add('ns/a')
  await world.clock.advance(0)
  const [{ cache, clock, events, reconcileID, signal }] = contexts as [ReconcileContext]
  t.equal(cache, world.environment.cache)
  t.equal(clock, world.clock)
  t.equal(events, world.environment.events)
  t.notOk(signal.aborted)
  t.strictSame(
    world.log.map(({ msg, namespace, name, reconcileID: id }) => [msg, namespace, name, id]),
    [
      ['from within', 'ns', 'a', reconcileID],
      ['reconciled', 'ns', 'a', reconcileID],
    ],
  )
  await world.end()
})

t.test('programming errors are panics', async (t) => {
  const errors = [new TypeError('a'), new ReferenceError('b'), new RangeError('c'), new SyntaxError('d'), new Error('e')]
  const world = run(async () => {
    throw errors.shift()!
  })
  for (const key of ['a', 'b', 'c', 'd', 'e']) world.queue.add(key)
  await world.clock.advance(0)
  t.ok(await world.measured('controller_runtime_reconcile_panics_total{controller="thing"} 3'))
  t.ok(await world.measured('controller_runtime_reconcile_errors_total{controller="thing"} 5'))
  t.ok(await world.measured('controller_runtime_terminal_reconcile_errors_total{controller="thing"} 0'))
  await world.end()
})

t.test('an outcome that cannot be reported is printed as far as possible, and counted as a panic', async (t) => {
  const throwing = (error: unknown) => {
    let calls = 0
    const logger = {
      child: () => logger,
      isLevelEnabled: () => true,
      debug: () => {
        calls += 1
        if (calls === 1) throw error
      },
      error: (text: string) => void printed.push(text),
    } as unknown as WorkersOptions['logger']
    return logger
  }
  const printed: string[] = []
  for (const error of [new Error('no disk'), unreadable]) {
    const world = run(async () => undefined, { logger: throwing(error) })
    world.queue.add('ns/a')
    await world.clock.advance(0)
    t.ok(await world.measured('controller_runtime_reconcile_panics_total{controller="thing"} 1'))
    await world.end()
  }
  t.strictSame(printed, [
    'the outcome of the reconcile of ns/a could not be reported: no disk',
    'the outcome of the reconcile of ns/a could not be reported: by an error that cannot be read',
  ])
})

t.test('the logger of a reconcile is created once, and only if it is read', async (t) => {
  const children: object[] = []
  const logger = {
    child(fields: object) {
      children.push(fields)
      return { ...logger }
    },
    isLevelEnabled: () => false,
    debug: () => undefined,
  } as unknown as WorkersOptions['logger']
  const seen: unknown[] = []
  const world = run(
    async ({ name }, context) => {
      if (name === 'b') seen.push(context.logger === context.logger, context.client === context.client, context.reconcileID)
    },
    { logger },
  )
  world.queue.add('ns/a')
  world.queue.add('ns/b')
  await world.clock.advance(0)
  await world.end()
  t.strictSame(seen.slice(0, 2), [true, true])
  t.strictSame(children, [{ namespace: 'ns', name: 'b', reconcileID: seen[2] }])
})

t.test('a reconcile that is aborted at the stop is no failure, and not retried', async (t) => {
  const world = run(
    (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })),
    { graceMs: 100 },
  )
  world.queue.add('a')
  await world.clock.advance(0)
  world.stop.abort()
  await world.clock.advance(100)
  await world.done
  t.match(world.log, [{ level: 'warn', name: 'a', seconds: 0.1, msg: 'the reconcile was cut off because the process ends' }])
  t.match(world.log[0]?.err, { message: 'The process ends; the reconcile did not end in time.' })
  t.ok(await world.measured(total('error', 1)))
  t.equal(world.clock.pending, 0)
  t.strictSame(getEventListeners(world.stop.signal, 'abort'), [])
})

t.test('an exceeded time limit counts once per reconcile', async (t) => {
  const world = run((_, { clock }) => new Promise<void>((resolve) => clock.after(1000, resolve)), {
    reconciliationTimeoutMs: 1000,
    count: 2,
  })
  world.queue.add('a')
  await world.clock.advance(5000)
  t.ok(await world.measured(total('success', 1)))
  const quick = run((_, { clock }) => new Promise<void>((resolve) => clock.after(999, resolve)), { reconciliationTimeoutMs: 1000 })
  quick.queue.add('a')
  await quick.clock.advance(5000)
  t.ok(await quick.measured('controller_runtime_reconcile_timeouts_total{controller="thing"} 0'))
  await world.end()
  await quick.end()
})

t.test(
  'a time limit has a cause of its own, which also ends requests, and does not change what the reconcile returns or throws',
  async (t) => {
    const errors = 'controller_runtime_reconcile_errors_total{controller="thing"}'
    const timeouts = 'controller_runtime_reconcile_timeouts_total{controller="thing"}'
    const cases: readonly (readonly [string, (context: ReconcileContext) => Promise<Result>, number, string])[] = [
      ['a request fails with the cause', ({ client }) => client.get(thing, { namespace: 'ns', name: 'a' }) as never, 1, 'error'],
      [
        'another error is retried, too',
        async ({ clock }) => {
          await new Promise<void>((resolve) => clock.after(1500, resolve))
          throw new Error('other')
        },
        1,
        'error',
      ],
      [
        'a result counts, although it is late',
        async ({ clock }) => {
          await new Promise<void>((resolve) => clock.after(1500, resolve))
          return { requeueAfterMs: 10_000 }
        },
        0,
        'requeue_after',
      ],
    ]
    for (const [name, reconcile, failures, result] of cases) {
      const reasons: unknown[] = []
      let calls = 0
      const get = ((_type: unknown, _key: unknown, options: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          options.signal.addEventListener('abort', () => reject(options.signal.reason as Error))
        })) as unknown as Client['get']
      const world = run(
        async (_, context) => {
          if (++calls > 1) return undefined
          context.signal.addEventListener('abort', () => reasons.push(context.signal.reason))
          return reconcile(context)
        },
        { reconciliationTimeoutMs: 1000 },
        { get },
      )
      world.queue.add('ns/a')
      await world.clock.advance(2000)
      t.match(reasons, [{ code: 'PRO_ABORTED', message: 'The reconcile took longer than its limit of 1000 ms.' }], name)
      t.ok(await world.measured(`${timeouts} 1`), name)
      t.ok(await world.measured(`${errors} ${failures}`), name)
      t.ok(await world.measured(total(result, 1)), name)
      t.equal(calls, 1 + failures, 'an error is retried with back-off')
      await world.end()
    }
  },
)

t.test('a stop is no exceeded time limit', async (t) => {
  const world = run(
    (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    { reconciliationTimeoutMs: 60_000 },
  )
  world.queue.add('a')
  await world.clock.advance(0)
  world.stop.abort()
  await world.clock.advance(30_000)
  await world.done
  t.ok(await world.measured('controller_runtime_reconcile_timeouts_total{controller="thing"} 0'))
  t.equal(world.clock.pending, 0)
})

t.test('a clock that is set back causes no negative durations', async (t) => {
  const world = run(async () => world.clock.set(world.clock.now() - 10_000))
  world.queue.add('a')
  await world.clock.advance(0)
  t.match(world.log, [{ seconds: 0 }])
  await world.end()
})

t.test('the priority of the initial reconcile is kept for a retry, but not for a periodic reconcile', async (t) => {
  for (const [first, expected] of [
    [{ requeueAfterMs: 10 }, ['low', 'busy', 'low', 'other']],
    [{ requeue: true }, ['low', 'busy', 'other', 'low']],
  ] as const) {
    const order: string[] = []
    const world = run(async ({ name }, { clock }) => {
      order.push(name)
      if (name === 'busy') await new Promise<void>((resolve) => clock.after(100, resolve))
      return order.length === 1 ? first : undefined
    })
    world.queue.add('low', { priority: -100 })
    await world.clock.advance(1)
    world.queue.add('busy')
    await world.clock.advance(50)
    world.queue.add('other', { priority: -50 })
    await world.clock.advance(100)
    t.strictSame(order, expected)
    await world.end()
  }
})

t.test('a success or a terminal error resets the back-off', async (t) => {
  const endings: Record<string, () => Result> = {
    success: () => undefined,
    later: () => ({ requeueAfterMs: 1_000_000 }),
    terminal: () => {
      throw new TerminalError('never')
    },
  }
  for (const [name, ending] of Object.entries(endings)) {
    const at: number[] = []
    const world = run(async (_, { clock }) => {
      at.push(clock.now())
      if (at.length === 3) return ending()
      throw new Error('not yet')
    })
    const started = world.clock.now()
    world.queue.add('a')
    await world.clock.advance(100)
    world.queue.add('a')
    await world.clock.advance(10)
    t.strictSame(
      at.map((time) => time - started),
      [0, 5, 15, 100, 105],
      name,
    )
    await world.end()
  }
})

t.test('a worker that has just taken a key does not reconcile it after the stop', async (t) => {
  const started: string[] = []
  const world: World = run(
    async ({ name }) => {
      started.push(name)
      world.stop.abort()
    },
    { count: 2 },
  )
  world.queue.add('a')
  world.queue.add('b', { priority: -100 })
  await world.clock.advance(0)
  await world.done
  t.strictSame(started, ['a'])
  t.match(world.queue.entries(10), [{ key: 'b', state: 'ready', priority: -100 }], 'the key is still queued, with its priority')
  t.equal(world.clock.pending, 0)
})

t.test('a result determines the priority of the requeue', async (t) => {
  for (const result of [
    { requeueAfterMs: 10, priority: 7 },
    { requeue: true, priority: -7 },
    { requeue: true, priority: 0 },
  ] as const) {
    const priorities: number[] = []
    const world = run(async () => {
      priorities.push(world.queue.priorityOf('a'))
      return priorities.length === 1 ? result : undefined
    })
    world.queue.add('a', { priority: 3 })
    await world.clock.advance(100)
    t.strictSame(priorities, [3, result.priority])
    await world.end()
  }
})

t.test('back-off neither shortens nor replaces a requeueAfterMs, which ends with the next success', async (t) => {
  const at: number[] = []
  let fails = false
  const world = run(async (_, { clock }) => {
    at.push(clock.now())
    if (fails) throw new Error('not yet')
    return at.length === 1 ? { requeueAfterMs: 60_000 } : undefined
  })
  const start = world.clock.now()
  const since = (): number[] => at.splice(1).map((time) => time - start)
  world.queue.add('a')
  await world.clock.advance(1000)
  fails = true
  world.queue.add('a')
  await world.clock.advance(58_990)
  t.strictSame(
    since(),
    [0, 5, 15, 35, 75, 155, 315, 635, 1275, 2555, 5115, 10_235, 20_475, 40_955].map((ms) => 1000 + ms),
  )
  await world.clock.advance(10)
  t.strictSame(since(), [60_000], 'the next retry would be later')
  await world.clock.advance(81_920)
  t.strictSame(since(), [60_000 + 81_920], 'the reconcile was a retry, too, so the back-off goes on')
  fails = false
  await world.clock.advance(1_000_000)
  t.equal(since().length, 1)
  t.equal(world.clock.pending, 0)
  await world.end()
})

t.test('a success ends a requeueAfterMs of an earlier reconcile', async (t) => {
  let count = 0
  const world = run(async () => (++count === 1 ? { requeueAfterMs: 1000 } : undefined))
  world.queue.add('a')
  await world.clock.advance(500)
  world.queue.add('a')
  await world.clock.advance(10_000)
  t.equal(count, 2)
  await world.end()
})
