/**
 * Tests of an object store with the option `persistence`: the visible objects before a commit, after a commit, and after a failed commit.
 */
import t from 'tap'
import type { Change } from '../../../src/devcluster/storage/object-store.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import { rejectionOf } from '../../support/rejection.ts'

const type = '/configmaps'

/** Returns a store with a persistence that records the transactions, and that fails while `problem` is set. */
function keptStore() {
  const transactions: string[][] = []
  const state: { problem?: Error } = {}
  const commit = (changes: readonly Change[]): void => {
    if (state.problem !== undefined) throw state.problem
    transactions.push(changes.map((change) => `${change.type} ${change.key} ${change.revision}`))
  }
  const store = new ObjectStore({ persistence: { commit } })
  const seen: string[] = []
  store.subscribe(type, { change: (change) => seen.push(`${change.type} ${change.key} ${change.revision}`), end: () => undefined })
  const create = (name: string) => store.put(type, { name }, { metadata: { name } }, undefined)
  return { store, state, transactions, seen, create }
}

const revisionOf = (object: unknown): string | undefined =>
  (object as { metadata: { resourceVersion: string } } | undefined)?.metadata.resourceVersion

t.test('the writes of one turn of the event loop are one transaction', async (t) => {
  const { transactions, create } = keptStore()
  const results = await Promise.all(['a', 'b', 'c'].map(create))
  t.strictSame(results.map(revisionOf), ['2', '3', '4'])
  await create('d')
  t.strictSame(transactions, [['ADDED a 2', 'ADDED b 3', 'ADDED c 4'], ['ADDED d 5']])
})

t.test('a subscriber that throws is ended, and costs neither the writes nor the other subscribers', async (t) => {
  for (const persistence of [undefined, { commit: () => undefined }]) {
    const errors: unknown[] = []
    const store = new ObjectStore({ ...(persistence && { persistence }), onSubscriberError: (error) => errors.push(error) })
    const [broken, seen, ended]: [Error, string[], string[]] = [new Error('broken'), [], []]
    store.subscribe(type, {
      change: ({ key }) => {
        if (key === 'a') throw broken
      },
      end: () => ended.push('first'),
    })
    store.subscribe(type, { change: ({ key }) => seen.push(key), end: () => ended.push('second') })
    const results = await Promise.all(['a', 'b', 'c'].map((name) => store.put(type, { name }, { metadata: { name } }, undefined)))
    t.strictSame(results.map(revisionOf), ['2', '3', '4'])
    t.strictSame([store.snapshot(type).keys, store.revision, seen], [['a', 'b', 'c'], 4, ['a', 'b', 'c']])
    t.strictSame([errors, ended], [[broken], ['first']])
  }
})

t.test('readers and watches see a write when it is committed, and writers at once', async (t) => {
  const { store, transactions, seen, create } = keptStore()
  const writing = create('a')
  t.equal(store.get(type, { name: 'a' }), undefined)
  t.strictSame([store.snapshot(type).keys, store.revision, store.changesSince(1), seen], [[], 1, [], []])
  const latest = store.latest(type, { name: 'a' })
  t.equal(revisionOf(latest), '2')
  const stored = await writing
  t.strictSame(transactions, [['ADDED a 2']])
  t.equal(stored, latest)
  t.equal(store.get(type, { name: 'a' }), stored)
  t.strictSame([store.snapshot(type).keys, store.revision, seen], [['a'], 2, ['ADDED a 2']])
})

t.test('writes of one turn to the same object follow each other', async (t) => {
  const { store, transactions, seen, create } = keptStore()
  const key = { name: 'a' }
  const creating = create('a')
  t.equal(await create('a'), undefined, 'a second create is refused at once')
  const created = store.latest(type, key)!
  const updating = store.put(type, key, { metadata: { name: 'a' }, value: 1 }, created)
  t.equal(await store.put(type, key, { metadata: { name: 'a' } }, created), undefined, 'a stale update is refused at once')
  const deleting = store.delete(type, key, store.latest(type, key)!)
  t.equal(store.latest(type, key), undefined)
  const again = create('a')
  t.strictSame((await Promise.all([creating, updating, deleting, again])).map(revisionOf), ['2', '3', '4', '5'])
  t.strictSame(transactions, [['ADDED a 2', 'MODIFIED a 3', 'DELETED a 4', 'ADDED a 5']])
  t.strictSame(seen, transactions[0])
  t.equal(store.latest(type, key), store.get(type, key))
})

t.test('writes that cannot be kept are refused with 500, and nobody sees them', async (t) => {
  const { store, state, seen, create } = keptStore()
  const kept = (await create('kept'))!
  state.problem = new Error('database or disk is full')
  const status = { code: 500, reason: 'InternalError', message: /the write cannot be stored: database or disk is full/ }
  const failing = [create('a'), store.put(type, { name: 'kept' }, { metadata: { name: 'kept' }, value: 1 }, kept), store.committed()]
  for (const write of failing) t.match(await rejectionOf(write), { status })
  t.match(await rejectionOf(store.delete(type, { name: 'kept' }, kept)), { status })
  t.strictSame([store.snapshot(type).keys, store.revision, seen], [['kept'], 2, ['ADDED kept 2']])
  t.equal(store.latest(type, { name: 'kept' }), kept)
  await t.resolves(store.committed(), 'there is nothing left to commit')
  delete state.problem
  t.equal(revisionOf(await create('a')), '3', 'no revision is lost')
  t.strictSame(seen, ['ADDED kept 2', 'ADDED a 3'])
})

t.test('a write on top of one that could not be kept is refused as after a concurrent write', async (t) => {
  const { store, state, create } = keptStore()
  state.problem = new Error('no')
  const failing = rejectionOf(create('a'))
  const lost = store.latest(type, { name: 'a' })
  await failing
  delete state.problem
  t.equal(await store.put(type, { name: 'a' }, { metadata: { name: 'a' } }, lost), undefined)
})

t.test('a store begins with the objects that were kept', async (t) => {
  const objects = ['n/b', 'n/a', 'm/c'].map((key) => ({ storageKey: type, key, object: { metadata: { name: key } } }))
  const store = new ObjectStore({ firstRevision: 100, objects })
  t.strictSame(store.snapshot(type).keys, ['m/c', 'n/a', 'n/b'])
  t.ok(Object.isFrozen(store.get(type, { namespace: 'n', name: 'a' })?.metadata))
  t.strictSame([store.revision, store.compactedRevision], [100, 100])
})
