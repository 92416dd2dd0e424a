import t from 'tap'
import { deepFreeze } from '../../src/api/json.ts'
import { Store } from '../../src/cache/store.ts'
import { UnconfirmedWrites } from '../../src/cache/unconfirmed-writes.ts'
import { Informer } from '../../src/cache/informer.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const origin = { controller: 'web', key: 'default/a' }
const state = (...parameters: Parameters<typeof object>) => deepFreeze(object(...parameters))

t.test('a write is remembered until the watch sends it or a state of another client, or the object is gone', async (t) => {
  const writes = new UnconfirmedWrites()
  const [before, first, second] = [state('a', 1), state('a', 3), state('a', 5)]
  writes.add(first, before, origin)
  writes.add(second, first, origin)
  t.equal(writes.size, 1)
  t.equal(writes.watched(state('b', 4)), undefined)
  t.equal(writes.watched(first), undefined)
  t.equal(writes.size, 1)
  t.equal(writes.watched(second), undefined)
  t.equal(writes.size, 0)

  writes.add(second, before, origin)
  t.match(writes.watched(state('a', 2)), { before, latest: second })
  t.equal(writes.size, 0)

  writes.add(second, before, origin)
  writes.forget('uid-a')
  t.equal(writes.size, 0)
})

t.test('a late response is reported unless it belongs to the reconcile that has made the latest write', async (t) => {
  const other = { controller: 'other', key: 'default/a' }
  const [before, first, latest] = [state('a', 1), state('a', 3), state('a', 8)]
  for (const [late, expected] of [
    [origin, { before, latest }],
    [other, undefined],
  ] as const) {
    const writes = new UnconfirmedWrites()
    writes.add(first, before, origin)
    writes.add(latest, first, other)
    const overtaken = writes.addLate({ uid: 'uid-a', resourceVersion: '7' }, late)
    t.strictSame(overtaken && { before: overtaken.before, latest: overtaken.latest }, expected)
    t.equal(writes.size, expected === undefined ? 1 : 0)
  }
})

t.test('a list is compared with the writes of its namespace', async (t) => {
  const writes = new UnconfirmedWrites()
  const [inDefault, inOther] = [state('a', 3), state('b', 4, { namespace: 'other' })]
  writes.add(inDefault, undefined, origin)
  writes.add(inOther, undefined, origin)
  const listed = new Store()
  t.strictSame(writes.listed('default', listed), [], 'the list is older than the object')
  listed.set(state('a', 2))
  listed.set(state('b', 2, { namespace: 'other' }))
  t.match(writes.listed('default', listed), [{ before: undefined, latest: inDefault }])
  t.equal(writes.size, 1)
  t.match(writes.listed(undefined, listed), [{ latest: inOther }])
  t.equal(writes.size, 0)
})

t.test('an informer forgets the writes to deleted objects', async (t) => {
  const script = new ScriptedClient()
  const type = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  const informer = new Informer({ client: script.client, type, logger: recordingLogger().logger, clock: new FakeClock() })
  const stop = new AbortController()
  const running = informer.start(stop.signal)
  await informer.whenSynced()
  informer.written(object('a', 5), origin)
  t.equal(informer.unconfirmedWrites, 1)
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  t.equal(informer.unconfirmedWrites, 0)
  informer.written(object('a', 4), origin)
  t.equal(informer.unconfirmedWrites, 0, 'the response to the write arrived after the one to the deletion')
  stop.abort()
  await running
})
