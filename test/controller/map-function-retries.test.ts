import t from 'tap'
import type { Test } from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import { MapFunctionRetries } from '../../src/controller/map-function-retries.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { objectOf, part } from '../support/controller/fakes.ts'

function setUp(t: Test, fails: (object: KubernetesObject) => boolean) {
  const clock = new FakeClock()
  const { logger, entries } = recordingLogger('debug')
  const mapped: [number, string][] = []
  const started = clock.now()
  const map = async (object: unknown): Promise<void> => {
    const input = object as KubernetesObject
    mapped.push([clock.now() - started, input.metadata.uid])
    if (fails(input)) throw new Error('cannot map')
  }
  const retries = new MapFunctionRetries({ type: part, map, clock, logger })
  t.teardown(() => retries.stop())
  const logged = (): unknown[] => entries.map(({ level, msg, object, err }) => [level, msg, object, (err as Error).message])
  return { clock, mapped, retries, logged }
}
const state = (uid: string, name = 'p'): KubernetesObject => objectOf(part, name, { uid })

t.test('a failed map function is retried after 1 s, 2 s, 4 s and so on, ten times', async (t) => {
  const { clock, mapped, retries, logged } = setUp(t, () => true)
  retries.add(state('a'), state('a'), new Error('the first'))
  await clock.advance(10_000_000)
  t.strictSame(
    mapped.map(([at]) => at),
    [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023].map((seconds) => seconds * 1000),
  )
  t.equal(clock.pending, 0)
  const start = 'the map function for parts.example.com'
  t.strictSame(logged(), [
    ['error', `${start} threw: it is called again, and its keys are enqueued when it succeeds`, 'ns/p', 'the first'],
    ...Array.from({ length: 9 }, () => ['debug', `${start} threw again`, 'ns/p', 'cannot map']),
    ['error', `${start} has thrown 10 times more and is not called again for this change`, 'ns/p', 'cannot map'],
  ])
  retries.add(state('b'), state('b'), new Error('x'))
  t.equal(clock.nextDue, clock.now() + 1000, 'a later change is retried again')
})

t.test('the newest and the oldest state are mapped, each once', async (t) => {
  const { clock, mapped, retries, logged } = setUp(t, () => false)
  retries.add(state('oldest'), state('between'), new Error('x'))
  retries.add(state('between'), state('newest'), new Error('x'))
  const same = state('same', 'q')
  retries.add(same, same, new Error('x'))
  await clock.advance(1000)
  t.strictSame(mapped, [
    [1000, 'newest'],
    [1000, 'oldest'],
    [1000, 'same'],
  ])
  t.equal(logged().length, 2, 'once for each object')
  await clock.advance(100_000)
  t.equal(mapped.length, 3)
})

t.test('a state that arrives meanwhile is mapped with the next retry', async (t) => {
  const { clock, mapped, retries } = setUp(t, ({ metadata }) => metadata.uid === 'a')
  retries.add(state('b'), state('a'), new Error('x'))
  await clock.advance(1000)
  retries.add(state('a'), state('c'), new Error('x'))
  t.equal(clock.pending, 1)
  await clock.advance(2000)
  t.strictSame(mapped, [
    [1000, 'a'],
    [3000, 'c'],
    [3000, 'b'],
  ])
})

t.test('after the stop nothing is retried', async (t) => {
  const { clock, mapped, retries } = setUp(t, () => true)
  for (const name of ['p', 'q']) retries.add(state('a', name), state('a', name), new Error('x'))
  t.equal(clock.pending, 2)
  retries.stop()
  t.equal(clock.pending, 0)
  await clock.advance(10_000)
  t.strictSame(mapped, [])
})

t.test('a state that fails while another one is retried is retried after it, and so is the retried one', async (t) => {
  const clock = new FakeClock()
  const mapped: string[] = []
  let arrived = false
  const map = async (object: unknown): Promise<void> => {
    mapped.push((object as KubernetesObject).metadata.uid)
    if (!arrived) retries.add(state('c'), state('d'), new Error('x'))
    arrived = true
  }
  const retries = new MapFunctionRetries({ type: part, map, clock, logger: recordingLogger('debug').logger })
  retries.add(state('a'), state('b'), new Error('x'))
  await clock.advance(1000)
  t.strictSame(mapped.splice(0), ['b', 'a'])
  await clock.advance(1000)
  t.strictSame(mapped.splice(0), ['d', 'b'])
  t.equal(clock.pending, 0)
})

t.test('a retry that is running at the stop is not repeated', async (t) => {
  for (const error of [undefined, new Error('x')]) {
    const clock = new FakeClock()
    const running = Promise.withResolvers<void>()
    const { logger, entries } = recordingLogger('debug')
    let calls = 0
    const map = (): Promise<void> => (calls++, running.promise)
    const retries = new MapFunctionRetries({ type: part, map, clock, logger })
    const a = state('a')
    retries.add(a, a, new Error('x'))
    await clock.advance(1000)
    retries.add(a, state('b'), new Error('x'))
    retries.stop()
    if (error === undefined) running.resolve()
    else running.reject(error)
    await clock.advance(100_000)
    t.strictSame([calls, entries.length, clock.pending], [1, 1, 0])
  }
})
