import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import type { MapFunction } from '../../src/controller/enqueue.ts'
import { EnqueueHandler, toController, toItself, toMapped, toOwners } from '../../src/controller/enqueue.ts'
import type { Enqueue, KeysOf } from '../../src/controller/map-calls.ts'
import type { Predicate } from '../../src/controller/predicates.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { FakeCache, objectOf, part, thing } from '../support/controller/fakes.ts'

const zone = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })

function handlerFor(map: KeysOf, predicates: readonly Predicate[] = [], seenGone?: Set<string>) {
  const added: [string, { readonly priority: number }][] = []
  const enqueue: Enqueue = (key, { priority }) => void added.push([key, { priority }])
  const clock = new FakeClock()
  const { logger, entries } = recordingLogger('debug')
  const options = { type: part, map, predicates, enqueue, clock, logger }
  const handler = new EnqueueHandler(seenGone === undefined ? options : { ...options, seenGone })
  return { handler, added, clock, entries }
}

t.test('existing objects have a lower priority than new events', async (t) => {
  const seenGone = new Set<string>()
  const { handler, added } = handlerFor(toItself, [], seenGone)
  const object = objectOf(part, 'a')
  handler.added(object, true)
  handler.added(object, false)
  handler.updated(object, object)
  t.equal(seenGone.size, 0)
  handler.deleted(object)
  t.strictSame(added, [
    ['ns/a', { priority: -100 }],
    ['ns/a', { priority: 0 }],
    ['ns/a', { priority: 0 }],
    ['ns/a', { priority: 0 }],
  ])
  t.strictSame([...seenGone], ['ns/a'])
})

t.test('an update enqueues the keys of the old and of the new object, without duplicates', async (t) => {
  const { handler, added } = handlerFor(({ metadata }) => [
    { namespace: 'ns', name: metadata.uid },
    { namespace: 'ns', name: 'both' },
    { name: 'cluster' },
  ])
  handler.updated(objectOf(part, 'a', { uid: 'new' }), objectOf(part, 'a', { uid: 'old' }))
  t.strictSame(
    added.map(([key]) => key),
    ['ns/new', 'ns/both', 'cluster', 'ns/old'],
  )
})

t.test('names of owners that no object can have are ignored', async (t) => {
  const namesOf = (keys: typeof toItself, ...names: string[]): string[] => {
    const { apiVersion, kind } = objectOf(thing, 'a')
    const ownerReferences = names.map((name) => ({ apiVersion, kind, name, uid: 'u', controller: true }))
    return keys(objectOf(part, 'p', { ownerReferences })).map(({ name }) => name)
  }
  const wrong = ['', '.', '..', 'a/b', '../x', '50%', 'a'.repeat(254)]
  t.strictSame(namesOf(toOwners(thing), ...wrong, 'a'.repeat(253), 'b'), ['a'.repeat(253), 'b'])
  for (const name of wrong) t.strictSame(namesOf(toController(thing), name), [], name.slice(0, 10))
})

t.test('predicates see the event, and all must accept it', async (t) => {
  const events: unknown[] = []
  const see =
    (answer: boolean): Predicate =>
    (event) => (events.push(event), answer)
  const seenGone = new Set<string>()
  const refusing = handlerFor(toItself, [see(true), see(false), see(true)], seenGone)
  const [object, old] = [objectOf(part, 'a'), objectOf(part, 'a')]
  refusing.handler.added(object, true)
  refusing.handler.updated(object, old)
  refusing.handler.deleted(object)
  t.strictSame([refusing.added, [...seenGone]], [[], []], 'a deletion that a predicate rejects is not recorded')
  t.strictSame(
    events.filter((_, index) => index % 2 === 0),
    [
      { type: 'added', object, initial: true },
      { type: 'updated', object, old },
      { type: 'deleted', object },
    ],
  )
  t.equal(events.length, 6, 'the third is not called')
})

t.test('a predicate that throws accepts, and the others are called', async (t) => {
  const throwing: Predicate = () => {
    throw new Error('cannot tell')
  }
  const no: Predicate = () => false
  const { handler, added, entries } = handlerFor(toItself, [throwing, no])
  handler.added(objectOf(part, 'a'), false)
  t.strictSame(added, [])
  t.match(entries, [{ level: 'error', object: 'ns/a', msg: 'a predicate for parts.example.com threw; the event counts' }])
})

t.test('the keys that can be mapped of an update are enqueued at once, the rest on retry', async (t) => {
  let broken = 'old'
  const { handler, added, clock, entries } = handlerFor(({ metadata: { uid } }) => {
    if (uid === broken) throw new Error(`cannot map ${uid}`)
    return [{ namespace: 'ns', name: uid }]
  })
  handler.updated(objectOf(part, 'a', { uid: 'new' }), objectOf(part, 'a', { uid: 'old' }))
  t.strictSame(added, [['ns/new', { priority: 0 }]])
  t.match(entries, [{ level: 'error', object: 'ns/a' }])
  t.match(entries[0]?.err, { message: 'cannot map old' })
  broken = ''
  await clock.advance(1000)
  t.strictSame(added.slice(1), [['ns/old', { priority: 0 }]])
  t.equal(clock.pending, 0)
})

t.test('the stop cancels pending retries', async (t) => {
  const { handler, added, clock } = handlerFor(() => {
    throw new Error('cannot map')
  })
  handler.added(objectOf(part, 'a'), false)
  t.equal(clock.pending, 1)
  await handler.stop()
  t.equal(clock.pending, 0)
  t.strictSame(added, [])
})

t.test('an object enqueues itself', async (t) => {
  t.strictSame(toItself(objectOf(part, 'a')), [{ namespace: 'ns', name: 'a' }])
})

t.test('an owned object enqueues its controller', async (t) => {
  const reference = { apiVersion: 'example.com/v7', kind: 'Thing', name: 'owner', uid: 'u', controller: true }
  const owned = (...ownerReferences: object[]): KubernetesObject => objectOf(part, 'a', { ownerReferences: ownerReferences as [] })
  const other = { ...reference, name: 'other', controller: false }
  const cases: readonly (readonly [ResourceType, KubernetesObject, readonly ObjectKey[]])[] = [
    [thing, owned(other, reference), [{ namespace: 'ns', name: 'owner' }]],
    [thing, owned(other), []],
    [thing, owned({ ...reference, kind: 'Zone' }), []],
    [thing, owned({ ...reference, apiVersion: 'other.com/v1' }), []],
    [thing, objectOf(part, 'a'), []],
    [zone, owned({ ...reference, kind: 'Zone' }), [{ name: 'owner' }]],
  ]
  for (const [owner, object, expected] of cases) t.strictSame(toController(owner)(object), expected)
})

t.test('an object with several owners enqueues all of the type', async (t) => {
  const reference = { apiVersion: 'example.com/v7', kind: 'Thing', name: 'first', uid: 'u', controller: true }
  const second = { ...reference, name: 'second', controller: false }
  const references = [reference, { ...reference, kind: 'Zone', name: 'zone' }, second, { ...second, apiVersion: 'other.com/v1' }]
  const owned = objectOf(part, 'a', { ownerReferences: references })
  t.strictSame(toOwners(thing)(owned), [
    { namespace: 'ns', name: 'first' },
    { namespace: 'ns', name: 'second' },
  ])
  t.strictSame(toOwners(zone)(owned), [{ name: 'zone' }])
  t.strictSame(toOwners(thing)(objectOf(part, 'a')), [])
  const { namespace: _, ...metadata } = owned.metadata
  t.strictSame(toOwners(thing)({ ...owned, metadata }), [], 'a cluster-scoped object cannot have a namespaced owner')
})

t.test('invalid keys of a map function are logged and dropped', async (t) => {
  const keys: unknown[] = [
    { namespace: 'ns', name: 'a' },
    { namespace: 'other', name: 'b' },
    { namespace: '', name: 'c' },
    { name: 'd' },
    { namespace: 'ns', name: '' },
    { namespace: 'ns', name: 7 },
    undefined,
    { namespace: 'ns', name: 'e', extra: 1 },
  ]
  const cache = new FakeCache()
  const { signal } = new AbortController()
  const seen: unknown[] = []
  const map: MapFunction = (object, context) => {
    seen.push(object, context)
    return keys as ObjectKey[]
  }
  const mapped = (type: ResourceType, namespaces: readonly string[]) => {
    const { logger, entries } = recordingLogger('debug')
    return { keys: toMapped(type, map, { cache, namespaces, logger })(source, signal), entries }
  }
  const source = objectOf(part, 'source')
  const [a, b, e] = ['a', 'b', 'e'].map((name) => ({ namespace: name === 'b' ? 'other' : 'ns', name }))
  const all = mapped(thing, [])
  t.strictSame(all.keys, [a, b, e])
  t.strictSame(seen, [source, { cache, signal }])
  const noName = 'A key of things.example.com has no name: a key must name an object.'
  const noNamespace = (name: string): string =>
    `The key of "${name}" has no namespace: things.example.com have one, which the key must name.`
  t.strictSame(
    all.entries.map(({ level, msg, object, err }) => [level, msg, object, (err as { message: string }).message]),
    [noNamespace('c'), noNamespace('d'), noName, noName, noName].map((message) => [
      'error',
      'a map function returned an invalid key',
      'ns/source',
      message,
    ]),
  )
  t.strictSame(mapped(thing, ['ns', 'third']).keys, [a, e])
  t.strictSame(
    mapped(zone, ['ns']).keys,
    ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })),
  )
})
