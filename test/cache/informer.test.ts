import t from 'tap'
import type { Test } from 'tap'
import { node } from '../../src/api/builtin.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { Informer } from '../../src/cache/informer.ts'
import type { EventHandler } from '../../src/cache/informer.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const expired = new ApiError(failure(410, 'Expired', 'too old'))

function setUp(t: Test, options: { namespaces?: string[]; answers?: ScriptedClient['answers']; clock?: Clock } = {}) {
  const script = new ScriptedClient()
  if (options.answers !== undefined) script.answers = options.answers
  const log = recordingLogger()
  const informer = new Informer({
    client: script.client,
    type: widget,
    namespaces: options.namespaces ?? [],
    logger: log.logger,
    clock: options.clock ?? new FakeClock(),
    random: () => 0,
  })
  const abort = new AbortController()
  t.teardown(async () => {
    abort.abort()
    await informer.start(abort.signal)
  })
  return { script, log, informer, abort, start: () => informer.start(abort.signal) }
}

function recorder(): { seen: string[]; handler: EventHandler } {
  const seen: string[] = []
  return {
    seen,
    handler: {
      added: ({ metadata }, initial) => void seen.push(`added ${metadata.name}${initial ? ' initially' : ''}`),
      updated: ({ metadata }, old) =>
        void seen.push(`updated ${metadata.name} ${old.metadata.resourceVersion}>${metadata.resourceVersion}`),
      deleted: ({ metadata }) => void seen.push(`deleted ${metadata.name} ${metadata.resourceVersion}`),
    },
  }
}

t.test('handlers see each change once, after the store is updated', async (t) => {
  const { script, informer, start } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '1' }] })
  const { seen, handler } = recorder()
  informer.addHandler(handler)
  informer.addHandler({
    added: ({ metadata }) => t.ok(informer.store.get(metadata)),
    deleted: ({ metadata }) => t.notOk(informer.store.get(metadata)),
  })
  t.notOk(informer.synced)
  void start()
  await informer.whenSynced()
  t.strictSame(seen, ['added a initially'])
  await eventually(() => script.watches.length === 1)
  const watch = script.lastWatch
  watch.send('ADDED', object('b', 2))
  watch.send('MODIFIED', object('a', 3))
  watch.send('MODIFIED', object('a', 3))
  watch.send('DELETED', object('b', 4))
  watch.send('DELETED', object('c', 5))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen.slice(1), ['added b', 'updated a 1>3', 'deleted b 4'])
  t.equal(informer.store.size, 1)
})

t.test('after a relist, handlers see only what has changed', async (t) => {
  const { script, informer, start } = setUp(t, {
    answers: [
      { items: [object('same', 1), object('gone', 2), object('changed', 3), object('again', 4)], resourceVersion: '4' },
      { items: [object('same', 1), object('changed', 8), object('new', 7), object('again', 9, { uid: 'other' })], resourceVersion: '9' },
    ],
  })
  void start()
  await informer.whenSynced()
  const { seen, handler } = recorder()
  informer.addHandler(handler)
  t.equal(seen.length, 4)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(expired)
  await eventually(() => script.watches.length === 2)
  t.strictSame(seen.slice(4).sort(), ['added again', 'added new', 'deleted again 4', 'deleted gone 2', 'updated changed 3>8'])
  t.ok(seen.indexOf('deleted again 4') < seen.indexOf('added again'))
})

/**
 * Lets an informer store a list of six objects. For each object, the handler runs longer than a time slice. Returns the number of
 * iterations of the event loop in which the informer stores objects.
 */
async function turnsOfLongList(t: Test, clock: Clock): Promise<number> {
  const items = Array.from({ length: 6 }, (_, index) => object(`o-${index}`, index + 1))
  const { informer, start } = setUp(t, { answers: [{ items, resourceVersion: '6' }], clock })
  const turns: number[] = []
  let turn = 0
  let counting = true
  const count = (): void => {
    turn += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  informer.addHandler({
    added: () => {
      turns.push(turn)
      const began = performance.now()
      while (performance.now() - began < 3); // longer than a time slice
    },
  })
  void start()
  await informer.whenSynced()
  counting = false
  t.equal(informer.store.size, 6)
  return new Set(turns).size
}

t.test('timers and sockets are served while a long list is processed', async (t) => {
  t.ok((await turnsOfLongList(t, systemClock)) >= 5)
  t.equal(await turnsOfLongList(t, new FakeClock()), 1, 'a clock that stands still shows no time slice as used up')
})

t.test('a handler that is added later sees the existing objects, until it is removed', async (t) => {
  const { script, informer, start } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '1' }] })
  void start()
  await informer.whenSynced()
  const { seen, handler } = recorder()
  const remove = informer.addHandler(handler)
  t.strictSame(seen, ['added a initially'])
  remove()
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('b', 2))
  await eventually(() => script.lastWatch.drained)
  t.equal(seen.length, 1)
})

t.test('a handler that throws does not affect others', async (t) => {
  const { script, informer, log, start } = setUp(t)
  const { seen, handler } = recorder()
  informer.addHandler({
    added() {
      throw new Error('broken handler')
    },
  })
  informer.addHandler(handler)
  void start()
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('a', 2))
  script.lastWatch.send('DELETED', object('a', 3))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen, ['added a', 'deleted a 3'])
  t.strictSame(log.lines, ['error: an event handler failed'])
  t.match(
    log.entries.find(({ level }) => level === 'error'),
    { object: 'default/a', resource: 'widgets.example.com', err: { message: 'broken handler' } },
  )
})

t.test('a handler may add another one while it is called', async (t) => {
  const { script, informer, start } = setUp(t)
  const { seen, handler } = recorder()
  informer.addHandler({ added: (_, initial) => void (initial || informer.addHandler(handler)) })
  void start()
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('a', 2))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen, ['added a initially'])
})

t.test('several namespaces feed one store', async (t) => {
  const { script, informer, start } = setUp(t, {
    namespaces: ['one', 'two', 'one'],
    answers: [
      { items: [object('a', 1, { namespace: 'one' })], resourceVersion: '1' },
      { items: [object('a', 2, { namespace: 'two' })], resourceVersion: '2' },
      { items: [object('b', 3, { namespace: 'one' })], resourceVersion: '3' },
    ],
  })
  const { seen, handler } = recorder()
  informer.addHandler(handler)
  void start()
  await informer.whenSynced()
  await eventually(() => script.watches.length === 2)
  t.strictSame(script.lists.map(({ namespace }) => namespace).sort(), ['one', 'two'])
  script.watches.find(({ options }) => options.namespace === 'one')?.fail(expired)
  await eventually(() => script.watches.length === 3)
  t.strictSame(seen, ['added a initially', 'added a initially', 'deleted a 1', 'added b'])
  t.strictSame(
    informer.store
      .list()
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
      .sort(),
    ['one/b', 'two/a'],
  )
})

t.test('a single namespace is watched alone, and all namespaces by default', async (t) => {
  for (const [namespaces, watched] of [
    [['one'], 'one'],
    [[], undefined],
  ] as const) {
    const { script, informer, start } = setUp(t, { namespaces: [...namespaces] })
    void start()
    await informer.whenSynced()
    t.strictSame(
      script.lists.map(({ namespace }) => namespace),
      [watched],
    )
  }
})

t.test('cluster-scoped types are watched as a whole', async (t) => {
  const script = new ScriptedClient()
  const informer = new Informer({
    client: script.client,
    type: node,
    namespaces: ['one', 'two'],
    logger: recordingLogger().logger,
    clock: new FakeClock(),
  })
  const abort = new AbortController()
  const running = informer.start(abort.signal)
  await informer.whenSynced()
  t.strictSame(script.lists, [{ namespace: undefined, limit: 500 }])
  abort.abort()
  await running
})

t.test('waiting for the sync can be aborted', async (t) => {
  const { informer } = setUp(t)
  const abort = new AbortController()
  const waiting = t.rejects(informer.whenSynced(abort.signal), new Error('enough'))
  abort.abort(new Error('enough'))
  await waiting
  await t.rejects(informer.whenSynced(abort.signal), new Error('enough'))
})

t.test('an informer has synced once all its namespaces have, and reports the first failure', async (t) => {
  const forbidden = new ApiError(failure(403, 'Forbidden', 'no'))
  const { informer, start } = setUp(t, {
    namespaces: ['one', 'two'],
    answers: [{ items: [object('a', 1, { namespace: 'one' })], resourceVersion: '1' }, forbidden],
  })
  t.equal(informer.lastError, undefined)
  const running = start()
  t.equal(start(), running)
  await eventually(() => informer.lastError !== undefined)
  t.match(informer.lastError, /^Not allowed to list widgets\.example\.com in the namespace two: /)
  t.equal(informer.store.size, 1)
  t.notOk(informer.synced)
  let passed = false
  const abort = new AbortController()
  const waiting = informer.whenSynced(abort.signal).then(
    () => (passed = true),
    () => undefined,
  )
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(passed)
  abort.abort()
  await waiting
})

t.test('after the sync nothing waits, and relisted objects are not initial', async (t) => {
  const { script, informer, start } = setUp(t, {
    answers: [
      { items: [object('a', 1)], resourceVersion: '1' },
      { items: [object('a', 1), object('b', 2)], resourceVersion: '2' },
    ],
  })
  void start()
  await informer.whenSynced()
  await informer.whenSynced(AbortSignal.abort())
  const { seen, handler } = recorder()
  informer.addHandler(handler)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(expired)
  await eventually(() => script.watches.length === 2)
  t.strictSame(seen, ['added a initially', 'added b'])
})

t.test('an object that is deleted and recreated is seen as deleted and added', async (t) => {
  const { script, informer, start } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '1' }] })
  void start()
  await informer.whenSynced()
  const { seen, handler } = recorder()
  informer.addHandler(handler)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('MODIFIED', object('a', 5, { uid: 'other' }))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen, ['added a initially', 'deleted a 1', 'added a'])
  t.equal(informer.store.get({ namespace: 'default', name: 'a' })?.metadata.uid, 'other')
})

t.test('a handler may handle some changes only, and can be removed twice', async (t) => {
  const { script, informer, log, start } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '1' }] })
  void start()
  await informer.whenSynced()
  const seen: string[] = []
  const handler = { updated: ({ metadata }: { metadata: { name: string } }) => void seen.push(metadata.name) } as EventHandler
  const leave = informer.addHandler({})
  informer.addHandler(handler)
  leave()
  leave()
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('b', 2))
  script.lastWatch.send('MODIFIED', object('a', 3))
  script.lastWatch.send('DELETED', object('b', 4))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen, ['a'])
  t.strictSame(log.lines, [])
})

t.test('an index is maintained, and its failure is logged with the object', async (t) => {
  const { informer, log, start } = setUp(t, { answers: [{ items: [object('a', 1), object('b', 2)], resourceVersion: '2' }] })
  const index = {
    name: 'odd',
    keysOf: ({ metadata }: { metadata: { name: string } }) => {
      if (metadata.name === 'b') throw new Error('no')
      return metadata.name
    },
  }
  informer.addIndex(index)
  void start()
  await informer.whenSynced()
  t.equal(informer.store.list({ index: [index, 'a'] }).length, 1)
  const lines = log.entries.filter(({ level }) => level === 'error')
  t.match(lines, [{ msg: 'the index "odd" failed: the object is not in it', resource: 'widgets.example.com', object: 'default/b' }])
  t.match(lines[0]?.err, { message: 'no' })
  t.equal(lines.length, 1)
})
