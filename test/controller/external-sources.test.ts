import t from 'tap'
import type { ObjectKey } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { ExternalSources } from '../../src/controller/external-sources.ts'
import type { Source } from '../../src/controller/source.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { FakeCache, thing } from '../support/controller/fakes.ts'

const key = (name: string): ObjectKey => ({ namespace: 'ns', name })

function start(sources: readonly Source[], namespaces: readonly string[] = []) {
  const clock = new FakeClock()
  const { logger, entries } = recordingLogger('debug')
  const added: string[] = []
  const queue = { add: (each: string, ...others: unknown[]) => void added.push(each, ...(others as string[])) }
  const stop = new AbortController()
  const options = { type: thing, queue, cache: new FakeCache(), namespaces, clock, logger, random: () => 0.5 }
  const done = new ExternalSources(sources, options).run(stop.signal)
  const logged = (): unknown[] => entries.map(({ level, msg, source }) => [level, msg, source])
  return { clock, added, stop, done, logged, entries }
}

t.test('a source that fails is logged and started again with back-off, while others run', async (t) => {
  const at: number[] = []
  const failing: Source = {
    async run(enqueue, { clock }) {
      at.push(clock.monotonicNow())
      if (at.length === 4) enqueue([key('late')])
      throw new Error('broken')
    },
  }
  const other: Source = {
    run: async (enqueue, { signal }) => (
      enqueue([key('other')]),
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    ),
  }
  const { clock, added, stop, done, entries } = start([other, failing])
  await clock.advance(5_000)
  t.strictSame(
    at.map((time) => time - at[0]!),
    [0, 600, 1800, 4200, 4800],
    'an event resets the back-off',
  )
  t.strictSame(added, ['ns/other', 'ns/late'])
  t.match(entries[0], {
    level: 'error',
    msg: 'sources[1] failed and is started again',
    source: 1,
    pauseMs: 600,
    err: { message: 'broken' },
  })
  stop.abort()
  await done
  await clock.advance(100_000)
  t.strictSame([at.length, clock.pending], [5, 0])
})

t.test('a failure that persists is logged once, and a missing permission with advice and without a stack', async (t) => {
  const message = 'secrets is forbidden: User "x" cannot list resource "secrets" in API group "" at the cluster scope'
  let calls = 0
  const refused: Source = {
    async run(enqueue) {
      calls += 1
      if (calls === 4) enqueue([key('a')])
      throw new ApiError(failure(403, 'Forbidden', message))
    },
  }
  const { clock, stop, done, entries } = start([refused])
  await clock.advance(10_000)
  t.ok(calls >= 5)
  t.strictSame(
    entries.slice(0, 5).map(({ level }) => level),
    ['error', 'debug', 'debug', 'error', 'debug'],
  )
  t.match(
    entries[0]?.msg,
    /^sources\[0\] failed and is started again: it lacks a permission; add .*resources: \['secrets'\], verbs: \['list'\]/,
  )
  t.match(entries[0]?.['err'], { type: 'ApiError', message })
  t.notOk('stack' in (entries[0]?.['err'] as object))
  stop.abort()
  await done
})

t.test('a source that throws at once, or fails after the stop, is no exception', async (t) => {
  const throwing: Source = {
    run() {
      throw new Error('at once')
    },
  }
  const stopping: Source = {
    run: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  }
  const { stop, done, logged } = start([throwing, stopping])
  stop.abort()
  await done
  t.strictSame(logged(), [['error', 'sources[0] failed and is started again', 0]])
})

t.test('a source that ignores the signal does not delay the end, and enqueues nothing more', async (t) => {
  let enqueueLate: ((keys: readonly ObjectKey[]) => void) | undefined
  const ignoring: Source = {
    run(enqueue) {
      enqueueLate = enqueue
      return new Promise(() => undefined)
    },
  }
  const { added, stop, done, logged } = start([ignoring])
  stop.abort()
  await done
  enqueueLate?.([key('late')])
  t.strictSame([added, logged()], [[], []])
})

t.test('a source that ends is not started again', async (t) => {
  let [runs, late] = [0, (_keys: readonly ObjectKey[]): void => undefined]
  const ending: Source = { run: async (enqueue) => void (runs++, (late = enqueue), enqueue([key('a')])) }
  const { clock, added, done, logged, stop } = start([ending])
  await done
  await clock.advance(100_000)
  t.strictSame([runs, added], [1, ['ns/a']])
  t.strictSame(logged(), [['info', 'sources[0] has ended and enqueues nothing more', 0]])
  stop.abort()
  late([key('b')])
  t.strictSame(added, ['ns/a'], 'nothing is enqueued after the stop')
})

t.test('invalid keys are logged, and keys of other namespaces are dropped', async (t) => {
  const keys = [key('a'), { name: 'no-namespace' }, { namespace: 'other', name: 'b' }, undefined] as ObjectKey[]
  const source: Source = { run: async (enqueue) => enqueue(keys) }
  const { added, done, logged } = start([source], ['ns'])
  await done
  t.strictSame(added, ['ns/a'])
  t.strictSame(logged().slice(0, 2), [
    ['error', 'sources[0] returned an invalid key', 0],
    ['error', 'sources[0] returned an invalid key', 0],
  ])
})
