import t from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import type { Cause } from '../../src/cache/origin.ts'
import type { Enqueue, KeysOf } from '../../src/controller/map-calls.ts'
import { MapCalls } from '../../src/controller/map-calls.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { objectOf, part } from '../support/controller/fakes.ts'

interface Call {
  readonly uid: string
  readonly signal: AbortSignal
  /** Ends the call. Without `error`, the call returns a key whose name is the uid of the mapped object. With `error`, the call rejects. */
  end(error?: Error): void
}

/** Creates `MapCalls` with the map function `map`. Default: a function whose calls stay pending until the test ends them. */
function setUp(map?: KeysOf) {
  const clock = new FakeClock()
  const { logger, entries } = recordingLogger('debug')
  const calls: Call[] = []
  const added: [string, { readonly priority: number }][] = []
  const causes: Cause[] = []
  const pending: KeysOf = ({ metadata: { uid } }, signal) =>
    new Promise((resolve, reject) => {
      const end = (error?: Error): void => (error === undefined ? resolve([{ namespace: 'ns', name: uid }]) : reject(error))
      calls.push({ uid, signal, end })
    })
  const enqueue: Enqueue = (key, { priority, cause }) => {
    added.push([key, { priority }])
    causes.push(cause)
  }
  const mapCalls = new MapCalls({ type: part, map: map ?? pending, enqueue, clock, logger })
  const uids = (): string[] => calls.map(({ uid }) => uid)
  return { clock, entries, calls, uids, added, causes, mapCalls }
}

const state = (uid: string, name = 'p'): KubernetesObject => objectOf(part, name, { uid })

t.test('the keys of a synchronous map function are enqueued at once', async (t) => {
  const { added, causes, mapCalls } = setUp(({ metadata: { uid } }) => [
    { namespace: 'ns', name: uid },
    { namespace: 'ns', name: 'both' },
  ])
  mapCalls.map({ newest: state('new'), oldest: state('old'), priority: 3, cause: 'unknown' })
  t.strictSame(added, [
    ['ns/new', { priority: 3 }],
    ['ns/both', { priority: 3 }],
    ['ns/old', { priority: 3 }],
  ])
  t.strictSame(causes, ['unknown', 'unknown', 'unknown'])
})

t.test('a slow call does not block other objects, and both states of an update are mapped', async (t) => {
  const { clock, calls, uids, added, mapCalls } = setUp()
  const slow = state('slow')
  mapCalls.map({ newest: slow, oldest: slow, priority: -100, cause: undefined })
  mapCalls.map({ newest: state('new', 'q'), oldest: state('old', 'q'), priority: 0, cause: undefined })
  t.strictSame(uids(), ['slow', 'new', 'old'])
  calls[1]!.end()
  await clock.advance(0)
  t.strictSame(added, [], 'the keys of both states are enqueued together')
  calls[2]!.end()
  await clock.advance(0)
  t.strictSame(added, [
    ['ns/new', { priority: 0 }],
    ['ns/old', { priority: 0 }],
  ])
  calls[0]!.end()
  await clock.advance(0)
  t.strictSame(added[2], ['ns/slow', { priority: -100 }])
})

t.test('calls for one object follow each other, and changes that arrive meanwhile are combined', async (t) => {
  const { clock, calls, uids, added, causes, mapCalls } = setUp()
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((uid) => state(uid)) as [
    KubernetesObject,
    KubernetesObject,
    KubernetesObject,
    KubernetesObject,
  ]
  mapCalls.map({ newest: a, oldest: a, priority: -100, cause: undefined })
  mapCalls.map({ newest: b, oldest: a, priority: -5, cause: 'unknown' })
  mapCalls.map({ newest: c, oldest: b, priority: -7, cause: undefined })
  await clock.advance(0)
  t.strictSame(uids(), ['a'])
  calls[0]!.end()
  await clock.advance(0)
  t.strictSame(uids(), ['a', 'c', 'a'], 'the oldest and the newest state')
  mapCalls.map({ newest: d, oldest: d, priority: 0, cause: 'unknown' })
  calls[2]!.end()
  calls[1]!.end()
  await clock.advance(0)
  t.strictSame(added.slice(1), [
    ['ns/c', { priority: -5 }],
    ['ns/a', { priority: -5 }],
  ])
  t.strictSame(causes.slice(1), [undefined, undefined], 'combined changes have no cause')
  t.strictSame(uids().slice(3), ['d'])
  calls[3]!.end()
  await clock.advance(0)
  t.strictSame(added[3], ['ns/d', { priority: 0 }])
  t.equal(causes[3], 'unknown')
  mapCalls.map({ newest: a, oldest: a, priority: 0, cause: undefined })
  t.equal(calls.length, 5, 'no call is running any more')
})

t.test('a rejected call is retried, and the other state is enqueued', async (t) => {
  const { clock, calls, uids, added, entries, mapCalls } = setUp()
  mapCalls.map({ newest: state('new'), oldest: state('old'), priority: 0, cause: undefined })
  calls[0]!.end(new Error('not yet'))
  calls[1]!.end()
  await clock.advance(0)
  t.strictSame(added, [['ns/old', { priority: 0 }]])
  t.match(entries, [{ level: 'error', object: 'ns/p', err: { message: 'not yet' } }])
  await clock.advance(1000)
  t.strictSame(uids().slice(2), ['new'])
  const change = state('later')
  mapCalls.map({ newest: change, oldest: change, priority: 0, cause: undefined })
  t.equal(calls.length, 3, 'a change waits for the retry')
  calls[2]!.end(new Error('still not'))
  await clock.advance(0)
  t.strictSame(uids().slice(3), ['later'])
  await clock.advance(2000)
  t.equal(calls.length, 4, 'a retry waits for the running call')
  calls[3]!.end()
  await clock.advance(0)
  t.strictSame(uids().slice(4), ['new'])
  calls[4]!.end()
  await clock.advance(0)
  t.strictSame(added.slice(1), [
    ['ns/later', { priority: 0 }],
    ['ns/new', { priority: 0 }],
  ])
  t.equal(clock.pending, 0)
})

t.test('a state for which the map function throws during a retry is retried after it', async (t) => {
  const { clock, calls, uids, added, mapCalls } = setUp()
  const [first, second] = [state('first'), state('second')]
  mapCalls.map({ newest: first, oldest: first, priority: 0, cause: undefined })
  calls[0]!.end(new Error('x'))
  await clock.advance(1000)
  mapCalls.map({ newest: second, oldest: first, priority: 0, cause: undefined })
  calls[1]!.end(new Error('x'))
  await clock.advance(0)
  for (const call of calls.slice(2)) call.end(new Error('x'))
  await clock.advance(2000)
  t.strictSame(uids(), ['first', 'first', 'second', 'first', 'second'])
  calls[4]!.end()
  await clock.advance(0)
  calls[5]!.end()
  await clock.advance(100_000)
  t.strictSame(
    added.map(([key]) => key),
    ['ns/second', 'ns/first'],
  )
  t.equal(clock.pending, 0)
})

t.test('the stop aborts the signal, waits for the running calls, and enqueues nothing more', async (t) => {
  const { clock, calls, added, entries, mapCalls } = setUp()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => state(name, name)) as [KubernetesObject, KubernetesObject, KubernetesObject]
  for (const each of [a, b, c]) mapCalls.map({ newest: each, oldest: each, priority: 0, cause: undefined })
  mapCalls.map({ newest: b, oldest: b, priority: 0, cause: undefined })
  calls[2]!.end(new Error('x'))
  await clock.advance(1000)
  t.equal(calls.length, 4, 'the retry of c is running')
  let stopped = false
  const stopping = mapCalls.stop().then(() => (stopped = true))
  t.strictSame(
    calls.map(({ signal }) => signal.aborted),
    [true, true, true, true],
  )
  calls[0]!.end()
  calls[1]!.end(new Error('aborted'))
  await clock.advance(0)
  t.equal(stopped, false)
  calls[3]!.end()
  await stopping
  await clock.advance(100_000)
  t.strictSame([added, entries.length, calls.length, clock.pending], [[], 1, 4, 0])
})

t.test('a value that is not a list of keys is an error', async (t) => {
  for (const wrong of [undefined, Promise.resolve(undefined)]) {
    const { clock, entries, mapCalls } = setUp((() => wrong) as never)
    const object = state('a')
    mapCalls.map({ newest: object, oldest: object, priority: 0, cause: undefined })
    await clock.advance(0)
    t.match(entries, [{ level: 'error', object: 'ns/p' }])
    await mapCalls.stop()
    t.equal(clock.pending, 0)
  }
})

t.test('when both states of an update fail, both are retried', async (t) => {
  let broken = true
  const { clock, added, mapCalls } = setUp(({ metadata: { uid } }) => {
    if (broken) throw new Error('not yet')
    return [{ namespace: 'ns', name: uid }]
  })
  mapCalls.map({ newest: state('new'), oldest: state('old'), priority: 0, cause: undefined })
  broken = false
  await clock.advance(1000)
  t.strictSame(
    added.map(([key]) => key),
    ['ns/new', 'ns/old'],
  )
})
