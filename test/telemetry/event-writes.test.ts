import t from 'tap'
import type { Event } from '../../src/api/builtin.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { createEventRecorder } from '../../src/telemetry/event-recorder.ts'
import type { EventWriter } from '../../src/telemetry/event-writes.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { apiError, created, object, setUp } from '../support/telemetry/event-recorder.ts'

t.test('at most 10,000 events wait for a slow server, and the number of dropped ones is logged', async (t) => {
  const { recorder, writes, lines, entries } = setUp()
  const running = 10
  for (let i = 0; i < 10_000 + running + 2; i++) recorder.event(object(`o-${i}`, 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 10_000 + running)
  t.strictSame(lines, ['warn: events were dropped, because too many were waiting'])
  t.match(entries[0], { events: 2 })
  recorder.event(object('later', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 10_000 + running + 1, 'written events do not count')
  t.equal(lines.length, 1)
})

t.test('a refused event is logged, and is created when it occurs again', async (t) => {
  let refuse = true
  const { recorder, writes, lines, clock } = setUp(() => (refuse ? apiError(403) : undefined))
  const record = async (): Promise<void> => {
    recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
    await recorder.flush()
  }
  await record()
  refuse = false
  await record()
  refuse = true
  await record()
  refuse = false
  await record()
  t.strictSame(
    writes.map((write) => (write.verb === 'create' ? write.object.count : write.patch)),
    [1, 2, ...[3, 4].map((count) => ({ message: 'x', count, lastTimestamp: '2026-05-06T07:08:09Z' }))],
  )
  const warning =
    'warn: an event could not be written: no (403); events need the verbs create and patch on events: apply the RBAC that "proreus generate" writes'
  t.strictSame(lines, [warning, warning])
  t.equal(clock.pending, 0)
})

t.test('a failure that persists is logged once for each namespace', async (t) => {
  let code = 403
  const { recorder, entries } = setUp(() => (code === 200 ? undefined : apiError(code)))
  const record = async (namespace: string): Promise<void> => {
    recorder.event(object('a', namespace), 'Normal', 'A', 'x')
    await recorder.flush()
  }
  const levels = async (...namespaces: readonly string[]): Promise<unknown[]> => {
    entries.length = 0
    for (const namespace of namespaces) await record(namespace)
    return entries.map(({ level }) => level)
  }
  t.strictSame(await levels('a', 'a', 'b', 'a', 'b'), ['warn', 'debug', 'warn', 'debug', 'debug'])
  code = 422
  t.strictSame(await levels('a', 'a'), ['warn', 'debug'])
  code = 200
  t.strictSame(await levels('a'), [])
  code = 422
  t.strictSame(await levels('a'), ['warn'])
})

t.test('an event that the API server has deleted is created under a new name', async (t) => {
  const { recorder, writes, lines } = setUp((write) => (write.verb === 'patch' ? apiError(404) : undefined))
  for (let i = 0; i < 2; i++) {
    recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
    await recorder.flush()
  }
  const [first, patch, second] = writes
  t.strictSame(
    writes.map(({ verb }) => verb),
    ['create', 'patch', 'create'],
  )
  t.strictSame(patch?.verb === 'patch' && patch.key, created(first))
  t.not(created(second).name, created(first).name)
  t.match(second, { object: { count: 2 } })
  t.strictSame(lines, [])
})

t.test('a write is tried again while the API server cannot be reached', async (t) => {
  for (const error of [new ProreusError('PRO_API_UNREACHABLE', 'down'), apiError(500), apiError(503), apiError(429)]) {
    let failures = 11
    const { recorder, writes, lines, clock } = setUp(() => (failures-- > 0 ? error : undefined))
    recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
    await clock.advance(4_999)
    t.equal(writes.length, 1)
    await clock.advance(1)
    t.equal(writes.length, 2, 'after a random part of ten seconds')
    recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
    await clock.advance(99_999)
    t.equal(writes.length, 11)
    await clock.advance(1)
    t.equal(writes.length, 12)
    t.match(writes.at(-1), { verb: 'create', object: { count: 2, lastTimestamp: '2026-05-06T07:08:14Z' } }, 'with the latest count')
    t.strictSame(lines, [])
    await recorder.flush()
  }
})

t.test('an event that occurs again while its write fails is written at the next try, and once', async (t) => {
  const event = (): void => recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  const { recorder, writes, clock } = setUp(({ verb }) => {
    if (writes.length > 1) return undefined
    t.equal(verb, 'create')
    event()
    return apiError(503)
  })
  event()
  await clock.advance(4_999)
  t.equal(writes.length, 1)
  await clock.advance(60_000)
  t.match(writes.slice(1), [{ verb: 'create', object: { count: 2 } }])
  t.equal(writes.length, 2)
  t.equal(clock.pending, 0)
})

t.test('an event whose creation succeeded although its response was lost is patched', async (t) => {
  let tries = 0
  const { recorder, writes, lines, clock } = setUp((write) =>
    write.verb === 'patch' ? undefined : ++tries === 1 ? new ProreusError('PRO_API_UNREACHABLE', 'reset') : apiError(409),
  )
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(5_000)
  t.strictSame(
    writes.map(({ verb }) => verb),
    ['create', 'create', 'patch'],
  )
  t.strictSame(lines, [])
  await recorder.flush()
})

t.test('a flush patches an event whose creation succeeded although its response was lost', async (t) => {
  let tries = 0
  const { recorder, writes, lines, clock } = setUp((write) =>
    write.verb === 'patch' ? undefined : ++tries === 1 ? new ProreusError('PRO_API_UNREACHABLE', 'reset') : apiError(409),
  )
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(0)
  t.equal(clock.pending, 1, 'the next try is pending')
  await recorder.flush()
  t.strictSame(
    writes.map(({ verb }) => verb),
    ['create', 'create', 'patch'],
  )
  t.strictSame(lines, [])
})

t.test('a write that fails during a flush is not tried again', async (t) => {
  const { recorder, writes, clock } = setUp(() => apiError(503))
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await recorder.flush()
  t.equal(writes.length, 1)
  t.equal(clock.pending, 0)
})

t.test('a write is given up after twelve tries', async (t) => {
  const { recorder, writes, lines, clock } = setUp(() => apiError(503))
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(3_600_000)
  t.equal(writes.length, 12)
  t.strictSame(lines, ['warn: an event could not be written: no (503)'])
  t.equal(clock.pending, 0)
})

t.test('a flush does not wait for the next try', async (t) => {
  let down = true
  const { recorder, writes, lines, clock } = setUp(() => (down ? apiError(503) : undefined))
  recorder.event(object('a', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(0)
  await recorder.flush()
  t.equal(writes.length, 2)
  t.strictSame(lines, ['warn: an event could not be written: no (503)'])
  t.equal(clock.pending, 0)
  recorder.event(object('b', 'ns'), 'Normal', 'A', 'x')
  await clock.advance(0)
  down = false
  await recorder.flush()
  t.match(writes.at(-1), { object: { involvedObject: { name: 'b' } } })
  t.equal(lines.length, 1)
})

t.test('ten events are written at a time, and changes of one event one after the other', async (t) => {
  const order: string[] = []
  const answers: (() => void)[] = []
  const wait = (verb: string, name: string) => async () => {
    order.push(`${verb} ${name}`)
    await new Promise<void>((resolve) => answers.push(resolve))
  }
  const client = {
    create: (_type: unknown, { involvedObject, count }: Event) => wait('create', `${involvedObject.name} ${count}`)(),
    patch: (_type: unknown, _key: unknown, { count }: Event) => wait('patch', String(count))(),
  } as unknown as EventWriter
  const { logger } = recordingLogger()
  const recorder = createEventRecorder(client, { component: 'c', instance: 'i', logger, clock: new FakeClock() })
  for (let i = 0; i < 12; i++) recorder.event(object(`o-${i}`, 'ns'), 'Normal', 'A', 'x')
  for (let i = 0; i < 3; i++) recorder.event(object('o-0', 'ns'), 'Normal', 'A', 'x')
  let flushed = false
  const flushing = recorder.flush().then(() => (flushed = true))
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  await turn()
  t.strictSame(order.splice(0), ['create o-0 1', ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `create o-${i} 1`)])
  answers.shift()!()
  await turn()
  t.strictSame(order.splice(0), ['create o-10 1'])
  answers.shift()!()
  answers.shift()!()
  await turn()
  t.strictSame(order.splice(0), ['create o-11 1', 'patch 4'], 'three repetitions are one write')
  t.equal(flushed, false)
  while (answers.length > 0) {
    answers.shift()!()
    await turn()
  }
  await flushing
})
