import t from 'tap'
import type { ObjectKey } from '../../src/api/object.ts'
import { from, interval, type Source } from '../../src/controller/source.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { FakeCache } from '../support/controller/fakes.ts'

const key = (name: string): ObjectKey => ({ namespace: 'ns', name })

function run(source: Source) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const enqueued: string[][] = []
  const started = clock.now()
  const context = { signal: stop.signal, cache: new FakeCache(), clock }
  const done = source.run((keys) => void enqueued.push([String(clock.now() - started), ...keys.map(({ name }) => name)]), context)
  return { clock, stop, enqueued, context, done }
}

t.test('an interval enqueues its keys each time, first after the interval', async (t) => {
  const { clock, stop, enqueued, done } = run(interval(1000, [key('a'), key('b')]))
  await clock.advance(2500)
  t.strictSame(enqueued, [
    ['1000', 'a', 'b'],
    ['2000', 'a', 'b'],
  ])
  stop.abort(new Error('stop'))
  await t.rejects(done, { message: 'stop' })
  t.equal(clock.pending, 0)
})

t.test('the keys of an interval may be computed, also asynchronously', async (t) => {
  let calls = 0
  const seen: unknown[] = []
  const source = interval(1000, (context) => {
    seen.push(context)
    calls++
    return calls === 1 ? [key('a')] : calls === 2 ? Promise.resolve([key('b')]) : new Promise(() => undefined)
  })
  const { clock, stop, enqueued, context, done } = run(source)
  await clock.advance(3500)
  t.strictSame(enqueued, [
    ['1000', 'a'],
    ['2000', 'b'],
  ])
  t.equal(seen[0], context)
  stop.abort(new Error('stop'))
  await t.rejects(done, { message: 'stop' }, 'although the keys are still missing')
})

t.test('the events of an iterable are keys, or mapped to keys', async (t) => {
  async function* events(): AsyncGenerator<ObjectKey> {
    yield key('a')
    yield key('b')
  }
  const keys = run(from(events()))
  await keys.done
  t.strictSame(keys.enqueued, [
    ['0', 'a'],
    ['0', 'b'],
  ])
  const seen: unknown[] = []
  const mapped = run(
    from(
      (context) => (seen.push(context), events()),
      async ({ name }, context) => (seen.push(context), [key(`${name}1`), key(`${name}2`)]),
    ),
  )
  await mapped.done
  t.strictSame(mapped.enqueued, [
    ['0', 'a1', 'a2'],
    ['0', 'b1', 'b2'],
  ])
  t.equal(seen.length, 3)
  for (const context of seen) t.equal(context, mapped.context)
})

t.test('an iterable whose events never wait does not block the event loop', async (t) => {
  // All sources share one time slice in each iteration of the event loop. An earlier test may have started the time slice of the current
  // iteration with the clock of the earlier test. This test therefore waits for the next iteration.
  await new Promise(setImmediate)
  let elapsed = 0
  const clock = { now: () => 0, monotonicNow: () => (elapsed += 1), after: () => ({ cancel: () => undefined }) }
  async function* events(): AsyncGenerator<ObjectKey> {
    for (let event = 0; event < 100; event += 1) yield key(String(event))
  }
  const enqueued: string[] = []
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { signal } = new AbortController()
  await from(events()).run((keys) => void enqueued.push(...keys.map(({ name }) => name)), { signal, cache: new FakeCache(), clock })
  isDone = true
  t.strictSame(
    enqueued,
    Array.from({ length: 100 }, (_, event) => String(event)),
  )
  t.ok(turns >= 25, `${turns} turns of the event loop for 100 events of 1 ms`)
})

t.test('an iterable that ignores the signal is left, and its iterator is told', async (t) => {
  for (const returns of [async () => Promise.reject(new Error('ignored')), undefined]) {
    let returned = 0
    const iterable = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<ObjectKey>>(() => undefined),
        ...(returns === undefined ? {} : { return: () => (returned++, returns()) }),
      }),
    }
    const { stop, done } = run(from(iterable))
    stop.abort(new Error('stop'))
    await t.rejects(done, { message: 'stop' })
    t.equal(returned, returns === undefined ? 0 : 1)
  }
})

t.test('errors of an iterable and of the map function end the source', async (t) => {
  async function* events(fails: boolean): AsyncGenerator<number> {
    yield 1
    if (fails) throw new Error('iterable')
  }
  await t.rejects(run(from(events(true), () => [])).done, { message: 'iterable' })
  let ended = false
  async function* watched(): AsyncGenerator<number> {
    try {
      yield 1
      yield 2
    } finally {
      ended = true
    }
  }
  const map = (): ObjectKey[] => {
    throw new Error('map')
  }
  await t.rejects(run(from(watched(), map)).done, { message: 'map' })
  t.equal(ended, true, 'the iterator is closed')
})

t.test('wrong arguments are refused', async (t) => {
  t.throws(() => interval(0, []), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The options of source.interval are invalid: ms: must be a number of milliseconds above 0, found 0.',
  })
  for (const wrong of [[key('a')], undefined, null])
    t.throws(() => from(wrong as never), { code: 'PRO_CONFIG_INVALID', message: /events: must be an asynchronous/ })
})
