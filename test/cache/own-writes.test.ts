import t from 'tap'
import type { Test } from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { cacheView } from '../../src/cache/view.ts'
import { Informer } from '../../src/cache/informer.ts'
import type { Cause, Origin } from '../../src/cache/origin.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { ListAnswer, ScriptedWatch } from '../support/client/fake-cluster.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { fc } from '../support/property.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const expired = new ApiError(failure(410, 'Expired', 'too old'))
const empty: ListAnswer = { items: [], resourceVersion: '1' }

interface World {
  readonly script: ScriptedClient
  readonly informer: Informer
  readonly clock: FakeClock
  /** The events of a handler, e.g. `added a 5`. */
  readonly seen: string[]
  /** Sends a watch event, and waits until the informer has processed it. */
  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubernetesObject): Promise<void>
  /** Interrupts the watch. The informer then lists the objects again. */
  relist(answer: ListAnswer): Promise<void>
  /** The resourceVersion of the stored object `a`. */
  stored(): string | undefined
}

async function synced(t: Test, answer: ListAnswer = empty, namespaces: readonly string[] = []): Promise<World> {
  const script = new ScriptedClient()
  script.answers = [answer]
  const clock = new FakeClock()
  const informer = new Informer({
    client: script.client,
    type: widget,
    namespaces,
    logger: recordingLogger().logger,
    clock,
    random: () => 0,
  })
  const abort = new AbortController()
  t.teardown(async () => {
    abort.abort()
    await informer.start(abort.signal)
  })
  void informer.start(abort.signal)
  await informer.whenSynced()
  const reflectors = Math.max(1, namespaces.length)
  await eventually(() => script.watches.length === reflectors)
  const seen: string[] = []
  const nameOf = ({ metadata }: { metadata: { name: string; resourceVersion: string } }): string =>
    `${metadata.name} ${metadata.resourceVersion}`
  informer.addHandler({
    added: (added, initial) => void (initial ? undefined : seen.push(`added ${nameOf(added)}`)),
    updated: (updated, old) => void seen.push(`updated ${nameOf(updated)} from ${old.metadata.resourceVersion}`),
    deleted: (deleted) => void seen.push(`deleted ${nameOf(deleted)}`),
  })
  return {
    script,
    informer,
    clock,
    seen,
    async send(type, sent) {
      script.lastWatch.send(type, sent)
      await eventually(() => script.lastWatch.drained)
    },
    async relist(next) {
      const before = script.watches.length
      script.answers = [next]
      script.lastWatch.fail(expired)
      await eventually(() => script.watches.length === before + 1)
      await clock.advance(5_000) // after a watch has worked for 5 s, the next failure causes no delay
    },
    stored: () => informer.store.get({ namespace: 'default', name: 'a' })?.metadata.resourceVersion,
  }
}

t.test('an own write is read at once, and its echo is no event', async (t) => {
  const { informer, seen, send, stored } = await synced(t)
  informer.written(object('a', 5))
  t.equal(stored(), '5')
  informer.written(object('a', 7))
  t.equal(stored(), '7')
  await send('ADDED', object('a', 5))
  await send('MODIFIED', object('a', 7))
  t.equal(stored(), '7')
  t.strictSame(seen, ['added a 5', 'updated a 7 from 5'])
  await send('MODIFIED', object('a', 9))
  t.strictSame(seen.slice(2), ['updated a 9 from 7'])
})

t.test('an own write that arrives after a newer event is ignored', async (t) => {
  const { informer, seen, send, stored } = await synced(t)
  await send('ADDED', object('a', 10))
  informer.written(object('a', 9))
  informer.written(object('a', 10))
  t.equal(stored(), '10')
  t.strictSame(seen, ['added a 10'])
})

t.test('the store keeps a frozen copy, without managedFields', async (t) => {
  const { informer } = await synced(t)
  const written = object('a', 5, { spec: { n: 1 } }) as KubernetesObject & { spec: { n: number } }
  Object.assign(written.metadata, { managedFields: [{ manager: 'x' }] })
  informer.written(written)
  written.spec.n = 2
  const stored = informer.store.get({ namespace: 'default', name: 'a' }) as typeof written
  t.equal(stored.spec.n, 1)
  t.ok(Object.isFrozen(stored.spec))
  t.notOk('managedFields' in stored.metadata)
  t.ok('managedFields' in written.metadata)
})

t.test('what is no state of a watched object is ignored', async (t) => {
  const { informer, seen } = await synced(t, empty, ['default'])
  informer.written(object('a', 5, { namespace: 'other' }))
  informer.written({ ...object('a', 5), kind: 'Scale', apiVersion: 'autoscaling/v1' })
  informer.written({ ...object('a', 5), apiVersion: 'example.com/v2' })
  informer.written({ ...object('a', 5), kind: 'Gadget' })
  informer.written({ ...object('a', 5), metadata: undefined } as never)
  for (const field of ['uid', 'resourceVersion'] as const)
    informer.written({ ...object('a', 5), metadata: { ...object('a', 5).metadata, [field]: undefined } } as never)
  t.equal(informer.store.size, 0)
  t.strictSame(seen, [])
})

t.test('before the first list, own writes are ignored', async (t) => {
  const script = new ScriptedClient()
  const informer = new Informer({ client: script.client, type: widget, logger: recordingLogger().logger, clock: new FakeClock() })
  informer.written(object('a', 5))
  t.equal(informer.store.size, 0)
})

t.test('a list that is older than an own write neither removes nor replaces it', async (t) => {
  const { informer, seen, relist, stored } = await synced(t, { items: [object('b', 1)], resourceVersion: '1' })
  informer.written(object('a', 20))
  informer.written(object('b', 21))
  await relist({ items: [object('b', 1)], resourceVersion: '19' })
  t.equal(stored(), '20')
  t.equal(informer.store.size, 2)
  t.strictSame(seen, ['added a 20', 'updated b 21 from 1'])
  await relist({ items: [object('b', 21)], resourceVersion: '20' })
  t.equal(stored(), undefined, 'a list that is as new as the write')
  t.strictSame(seen.slice(2), ['deleted a 20'])
})

t.test('after a restore of etcd, the list replaces newer states', async (t) => {
  const { informer, seen, relist, stored } = await synced(t, { items: [object('a', 90), object('b', 95)], resourceVersion: '100' })
  informer.written(object('c', 105))
  informer.deleted({ namespace: 'default', name: 'b' }, 'uid-b')
  seen.length = 0
  await relist({ items: [object('a', 40), object('b', 41)], resourceVersion: '50' })
  t.equal(stored(), '40')
  t.strictSame(seen, ['deleted c 105', 'updated a 40 from 90', 'added b 41'])
  informer.written(object('a', 55))
  t.equal(stored(), '55')
})

t.test('a deleted object stays deleted, whatever older states the watch sends', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  t.equal(stored(), undefined)
  await send('MODIFIED', object('a', 2))
  t.equal(stored(), undefined)
  await send('DELETED', object('a', 3))
  t.strictSame(seen, ['deleted a 1'])
  await send('ADDED', object('a', 4))
  t.equal(stored(), '4', 'the deletion is confirmed, and the uid is forgotten')
})

t.test('a list shows that a deletion is confirmed', async (t) => {
  const first: ListAnswer = { items: [object('a', 1), object('b', 1)], resourceVersion: '1' }
  const { informer, send, relist, stored } = await synced(t, first)
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  await relist({ items: [object('b', 1)], resourceVersion: '3' })
  await send('ADDED', object('a', 4))
  t.equal(stored(), '4')
})

t.test('a late response does not bring back an object that another client has deleted', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  await send('DELETED', object('a', 12))
  informer.written(object('a', 5))
  informer.written(object('a', 12))
  t.equal(stored(), undefined)
  informer.written(object('a', 13, { uid: 'second' }))
  t.equal(stored(), '13')
  t.strictSame(seen, ['deleted a 12', 'added a 13'])
})

t.test('a response that arrives while a list is being stored is read at once, also when the list has the same state', async (t) => {
  const { informer, relist, stored } = await synced(t)
  const read: (string | undefined)[] = []
  informer.addHandler({
    added: ({ metadata }) => {
      if (metadata.name !== 'b') return
      informer.written(object('a', 6))
      read.push(stored())
    },
  })
  await relist({ items: [object('b', 5), object('a', 6)], resourceVersion: '6' })
  t.strictSame(read, ['6'])
})

t.test('the response to a write that removes the last finalizer shows that the object is gone', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  const pending = { ...object('a', 1).metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
  informer.written({ ...object('a', 2), metadata: { ...pending, resourceVersion: '2', finalizers: ['example.com/wait'] } })
  t.equal(stored(), '2')
  informer.written({ ...object('a', 2), metadata: { ...pending, resourceVersion: '2' } })
  t.equal(stored(), undefined)
  await send('MODIFIED', object('a', 2))
  await send('DELETED', object('a', 3))
  t.strictSame(seen, ['updated a 2 from 1', 'deleted a 2'])
})

t.test('the response to a deletion with a grace period changes the object, which stays until the watch sends its end', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  const ending = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }
  informer.written({ ...object('a', 2), metadata: { ...object('a', 2).metadata, ...ending } })
  t.equal(stored(), '2')
  await send('DELETED', object('a', 3))
  t.strictSame(seen, ['updated a 2 from 1', 'deleted a 3'])
})

t.test('after a restore of etcd whose resourceVersion was raised, the list replaces newer states, too', async (t) => {
  const first: ListAnswer = { items: [object('a', 900), object('b', 901)], resourceVersion: '905' }
  const { informer, seen, relist, stored } = await synced(t, first)
  informer.deleted({ namespace: 'default', name: 'b' }, 'uid-b')
  seen.length = 0
  await relist({ items: [object('a', 700), object('b', 701)], resourceVersion: '1000000000' })
  t.equal(stored(), '700')
  t.strictSame(seen, ['updated a 700 from 900', 'added b 701'])
})

t.test('an object that was deleted before the watch sent it is never seen', async (t) => {
  const { informer, seen, send } = await synced(t, empty, ['default'])
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  informer.deleted({ namespace: 'other', name: 'a' }, 'uid-b')
  await send('ADDED', object('a', 2))
  await send('DELETED', object('a', 3))
  t.strictSame(seen, [])
  await send('ADDED', object('b', 4))
  t.strictSame(seen, ['added b 4'], 'the deletion in the other namespace does not count')
})

t.test('an object that is written while a list is being stored stays, although the list does not have it', async (t) => {
  const { informer, seen, relist, stored } = await synced(t, { items: [object('b', 1), object('a', 2)], resourceVersion: '2' })
  informer.addHandler({ deleted: ({ metadata }) => void (metadata.name === 'b' && informer.written(object('a', 9))) })
  await relist({ items: [], resourceVersion: '5' })
  t.equal(stored(), '9')
  t.strictSame(seen, ['deleted b 1', 'updated a 9 from 2'])
})

t.test('a list that was requested before a deletion does not confirm it, although another namespace is listed meanwhile', async (t) => {
  const listed: ListAnswer = { items: [object('a', 1, { namespace: 'other' })], resourceVersion: '1' }
  const { script, informer, seen } = await synced(t, listed, ['default', 'other'])
  const [first, second] = script.watches as [ScriptedWatch, ScriptedWatch]
  const [inOther, inDefault] = second.options.namespace === 'other' ? [second, first] : [first, second]
  const held = Promise.withResolvers<void>()
  const list = script.list.bind(script)
  script.list = async (type, options) => {
    const answer = await list(type, options)
    if (options.namespace === 'other') await held.promise
    return answer
  }
  script.answers = [listed, empty]
  inOther.fail(expired)
  await eventually(() => script.lists.length === 3)
  informer.deleted({ namespace: 'other', name: 'a' }, 'uid-a')
  inDefault.fail(expired)
  await eventually(() => script.watches.length === 3)
  held.resolve()
  await eventually(() => script.watches.length === 4)
  t.equal(informer.store.size, 0)
  t.strictSame(seen, ['deleted a 1'])
})

t.test('a list of one namespace says nothing about deletions in another', async (t) => {
  const { script, informer, seen } = await synced(t, empty, ['default', 'other'])
  const [first, second] = script.watches as [ScriptedWatch, ScriptedWatch]
  const inOther = second.options.namespace === 'other' ? second : first
  const inDefault = inOther === second ? first : second
  informer.deleted({ namespace: 'other', name: 'a' }, 'uid-a')
  inDefault.fail(expired)
  await eventually(() => script.watches.length === 3)
  inOther.send('ADDED', object('a', 2, { namespace: 'other' }))
  inOther.send('DELETED', object('a', 3, { namespace: 'other' }))
  await eventually(() => inOther.drained)
  t.strictSame(seen, [])
})

t.test('at most 10,000 deleted uids are remembered', async (t) => {
  const { informer, seen, send } = await synced(t)
  for (let i = 0; i <= 10_000; i++) informer.deleted({ namespace: 'default', name: `o-${i}` }, `uid-o-${i}`)
  for (const i of [0, 1, 10_000]) await send('ADDED', object(`o-${i}`, i + 2))
  t.strictSame(seen, ['added o-0 2'])
})

t.test('only the object with the deleted uid is removed', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  informer.deleted({ namespace: 'default', name: 'a' }, 'another')
  t.equal(stored(), '1')
  await send('MODIFIED', object('a', 2))
  t.equal(stored(), '2')
  t.strictSame(seen, ['updated a 2 from 1'])
})

t.test('a deletion removes an earlier object, too, if the cache had it before the request', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  informer.deleted({ namespace: 'default', name: 'a' }, 'second', ['uid-a'])
  t.equal(stored(), undefined)
  await send('MODIFIED', object('a', 2))
  await send('DELETED', object('a', 3))
  await send('ADDED', object('a', 4, { uid: 'second' }))
  await send('DELETED', object('a', 5, { uid: 'second' }))
  await send('ADDED', object('a', 6, { uid: 'third' }))
  t.strictSame(seen, ['deleted a 1', 'added a 6'])
})

t.test('after a deletion, an earlier object that the cache never had is not seen, either', async (t) => {
  const { informer, seen, send } = await synced(t)
  informer.written(object('a', 5, { uid: 'second' }))
  informer.deleted({ namespace: 'default', name: 'a' }, 'second')
  await send('ADDED', object('a', 2, { uid: 'first' }))
  await send('DELETED', object('a', 3, { uid: 'first' }))
  await send('ADDED', object('a', 4, { uid: 'second' }))
  await send('MODIFIED', object('a', 6, { uid: 'second' }))
  await send('DELETED', object('a', 7, { uid: 'second' }))
  await send('ADDED', object('a', 8, { uid: 'third' }))
  t.strictSame(seen, ['added a 5', 'deleted a 5', 'added a 8'])
})

t.test('the removal of the last finalizer removes an earlier object, too', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 10)], resourceVersion: '10' })
  const pending = { ...object('a', 1).metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
  informer.written({ ...object('a', 9), metadata: { ...pending, uid: 'zeroth', resourceVersion: '9' } })
  t.equal(stored(), '10', 'an older one')
  informer.written({ ...object('a', 14), metadata: { ...pending, uid: 'second', resourceVersion: '14' } })
  t.equal(stored(), undefined)
  await send('MODIFIED', object('a', 11))
  t.strictSame(seen, ['deleted a 10'])
})

t.test('after the removal of the last finalizer, no older state of the name is seen, also when the cache has none', async (t) => {
  const { informer, seen, send } = await synced(t)
  const pending = { ...object('a', 1).metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
  informer.written({ ...object('a', 9), metadata: { ...pending, uid: 'second', resourceVersion: '9' } })
  await send('ADDED', object('a', 2, { uid: 'first' }))
  await send('DELETED', object('a', 3, { uid: 'first' }))
  await send('ADDED', object('a', 4, { uid: 'second' }))
  await send('DELETED', object('a', 10, { uid: 'second' }))
  await send('ADDED', object('a', 11, { uid: 'third' }))
  t.strictSame(seen, ['added a 11'])
  t.equal(informer.unconfirmedWrites, 0)
})

t.test('an object that this process has deleted and created again', async (t) => {
  const { informer, seen, send, stored } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  informer.written(object('a', 5, { uid: 'second' }))
  await send('MODIFIED', object('a', 2))
  await send('DELETED', object('a', 3))
  t.equal(stored(), '5')
  await send('ADDED', object('a', 5, { uid: 'second' }))
  t.strictSame(seen, ['deleted a 1', 'added a 5'])
})

t.test('after a deletion, an older incarnation that another client has deleted is not seen either', async (t) => {
  const { informer, seen, send } = await synced(t)
  informer.written(object('a', 2, { uid: 'first' }))
  informer.written(object('a', 4, { uid: 'second' }))
  informer.deleted({ namespace: 'default', name: 'a' }, 'second')
  await send('ADDED', object('a', 2, { uid: 'first' }))
  await send('DELETED', object('a', 3, { uid: 'first' }))
  t.strictSame(seen, ['added a 2', 'deleted a 2', 'added a 4', 'deleted a 4'])
})

t.test('an older incarnation of an object does not replace a newer one', async (t) => {
  const { informer, seen, send, stored } = await synced(t)
  informer.written(object('a', 9, { uid: 'second' }))
  await send('ADDED', object('a', 5))
  await send('DELETED', object('a', 6))
  t.equal(stored(), '9')
  t.strictSame(seen, ['added a 9'])
})

t.test('own writes are ignored when resourceVersions are not numbers, and events are stored as they arrive', async (t) => {
  const { informer, seen, send, stored } = await synced(t)
  await send('ADDED', object('a', 'x1', { uid: 'second' }))
  informer.written(object('a', 'x0', { uid: 'first' }))
  t.equal(stored(), 'x1')
  await send('MODIFIED', object('a', 'x0', { uid: 'second' }))
  t.equal(stored(), 'x0')
  t.strictSame(seen, ['added a x1', 'updated a x0 from x1'])
})

const writer: Origin = { controller: 'web', key: 'default/a' }

/**
 * Adds a handler that records each change with its cause, e.g. `5 from 3 by web`. If the change comes from a watch event, the cause is `?`.
 * If the change comes from a list or from a write without an origin, there is no cause.
 */
function causes(informer: Informer): string[] {
  const seen: string[] = []
  const by = (cause: Cause): string => (cause === undefined ? '' : cause === 'unknown' ? ' ?' : ` by ${cause.controller}`)
  informer.addHandler({
    added: ({ metadata }, initial, cause) => void (initial ? undefined : seen.push(`${metadata.resourceVersion}${by(cause)}`)),
    updated: ({ metadata }, old, cause) => void seen.push(`${metadata.resourceVersion} from ${old.metadata.resourceVersion}${by(cause)}`),
    deleted: ({ metadata }) => void seen.push(`deleted ${metadata.resourceVersion}`),
    overtaken: ({ metadata }, old) => void seen.push(`overtaken ${metadata.resourceVersion} from ${old?.metadata.resourceVersion}`),
  })
  return seen
}

t.test('handlers get the cause of a change', async (t) => {
  const { informer, send, relist } = await synced(t)
  const seen = causes(informer)
  informer.written(object('a', 2), writer)
  informer.written(object('a', 3))
  await send('ADDED', object('b', 4))
  await send('MODIFIED', object('a', 5))
  await relist({ items: [object('a', 6)], resourceVersion: '6' })
  t.strictSame(seen, ['2 by web', '3 from 2', '4 ?', '5 from 3 ?', 'deleted 4', '6 from 5'])
})

t.test('an own write is reported again when the watch sends a change of another client from before it', async (t) => {
  const { informer, send } = await synced(t, { items: [object('a', 10)], resourceVersion: '10' })
  const seen = causes(informer)
  informer.written(object('a', 13), writer)
  informer.written(object('a', 16), writer)
  await send('MODIFIED', object('a', 10)) // the informer has already listed this state, so it is not a new change
  await send('MODIFIED', object('a', 13))
  t.equal(seen.length, 2)
  await send('MODIFIED', object('a', 15))
  await send('MODIFIED', object('a', 16))
  t.strictSame(seen, ['13 from 10 by web', '16 from 13 by web', 'overtaken 16 from 10'])
  informer.written(object('a', 18), writer)
  await send('MODIFIED', object('a', 18))
  await send('MODIFIED', object('a', 20))
  t.strictSame(seen.slice(3), ['18 from 16 by web', '20 from 18 ?'])
})

t.test('an own write that creates an object is reported again when another client has created the object', async (t) => {
  const { informer, send } = await synced(t)
  const seen = causes(informer)
  informer.written(object('a', 5), writer)
  informer.written(object('b', 6), writer)
  await send('ADDED', object('a', 4))
  await send('MODIFIED', object('a', 5))
  await send('ADDED', object('b', 6))
  t.strictSame(seen, ['5 by web', '6 by web', 'overtaken 5 from undefined'])
})

t.test('without a cause, or after a later change, an own write is not reported again', async (t) => {
  const { informer, send } = await synced(t, { items: [object('a', 1), object('b', 1)], resourceVersion: '1' })
  const seen = causes(informer)
  informer.written(object('a', 5))
  informer.written(object('b', 6), writer)
  informer.written(object('b', 8))
  await send('MODIFIED', object('a', 4))
  await send('MODIFIED', object('b', 4))
  t.strictSame(seen, ['5 from 1', '6 from 1 by web', '8 from 6'])
})

t.test('responses in another order than the writes are no changes of other clients', async (t) => {
  const { informer, send } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
  const seen = causes(informer)
  informer.written(object('a', 6), writer)
  informer.written(object('a', 5), writer)
  await send('MODIFIED', object('a', 5))
  await send('MODIFIED', object('a', 6))
  t.strictSame(seen, ['6 from 1 by web'])
})

t.test('a late response to a write that another reconcile, or none, has made is a change that the later writer has not seen', async (t) => {
  for (const origin of [undefined, { ...writer }]) {
    const { informer } = await synced(t, { items: [object('a', 1)], resourceVersion: '1' })
    const seen = causes(informer)
    informer.written(object('a', 6), writer)
    informer.written(object('a', 1), origin)
    informer.written(object('a', 5), origin)
    t.strictSame(seen, ['6 from 1 by web', 'overtaken 6 from 1'])
  }
})

t.test('after a list, an own write is reported again, unless the list has the state before it or a later one', async (t) => {
  for (const [listed, resourceVersion, expected] of [
    ['10', '11', []],
    ['11', '11', ['overtaken 13 from 10']],
    ['13', '14', ['overtaken 13 from 10']],
    ['15', '15', ['15 from 13']],
  ] as const) {
    const { informer, send, relist } = await synced(t, { items: [object('a', 10)], resourceVersion: '10' }, ['other', 'default'])
    const seen = causes(informer)
    informer.written(object('a', 13), writer)
    informer.written(object('b', 12, { namespace: 'other' }), writer)
    await relist({ items: [object('a', listed)], resourceVersion })
    t.strictSame(seen.slice(2), expected, listed)
    await send('MODIFIED', object('a', '12'))
    t.strictSame(seen.slice(2), listed === '10' ? ['overtaken 13 from 10'] : expected, `${listed}, then an event`)
  }
})

interface History {
  /** The events of the server that the watch has not sent yet. */
  readonly unsent: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubernetesObject }[]
  readonly objects: Map<string, KubernetesObject>
  version: number
}

t.test('for any order of own writes, writes of others, events and lists, reads never go back behind an own write', async () => {
  const step = fc.record({
    action: fc.constantFrom('own write', 'write', 'own delete', 'delete', 'event', 'event', 'relist'),
    name: fc.constantFrom('a', 'b', 'c'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const teardowns: (() => Promise<void>)[] = []
      const { informer, send, relist } = await synced({
        teardown: (end: () => Promise<void>) => void teardowns.push(end),
      } as unknown as Test)
      const server: History = { unsent: [], objects: new Map(), version: 1 }
      const put = (name: string): KubernetesObject => {
        const before = server.objects.get(name)
        const version = (server.version += 1)
        const next = object(name, version, { uid: before?.metadata.uid ?? `uid-${version}` })
        server.objects.set(name, next)
        server.unsent.push({ type: before === undefined ? 'ADDED' : 'MODIFIED', object: next })
        return next
      }
      const remove = (name: string): KubernetesObject | undefined => {
        const before = server.objects.get(name)
        if (before === undefined) return undefined
        server.objects.delete(name)
        server.unsent.push({ type: 'DELETED', object: object(name, (server.version += 1), { uid: before.metadata.uid }) })
        return before
      }
      const sendNext = async (): Promise<void> => {
        const event = server.unsent.shift()
        if (event !== undefined) await send(event.type, structuredClone(event.object))
      }
      const list = (): Promise<void> => {
        server.unsent.length = 0
        return relist({ items: [...server.objects.values()].map((each) => structuredClone(each)), resourceVersion: String(server.version) })
      }
      /** For each name, the resourceVersion of the last own write or deletion, and whether the object existed afterwards. */
      const own = new Map<string, { version: number; exists: boolean }>()
      const check = (): void => {
        for (const [name, { version, exists }] of own) {
          const found = informer.store.get({ namespace: 'default', name })
          if (
            found === undefined
              ? exists && server.objects.has(name) && server.objects.get(name)!.metadata.resourceVersion === String(version)
              : Number(found.metadata.resourceVersion) < version
          )
            throw new Error(`${name} is ${found?.metadata.resourceVersion ?? 'missing'} after the own write ${version}`)
        }
      }
      for (const { action, name } of steps) {
        const key = { namespace: 'default', name }
        if (action === 'own write') {
          informer.written(structuredClone(put(name)))
          own.set(name, { version: server.version, exists: true })
        } else if (action === 'own delete') {
          const removed = remove(name)
          if (removed !== undefined) {
            const known = informer.store.get(key)
            informer.deleted(key, removed.metadata.uid)
            // The informer keeps the object in the store if the uid of this object differs from the uid of the deleted object. The response
            // to a deletion contains no resourceVersion, so the informer cannot know whether the stored object is newer than the deleted
            // object. `check` therefore ignores the name until the next own write or own deletion of an object with this name.
            if (known === undefined || known.metadata.uid === removed.metadata.uid)
              own.set(name, { version: server.version, exists: false })
            else own.delete(name)
          }
        } else if (action === 'write') put(name)
        else if (action === 'delete') remove(name)
        else if (action === 'event') await sendNext()
        else await list()
        check()
      }
      while (server.unsent.length > 0) await sendNext()
      const actual = informer.store.list().map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
      const expected = [...server.objects.values()].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
      for (const end of teardowns) await end()
      if (actual.toSorted().join() !== expected.toSorted().join())
        throw new Error(`the store has ${actual.join()}, the server ${expected.join()}`)
    }),
    { numRuns: 400 },
  )
})

t.test('a response that cannot be stored does not fail the write: the object enters the store with the watch', async (t) => {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 5)], resourceVersion: '5' }]
  const log = recordingLogger()
  const type = cacheView(widget, { labels: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } })
  const informer = new Informer({ client: script.client, type, logger: log.logger, clock: new FakeClock() })
  const abort = new AbortController()
  t.teardown(() => abort.abort())
  void informer.start(abort.signal)
  await informer.whenSynced()
  const origin = { controller: 'c', key: 'default/a' }
  for (const resourceVersion of [7, 8]) {
    const response = object('a', resourceVersion)
    informer.written({ ...response, metadata: { ...response.metadata, labels: null as never } }, origin)
  }
  const stored = (): string | undefined => informer.store.get({ namespace: 'default', name: 'a' })?.metadata.resourceVersion
  t.equal(stored(), '5')
  t.equal(informer.unconfirmedWrites, 0)
  t.equal(log.lines.length, 1)
  t.match(log.lines[0], /^warn: .*until the watch sends it/)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('MODIFIED', object('a', 8))
  await eventually(() => stored() === '8')
})

t.test('a response and an event with any nesting are stored', async (t) => {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 5)], resourceVersion: '5' }]
  const informer = new Informer({ client: script.client, type: widget, logger: recordingLogger().logger, clock: new FakeClock() })
  const abort = new AbortController()
  t.teardown(() => abort.abort())
  void informer.start(abort.signal)
  await informer.whenSynced()
  const nested = (): unknown[] => {
    let list: unknown[] = ['innermost']
    for (let depth = 0; depth < 50_000; depth += 1) list = [list]
    return list
  }
  const stored = (): KubernetesObject & { nested?: unknown } => informer.store.get({ namespace: 'default', name: 'a' })! as never
  // The informer freezes an object with 50,000 nested lists in several iterations of the event loop. This function waits until all lists
  // are frozen.
  const innermost = async (): Promise<unknown> => {
    let value: unknown
    await eventually(() => {
      value = stored().nested
      let isFrozen = true
      for (; Array.isArray(value); value = value[0]) isFrozen &&= Object.isFrozen(value)
      return isFrozen
    })
    return value
  }
  const response = object('a', 7, { nested: nested() })
  const before = new Map([[widget, stored()]])
  informer.written(response, { controller: 'c', key: 'default/a' }, { content: response, before })
  t.strictSame([stored().metadata.resourceVersion, await innermost()], ['7', 'innermost'])
  t.notOk(Object.isFrozen(response), 'the caller may change it')
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('MODIFIED', object('a', 8, { nested: nested() }))
  await eventually(() => stored().metadata.resourceVersion === '8')
  t.equal(await innermost(), 'innermost')
})
