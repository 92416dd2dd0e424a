import t from 'tap'
import type { Event } from '../../src/api/builtin.ts'
import type { KubernetesObject, ObjectInput, ObjectKey } from '../../src/api/object.ts'
import { createEventRecorder, type EventWriter } from '../../src/telemetry/event-recorder.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'

type Write = { verb: 'create'; object: ObjectInput<Event> } | { verb: 'patch'; key: ObjectKey; patch: object }

function setUp(fail: (write: Write) => boolean = () => false): {
  clock: FakeClock
  writes: Write[]
  recorder: ReturnType<typeof createEventRecorder>
  lines: string[]
  entries: Record<string, unknown>[]
} {
  const clock = new FakeClock('2026-05-06T07:08:09Z')
  const writes: Write[] = []
  const accept = async (write: Write): Promise<void> => {
    writes.push(write)
    if (fail(write)) throw new Error('refused')
  }
  const client = {
    create: (_type: unknown, object: ObjectInput<Event>) => accept({ verb: 'create', object }),
    patch: (_type: unknown, key: ObjectKey, patch: object) => accept({ verb: 'patch', key, patch }),
  } as unknown as EventWriter
  const { logger, lines, entries } = recordingLogger('debug')
  return {
    clock,
    writes,
    lines,
    entries,
    recorder: createEventRecorder(client, { component: 'proreus', instance: 'pod-1', logger, clock }),
  }
}

const object = (name = 'a', namespace?: string): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7', creationTimestamp: '', ...(namespace === undefined ? {} : { namespace }) },
})

t.test('an event names its object, its reason and its reporter', async (t) => {
  const { recorder, writes } = setUp()
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'pod a created')
  await recorder.flush()
  const nanoseconds = BigInt(Date.parse('2026-05-06T07:08:09Z')) * 1_000_000n
  t.equal(writes.length, 1)
  t.strictSame(writes[0], {
    verb: 'create',
    object: {
      metadata: { namespace: 'ns', name: `a.${nanoseconds.toString(16)}` },
      involvedObject: { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'ns', name: 'a', uid: 'uid-a', resourceVersion: '7' },
      type: 'Normal',
      reason: 'Created',
      message: 'pod a created',
      count: 1,
      firstTimestamp: '2026-05-06T07:08:09Z',
      lastTimestamp: '2026-05-06T07:08:09Z',
      source: { component: 'proreus' },
      reportingComponent: 'proreus',
      reportingInstance: 'pod-1',
    },
  })
})

t.test('a repeated event is counted, and after ten minutes it is a new one', async (t) => {
  const { recorder, writes, clock } = setUp()
  const record = (): void => recorder.event(object('a', 'ns'), 'Warning', 'Failed', 'no')
  record()
  await clock.advance(60_000)
  record()
  await recorder.flush()
  t.match(writes[1], { verb: 'patch', key: { namespace: 'ns' }, patch: { count: 2, lastTimestamp: '2026-05-06T07:09:09Z' } })
  await clock.advance(600_000)
  record()
  await clock.advance(600_001)
  record()
  await recorder.flush()
  t.strictSame(
    writes.map((write) => (write.verb === 'patch' ? { ...write.patch, ...write.key } : write.verb)),
    [
      'create',
      { count: 2, lastTimestamp: '2026-05-06T07:09:09Z', ...created(writes[0]) },
      { count: 3, lastTimestamp: '2026-05-06T07:19:09Z', ...created(writes[0]) },
      'create',
    ],
  )
  record()
  await recorder.flush()
  t.match(writes[4], { key: created(writes[3]), patch: { count: 2 } })
})

/** Returns the key of the event that this write creates. */
function created(write: Write | undefined): ObjectKey {
  if (write?.verb !== 'create') throw new Error('no event was made')
  const { namespace, name } = write.object.metadata
  return { namespace: namespace!, name: name! }
}

t.test('the same message for another object, type or UID is another event', async (t) => {
  const { recorder, writes } = setUp()
  const { metadata, ...plain } = object('a', 'ns')
  const recorded: [KubernetesObject, 'Normal' | 'Warning'][] = [
    [{ ...plain, metadata }, 'Normal'],
    [{ ...plain, metadata }, 'Warning'],
    [{ ...plain, metadata: { ...metadata, uid: 'other' } }, 'Normal'],
    [{ ...plain, metadata: { ...metadata, namespace: 'other' } }, 'Normal'],
    [{ ...plain, kind: 'Other', metadata }, 'Normal'],
    [{ ...plain, apiVersion: 'example.com/v2', metadata }, 'Normal'],
  ]
  for (const [about, type] of [...recorded, ...recorded]) recorder.event(about, type, 'A', 'x')
  await recorder.flush()
  t.strictSame(
    writes.map(({ verb }) => verb),
    [...recorded.map(() => 'create'), ...recorded.map(() => 'patch')],
  )
})

t.test('at most 4,096 events are remembered, and the oldest is forgotten first', async (t) => {
  const { recorder, writes } = setUp()
  const verbOf = async (name: string): Promise<string> => {
    recorder.event(object(name, 'ns'), 'Normal', 'A', 'x')
    await recorder.flush()
    return writes.at(-1)!.verb
  }
  for (let i = 0; i < 4096; i++) await verbOf(`o-${i}`)
  t.equal(await verbOf('o-0'), 'patch')
  await verbOf('one-more')
  t.equal(await verbOf('o-1'), 'patch')
  t.equal(await verbOf('o-0'), 'create', 'it was forgotten')
})

t.test('different objects, reasons and messages are different events with different names', async (t) => {
  const { recorder, writes } = setUp()
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  recorder.event(object('a', 'ns'), 'Normal', 'B', 'x')
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'y')
  recorder.event(object('b', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  const names = writes.map((write) => (write.verb === 'create' ? write.object.metadata.name : ''))
  const nanoseconds = BigInt(Date.parse('2026-05-06T07:08:09Z')) * 1_000_000n
  t.strictSame(
    names,
    ['a', 'a', 'a', 'b'].map((name, index) => `${name}.${(nanoseconds + BigInt(index)).toString(16)}`),
  )
})

t.test('events for cluster-scoped objects are in the namespace default', async (t) => {
  const { recorder, writes } = setUp()
  recorder.event(object('node-1'), 'Normal', 'A', 'x')
  await recorder.flush()
  const [write] = writes
  t.match(write, { object: { metadata: { namespace: 'default' } } })
  t.notOk(write?.verb === 'create' && 'namespace' in write.object.involvedObject)
  recorder.event(object('node-1'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.match(writes[1], { verb: 'patch', key: { namespace: 'default' }, patch: { count: 2 } })
})

t.test('the events of one object are rate limited', async (t) => {
  const { recorder, writes, clock } = setUp()
  for (let i = 0; i < 40; i++) recorder.event(object('a', 'ns'), 'Normal', 'A', `message ${i}`)
  recorder.event(object('b', 'ns'), 'Normal', 'A', 'another object has its own allowance')
  await recorder.flush()
  t.equal(writes.length, 26)
  await clock.advance(300_000)
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'later')
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'one too many')
  await recorder.flush()
  t.equal(writes.length, 27)
})

t.test('an object that exceeds its limit has one event in five minutes', async (t) => {
  const { recorder, writes, clock } = setUp()
  for (let i = 0; i < 25; i++) recorder.event(object('a', 'ns'), 'Normal', 'A', `message ${i}`)
  for (let minute = 1; minute <= 30; minute++) {
    await clock.advance(60_000)
    recorder.event(object('a', 'ns'), 'Normal', 'A', `minute ${minute}`)
  }
  await recorder.flush()
  const written = writes.map((write) => (write.verb === 'create' ? write.object.message : '')).slice(25)
  t.strictSame(written, ['minute 5', 'minute 10', 'minute 15', 'minute 20', 'minute 25', 'minute 30'])
})

t.test('the limits of 4,096 objects are remembered, and the one that is unused longest is forgotten first', async (t) => {
  const { recorder, writes } = setUp()
  /**
   * Returns the number of writes for one more event. Each event is flushed immediately, because the recorder drops events while more than a
   * thousand are pending.
   */
  const countOf = async (name: string): Promise<number> => {
    const before = writes.length
    recorder.event(object(name, 'ns'), 'Normal', 'A', `message ${before}`)
    await recorder.flush()
    return writes.length - before
  }
  for (let i = 0; i < 25; i++) await countOf('first')
  for (let i = 0; i < 25; i++) await countOf('second')
  for (let i = 0; i < 4094; i++) await countOf(`other-${i}`)
  t.equal(await countOf('first'), 0, 'its limit is reached, and it is the most recent now')
  await countOf('one-more')
  t.equal(await countOf('first'), 0, 'it is not forgotten')
  t.equal(await countOf('second'), 1, 'it was forgotten')
})

t.test('at most a thousand events wait for a slow server, and further ones are dropped', async (t) => {
  const { recorder, writes, lines, entries } = setUp()
  for (let i = 0; i < 1001; i++) recorder.event(object(`o-${i}`, 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 1000)
  t.strictSame(lines, ['debug: an event was dropped: too many'])
  t.match(entries[0], { reason: 'A', message: 'x' })
  recorder.event(object('later', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 1001, 'written events do not count')
})

t.test('a failed write is logged, and the next event of its kind is new', async (t) => {
  let refuse = true
  const { recorder, writes, lines } = setUp(() => refuse)
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  refuse = false
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  refuse = true
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  refuse = false
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.strictSame(
    writes.map(({ verb }) => verb),
    ['create', 'create', 'patch', 'create'],
  )
  const warning = 'warn: an event could not be written: refused'
  t.strictSame(lines, [warning, warning])
})

t.test('writes are sequential', async (t) => {
  const order: string[] = []
  const answers: (() => void)[] = []
  const wait = (what: string) => async () => {
    order.push(what)
    await new Promise<void>((resolve) => answers.push(resolve))
  }
  const client = { create: wait('create'), patch: wait('patch') } as unknown as EventWriter
  const { logger } = recordingLogger()
  const recorder = createEventRecorder(client, { component: 'c', instance: 'i', logger, clock: new FakeClock() })
  for (let i = 0; i < 2; i++) recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  let flushed = false
  const flushing = recorder.flush().then(() => (flushed = true))
  for (const expected of [['create'], ['create', 'patch']]) {
    await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(order, expected)
    t.equal(flushed, false)
    answers.shift()!()
  }
  await flushing
})

t.test('a clock that is set back neither adds to nor reduces the limit', async (t) => {
  const { recorder, writes, clock } = setUp()
  const countAfter = async (message: string): Promise<number> => {
    recorder.event(object('a', 'ns'), 'Normal', 'A', message)
    await recorder.flush()
    return writes.length
  }
  await countAfter('first')
  clock.set(clock.now() - 3_600_000)
  for (let i = 0; i < 24; i++) await countAfter(`message ${i}`)
  t.equal(writes.length, 25)
  t.equal(await countAfter('one too many'), 25)
})

t.test('an unused limit does not exceed 25', async (t) => {
  const { recorder, writes, clock } = setUp()
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(30 * 300_000)
  for (let i = 0; i < 30; i++) recorder.event(object('a', 'ns'), 'Normal', 'A', `message ${i}`)
  await recorder.flush()
  t.equal(writes.length, 26)
})

t.test('long names and messages are cut to the limits of the API server', async (t) => {
  const { recorder, writes } = setUp()
  recorder.event(object('n'.repeat(253), 'ns'), 'Normal', 'A', 'm'.repeat(5000))
  await recorder.flush()
  const [write] = writes
  if (write?.verb !== 'create') throw new Error('nothing written')
  t.equal(write.object.metadata.name?.length, 253)
  t.match(write.object.metadata.name, /^n+\.[0-9a-f]{16}$/)
  t.equal(write.object.message, `${'m'.repeat(1023)}…`)
  for (const message of ['m'.repeat(1024), 'm'.repeat(1025)]) recorder.event(object('b', 'ns'), 'Normal', 'A', message)
  await recorder.flush()
  t.match(writes.slice(1), [{ object: { message: /^m{1024}$/ } }, { object: { message: /^m{1023}…$/ } }]) // prettier-ignore
})

t.test('an object without metadata does not throw', async (t) => {
  const { recorder, writes, lines } = setUp()
  recorder.event({} as KubernetesObject, 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 0)
  t.strictSame(lines, ['warn: an event could not be recorded'])
})

t.test('an event that is new again after ten minutes is no longer the oldest', async (t) => {
  const { clock, recorder, writes } = setUp()
  const verbOf = async (name: string): Promise<string> => {
    recorder.event(object(name, 'ns'), 'Normal', 'A', 'x')
    await recorder.flush()
    return writes.at(-1)!.verb
  }
  for (let i = 0; i < 4096; i++) await verbOf(`o-${i}`)
  clock.set(clock.now() + 600_001)
  t.equal(await verbOf('o-0'), 'create')
  await verbOf('one-more')
  t.equal(await verbOf('o-0'), 'patch', 'another one was forgotten')
})
