import t from 'tap'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'

const type = 'ex.com/foos'

function object(name: string, value = 0) {
  return { metadata: { name }, value }
}

t.test('a write gets the next revision, which all types share', async (t) => {
  const store = new ObjectStore()
  const first = await store.put(type, { namespace: 'a', name: 'x' }, object('x'), undefined)
  const second = await store.put('/pods', { namespace: 'a', name: 'x' }, object('x'), undefined)
  t.match(first, { metadata: { resourceVersion: '2' } })
  t.match(second, { metadata: { resourceVersion: '3' } })
  t.equal(store.revision, 3)
})

t.test('a write requires the current object', async (t) => {
  const store = new ObjectStore()
  const key = { name: 'x' }
  const first = (await store.put(type, key, object('x'), undefined))!
  t.equal(await store.put(type, key, object('x', 1), undefined), undefined, 'a create of an existing object fails')
  const second = (await store.put(type, key, object('x', 1), first))!
  t.equal(await store.put(type, key, object('x', 2), first), undefined, 'an update of a stale object fails')
  t.equal(await store.delete(type, key, first), undefined)
  t.match(await store.delete(type, key, second), { metadata: { resourceVersion: '4' } }, 'a deletion gets its own revision')
  t.equal(store.get(type, key), undefined)
})

t.test('stored objects are deeply frozen', async (t) => {
  const store = new ObjectStore()
  const stored = await store.put(type, { name: 'x' }, { metadata: { name: 'x' }, spec: { list: [{}] } }, undefined)
  t.ok(Object.isFrozen((stored as unknown as { spec: { list: object[] } }).spec.list[0]))
})

t.test('a list is ordered by namespace and name and can be limited to a namespace', async (t) => {
  const store = new ObjectStore()
  for (const [namespace, name] of [
    ['b', 'y'],
    ['a', 'z'],
    ['b', 'x'],
    ['ab', 'q'],
    ['a', 'a'],
  ] as const)
    await store.put(type, { namespace, name }, object(name), undefined)
  t.strictSame(store.snapshot(type).keys, ['a/a', 'a/z', 'ab/q', 'b/x', 'b/y'])
  t.strictSame(store.snapshot(type, 'a').keys, ['a/a', 'a/z'])
})

t.test('an earlier revision can be listed until it is compacted', async (t) => {
  const store = new ObjectStore()
  const x = (await store.put(type, { name: 'x' }, object('x', 1), undefined))!
  const revision = store.revision
  const changed = (await store.put(type, { name: 'x' }, object('x', 2), x))!
  await store.put(type, { name: 'y' }, object('y'), undefined)
  await store.delete(type, { name: 'x' }, changed)
  const snapshot = store.snapshot(type, undefined, revision)
  t.strictSame(snapshot.keys, ['x'])
  t.equal(snapshot.get('x'), x)
  t.strictSame(store.snapshot(type).keys, ['y'])
  store.compact()
  t.equal(store.compactedRevision, store.revision)
  t.strictSame(store.changesSince(store.revision), [])
})

t.test('the history is limited by historyLimit', async (t) => {
  const store = new ObjectStore({ historyLimit: 10 })
  for (let index = 0; index < 100; index += 1) await store.put(type, { name: `x${index}` }, object(`x${index}`), undefined)
  const kept = store.revision - store.compactedRevision
  t.ok(kept >= 10 && kept <= 11, `${kept} changes`)
  t.equal(store.changesSince(store.compactedRevision).length, kept)
  t.equal(store.changesSince(store.compactedRevision)[0]?.revision, store.compactedRevision + 1)
})

t.test('a subscriber receives the changes of its type in order until it unsubscribes', async (t) => {
  const store = new ObjectStore()
  const seen: string[] = []
  const leave = store.subscribe(type, { change: ({ type: what, key }) => seen.push(`${what} ${key}`), end: () => undefined })
  const x = (await store.put(type, { name: 'x' }, object('x'), undefined))!
  await store.put('/pods', { name: 'p' }, object('p'), undefined)
  const changed = (await store.put(type, { name: 'x' }, object('x', 2), x))!
  await store.delete(type, { name: 'x' }, changed)
  leave()
  await store.put(type, { name: 'z' }, object('z'), undefined)
  t.strictSame(seen, ['ADDED x', 'MODIFIED x', 'DELETED x'])
})

t.test('a callback for a revision runs once, and not after its removal', async (t) => {
  const store = new ObjectStore()
  const seen: string[] = []
  store.whenReached(1, () => seen.push('there already'))
  store.whenReached(3, () => seen.push('two on'))
  const leave = store.whenReached(3, () => seen.push('gone'))
  t.strictSame(seen, ['there already'])
  leave()
  for (const name of ['a', 'b', 'c']) {
    await store.put(type, { name }, object(name), undefined)
    seen.push(name)
  }
  t.strictSame(seen, ['there already', 'a', 'two on', 'b', 'c'])
})

t.test('the store begins at firstRevision', async (t) => {
  const store = new ObjectStore({ firstRevision: 100 })
  t.equal(store.revision, 100)
  t.equal(store.compactedRevision, 100)
  const stored = await store.put('ex.com/foos', { name: 'a' }, { metadata: { name: 'a' } }, undefined)
  t.match(stored, { metadata: { resourceVersion: '101' } })
  t.equal(store.changesSince(100).length, 1)
})

t.test('a change contains the previous object', async (t) => {
  const store = new ObjectStore()
  const x = (await store.put(type, { namespace: 'a', name: 'x' }, object('x'), undefined))!
  const y = (await store.put(type, { namespace: 'a', name: 'x' }, object('x', 1), x))!
  const gone = (await store.delete(type, { namespace: 'a', name: 'x' }, y))!
  t.strictSame(store.changesSince(1), [
    { type: 'ADDED', storageKey: type, key: 'a/x', object: x, previous: undefined, revision: 2 },
    { type: 'MODIFIED', storageKey: type, key: 'a/x', object: y, previous: x, revision: 3 },
    { type: 'DELETED', storageKey: type, key: 'a/x', object: gone, previous: y, revision: 4 },
  ])
  t.strictSame(
    store.changesSince(3).map(({ revision }) => revision),
    [4],
  )
  t.strictSame(gone, { metadata: { name: 'x', resourceVersion: '4' }, value: 1 })
  t.ok(Object.isFrozen(gone))
  t.equal(await store.delete(type, { name: 'none' }, gone), undefined)
  t.equal(store.revision, 4, 'a refused write gets no revision')
})

t.test('a snapshot of an earlier revision contains objects that were deleted since, in their order', async (t) => {
  const store = new ObjectStore()
  const put = (namespace: string, name: string, of = type): void => void store.put(of, { namespace, name }, object(name), undefined)
  for (const name of ['a', 'c', 'e']) put('n', name)
  put('m', 'z')
  const { revision } = store
  put('n', 'b')
  put('n', 'a', '/pods')
  await store.delete(type, { namespace: 'n', name: 'c' }, store.get(type, { namespace: 'n', name: 'c' })!)
  t.strictSame(store.snapshot(type, undefined, revision).keys, ['m/z', 'n/a', 'n/c', 'n/e'])
  t.strictSame(store.snapshot(type, 'n', revision).keys, ['n/a', 'n/c', 'n/e'])
  t.equal(store.snapshot(type, 'n', revision).revision, revision)
  t.equal(store.snapshot(type, 'n', revision).get('n/b'), undefined)
  t.strictSame(store.snapshot(type, 'n', revision + 1).keys, ['n/a', 'n/b', 'n/c', 'n/e'])
  t.strictSame(store.snapshot(type, '').keys, ['m/z', 'n/a', 'n/b', 'n/e'], 'an empty namespace lists all of them')
  const now = store.snapshot(type, 'n', store.revision + 5)
  t.strictSame([now.revision, now.keys], [store.revision, ['n/a', 'n/b', 'n/e']])
  put('n', 'd')
  t.strictSame(now.keys, ['n/a', 'n/b', 'n/e'], 'an existing list does not change')
  t.strictSame(store.snapshot('/none').keys, [])
})

t.test('a compaction removes the history up to a revision', async (t) => {
  const store = new ObjectStore()
  for (const name of ['a', 'b', 'c', 'd']) await store.put(type, { name }, object(name), undefined)
  const revisions = (): number[] => store.changesSince(store.compactedRevision).map(({ revision }) => revision)
  store.compact(3)
  t.strictSame([store.compactedRevision, revisions()], [3, [4, 5]])
  store.compact(2)
  t.strictSame([store.compactedRevision, revisions()], [3, [4, 5]])
  t.strictSame(
    store.changesSince(1).map(({ revision }) => revision),
    [4, 5],
    'the remaining changes',
  )
  store.compact(100)
  t.strictSame([store.compactedRevision, revisions()], [5, []])
})

t.test('the history exceeds historyLimit by at most a tenth', async (t) => {
  const store = new ObjectStore({ historyLimit: 20 })
  const lengths: number[] = []
  for (let index = 0; index < 30; index += 1) {
    await store.put(type, { name: `x${index}` }, object('x'), undefined)
    lengths.push(store.revision - store.compactedRevision)
  }
  t.strictSame(lengths.slice(18, 26), [19, 20, 21, 20, 21, 20, 21, 20])
})

t.test('a subscriber that unsubscribes while all watches are ended receives no further changes', async (t) => {
  const store = new ObjectStore()
  const seen: string[] = []
  const ends: string[] = []
  const leave = store.subscribe(type, { change: () => void seen.push('a'), end: () => void (ends.push('a'), leave()) })
  store.subscribe(type, { change: () => void seen.push('b'), end: () => void ends.push('b') })
  store.subscribe('/pods', { change: () => void seen.push('c'), end: () => void ends.push('c') })
  await store.put(type, { name: 'x' }, object('x'), undefined)
  t.strictSame(seen, ['a', 'b'])
  store.endSubscriptions()
  t.strictSame(ends, ['a', 'b', 'c'])
  await store.put('/pods', { name: 'x' }, object('x'), undefined)
  await store.put(type, { name: 'y' }, object('y'), undefined)
  t.strictSame(seen, ['a', 'b', 'c', 'b'])
})
