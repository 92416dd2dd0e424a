import { Session } from 'node:inspector'
import t from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import type { Write } from '../support/telemetry/event-recorder.ts'
import { counter, createEventRecorder } from '../../src/telemetry/event-recorder.ts'
import { until } from '../../src/testing/until.ts'
import { created, object, setUp } from '../support/telemetry/event-recorder.ts'

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

t.test('a repeated event is counted', async (t) => {
  const { recorder, writes, clock } = setUp()
  const record = (): void => recorder.event(object('a', 'ns'), 'Warning', 'Failed', 'no')
  record()
  await recorder.flush()
  await clock.advance(60_000)
  record()
  await recorder.flush()
  await clock.advance(86_400_000)
  record()
  await recorder.flush()
  t.strictSame(
    writes.map((write) => (write.verb === 'patch' ? { ...write.patch, ...write.key } : write.verb)),
    [
      'create',
      { message: 'no', count: 2, lastTimestamp: '2026-05-06T07:09:09Z', ...created(writes[0]) },
      { message: 'no', count: 3, lastTimestamp: '2026-05-07T07:09:09Z', ...created(writes[0]) },
    ],
  )
})

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

t.test('at most 4,096 events are remembered, and the one that is unused longest is forgotten first', async (t) => {
  const { recorder, writes } = setUp()
  const verbOf = async (name: string): Promise<string> => {
    recorder.event(object(name, 'ns'), 'Normal', 'A', 'x')
    await recorder.flush()
    return writes.at(-1)!.verb
  }
  for (let i = 0; i < 4096; i++) await verbOf(`o-${i}`)
  t.equal(await verbOf('o-0'), 'patch')
  await verbOf('one-more')
  t.equal(await verbOf('o-0'), 'patch')
  t.equal(await verbOf('o-1'), 'create', 'it was forgotten')
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
  for (let i = 0; i < 40; i++) recorder.event(object('a', 'ns'), 'Normal', `Reason${i}`, 'x')
  recorder.event(object('b', 'ns'), 'Normal', 'A', 'another object has its own allowance')
  await recorder.flush()
  t.equal(writes.length, 26)
  await clock.advance(300_000)
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'later')
  recorder.event(object('a', 'ns'), 'Normal', 'B', 'one too many')
  await recorder.flush()
  t.equal(writes.length, 27)
})

t.test('an object that exceeds its limit has one event in five minutes', async (t) => {
  const { recorder, writes, clock } = setUp()
  for (let i = 0; i < 25; i++) recorder.event(object('a', 'ns'), 'Normal', `Reason${i}`, 'x')
  for (let minute = 1; minute <= 30; minute++) {
    await clock.advance(60_000)
    recorder.event(object('a', 'ns'), 'Normal', `Minute${minute}`, 'x')
  }
  await recorder.flush()
  const written = writes.map((write) => (write.verb === 'create' ? write.object.reason : '')).slice(25)
  t.strictSame(written, ['Minute5', 'Minute10', 'Minute15', 'Minute20', 'Minute25', 'Minute30'])
})

t.test('events that differ only in their messages are combined from the tenth on', async (t) => {
  const { recorder, writes, clock } = setUp()
  const record = async (message: string): Promise<Write> => {
    const before = writes.length
    recorder.event(object('a', 'ns'), 'Warning', 'Failed', message)
    await recorder.flush()
    t.equal(writes.length, before + 1)
    return writes.at(-1)!
  }
  for (let i = 1; i <= 9; i++) t.match(await record(`try ${i}`), { verb: 'create', object: { message: `try ${i}`, count: 1 } })
  const tenth = await record('try 10')
  t.match(tenth, { verb: 'create', object: { message: '(combined from similar events): try 10', count: 1 } })
  t.match(await record('try 11'), {
    verb: 'patch',
    key: created(tenth),
    patch: { message: '(combined from similar events): try 11', count: 2 },
  })
  recorder.event(object('a', 'ns'), 'Warning', 'Other', 'try 12')
  await recorder.flush()
  t.match(writes.at(-1), { verb: 'create', object: { reason: 'Other', message: 'try 12' } })
  await clock.advance(600_000)
  t.match(await record('try 13'), { verb: 'patch', key: created(tenth) })
  await clock.advance(600_000)
  t.match(await record('try 14'), { verb: 'patch', key: created(tenth) }, 'the time counts from the latest one')
  await clock.advance(600_001)
  t.match(await record('try 15'), { verb: 'create', object: { message: 'try 15' } }, 'none has occurred for ten minutes')
})

t.test('the limits of 4,096 objects are remembered, and the one that is unused longest is forgotten first', async (t) => {
  const { recorder, writes } = setUp()
  /** Records one more event, and returns the number of writes that the event causes. */
  const countOf = async (name: string): Promise<number> => {
    const before = writes.length
    recorder.event(object(name, 'ns'), 'Normal', `Reason${before}`, 'x')
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

t.test('a clock that is set back neither adds to nor reduces the limit', async (t) => {
  const { recorder, writes, clock } = setUp()
  const countAfter = async (reason: string): Promise<number> => {
    recorder.event(object('a', 'ns'), 'Normal', reason, 'x')
    await recorder.flush()
    return writes.length
  }
  await countAfter('First')
  clock.set(clock.now() - 3_600_000)
  for (let i = 0; i < 24; i++) await countAfter(`Reason${i}`)
  t.equal(writes.length, 25)
  t.equal(await countAfter('OneTooMany'), 25)
})

t.test('an unused limit does not exceed 25', async (t) => {
  const { recorder, writes, clock } = setUp()
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(30 * 300_000)
  for (let i = 0; i < 30; i++) recorder.event(object('a', 'ns'), 'Normal', `Reason${i}`, 'x')
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

t.test('an object whose name is not valid in the name of an event', async (t) => {
  const { recorder, writes } = setUp()
  recorder.event(object('system:node'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.match(writes, [{ verb: 'create', object: { metadata: { name: /^[0-9a-f-]{36}$/ }, involvedObject: { name: 'system:node' } } }])
})

t.test('an object without metadata does not throw', async (t) => {
  const { recorder, writes, lines } = setUp()
  recorder.event({} as KubernetesObject, 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 0)
  t.strictSame(lines, ['warn: an event could not be recorded'])
})

t.test('an Event may be about a part of an object, and is counted apart from those about other parts', async (t) => {
  const { recorder, writes } = setUp()
  for (const name of ['a', 'b', 'a'])
    recorder.event(object('pod', 'ns'), 'Normal', 'Started', 'x', { fieldPath: `spec.containers{${name}}` })
  recorder.event(object('pod', 'ns'), 'Normal', 'Started', 'x')
  await recorder.flush()
  const paths = writes.flatMap((write) => (write.verb === 'create' ? [write.object.involvedObject.fieldPath] : []))
  t.strictSame(paths, ['spec.containers{a}', 'spec.containers{b}', undefined])
})

t.test('Events of recorders with common numbers have different names', async (t) => {
  const { writes, client, options } = setUp()
  const nextNumber = counter()
  const recorders = ['a', 'b'].map((host) => createEventRecorder(client, { ...options, host, nextNumber }))
  for (const recorder of recorders) recorder.event(object('pod', 'ns'), 'Normal', 'Started', 'x')
  for (const recorder of recorders) await recorder.flush()
  const created = writes.flatMap((write) => (write.verb === 'create' ? [write.object] : []))
  t.strictSame(
    created.map(({ source }) => source),
    [
      { component: 'proreus', host: 'a' },
      { component: 'proreus', host: 'b' },
    ],
  )
  t.equal(new Set(created.map(({ metadata }) => metadata.name)).size, 2)
})

t.test('an Event may have annotations, a related object and an action, and is counted apart from others', async (t) => {
  const { recorder, writes, entries } = setUp()
  const related = object('database', 'other')
  const options = { annotations: { 'example.com/id': '5' }, related, action: 'CreateDatabase' }
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'x', options)
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'x', { ...options, action: 'CreateUser' })
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'x', { ...options, related: object('second') })
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'x')
  await recorder.flush()
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'x', options)
  await recorder.flush()
  t.strictSame(
    writes.map(({ verb }) => verb),
    ['create', 'create', 'create', 'create', 'patch'],
  )
  t.match(writes[0], {
    object: {
      metadata: { annotations: { 'example.com/id': '5' } },
      action: 'CreateDatabase',
      reason: 'Created',
      related: {
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        namespace: 'other',
        name: 'database',
        uid: 'uid-database',
        resourceVersion: '7',
      },
    },
  })
  const plain = writes[3]
  t.notOk(plain?.verb === 'create' && ('related' in plain.object || 'action' in plain.object || 'annotations' in plain.object.metadata))
  recorder.event(object('a', 'ns'), 'Normal', 'Created', 'y', { acton: 'x' } as object)
  t.match(entries.at(-1), {
    level: 'warn',
    msg: 'an event could not be recorded',
    err: { message: /acton: unknown field; did you mean action\?/ },
  })
})
t.test('texts are shortened before they are kept in memory', async (t) => {
  const { recorder, writes } = setUp()
  const long = 'x'.repeat(100_000)
  const about = { ...object(`name-${long}`, `namespace-${long}`), apiVersion: `example.com/${long}`, kind: `Thing${long}` }
  Object.assign(about.metadata, { uid: `uid-${long}`, resourceVersion: `7${long}` })
  recorder.event(about, 'Normal', `Reason${long}`, 'a')
  for (let i = 0; i < 10; i++) recorder.event(object('a', 'ns'), 'Warning', 'Failed', `try ${i} ${long}`)
  await recorder.flush()
  const [first] = writes
  if (first?.verb !== 'create') throw new Error('nothing written')
  t.match(first.object.reason, /^Reasonx{121}…$/)
  for (const [field, text] of Object.entries(first.object.involvedObject)) t.equal(text.length, 317, field)
  const combined = writes.at(-1)
  t.match(combined, { object: { message: /^\(combined from similar events\): try 9 x+…$/ } })
  t.equal(combined?.verb === 'create' && combined.object.message?.length, 1024)
})

t.test('many long messages need little memory, even if they are parts of longer texts', async (t) => {
  const { recorder } = setUp()
  const before = heapAfterCollection()
  for (let i = 0; i < 1000; i++) {
    const message = `${i} ${'x'.repeat(50_000)}`
    // `Buffer.toString` returns a flat string. A part of a flat string keeps the whole string in memory.
    const flat = Buffer.from(message).toString('latin1')
    recorder.event(object(`o-${i}`, 'ns'), 'Normal', 'A', i % 2 === 0 ? flat : flat.slice(0, 500))
  }
  await recorder.flush()
  // A single garbage collection does not always free everything, so the test repeats the garbage collection.
  const retained = (): number => (heapAfterCollection() - before) / 2 ** 20
  await t.resolves(until('less than 16 MiB are retained', () => retained() < 16, 5000))
})

function heapAfterCollection(): number {
  const session = new Session()
  session.connect()
  session.post('HeapProfiler.collectGarbage')
  session.disconnect()
  return process.memoryUsage().heapUsed
}
