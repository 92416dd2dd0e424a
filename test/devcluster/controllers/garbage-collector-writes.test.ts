/** Tests of the writes of the garbage collector. The responses of the API server are scripted. */
import t from 'tap'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { runGarbageCollector } from '../../../src/devcluster/controllers/garbage-collector.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import type { World } from '../../support/devcluster/scripted-collector.ts'
import {
  by,
  collect,
  conflict,
  deleted,
  newer,
  nodes,
  notFound,
  objectOf,
  owners,
  parts,
} from '../../support/devcluster/scripted-collector.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

const versionOf = ({ metadata }: KubernetesObject): { uid: string; resourceVersion: string } => ({
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion!,
})
const patched = (type: ResourceType, object: KubernetesObject, changes: object): string =>
  `patch ${type.plural} ${object.metadata.name}: ${JSON.stringify({ metadata: { ...versionOf(object), ...changes } })}`
const removed = (type: ResourceType, object: KubernetesObject, propagationPolicy: string): string =>
  `delete ${type.plural} ${object.metadata.name}: ${JSON.stringify({ propagationPolicy, preconditions: versionOf(object) })}`

const withOwners = (object: KubernetesObject, ownerReferences: object[]): KubernetesObject =>
  ({ ...object, metadata: { ...newer(object).metadata, ownerReferences } }) as KubernetesObject

t.test('an object whose owners are all gone is deleted with the policy of its finalizers', async (t) => {
  for (const [finalizers, policy] of [
    [[], 'Background'],
    [['x.io/a'], 'Background'],
    [['orphan', 'x.io/a'], 'Orphan'],
    [['foregroundDeletion'], 'Foreground'],
  ] as const) {
    const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone'), by(owners, 'gone-too')], finalizers: [...finalizers] })
    const world = collect(t, { objects: [[parts, part]] })
    t.strictSame(await world.written(1), [removed(parts, part, policy)])
  }
})

t.test('an object with a remaining owner loses the references to missing ones', async (t) => {
  const owner = objectOf(owners, 'owner')
  const going = objectOf(owners, 'going', deleted('foregroundDeletion'))
  const references = [by(owners, 'owner'), by(owners, 'gone'), by(owners, 'going')]
  const part = objectOf(parts, 'part', { ownerReferences: references })
  const world = collect(t, {
    objects: [
      [parts, part],
      [owners, owner],
    ],
  })
  t.strictSame(await world.written(1), [patched(parts, part, { ownerReferences: [references[0]] })])
  const kept = objectOf(parts, 'kept', { ownerReferences: [references[0]!] })
  const quiet = collect(t, {
    objects: [
      [parts, kept],
      [owners, owner],
      [owners, going],
    ],
  })
  await quiet.clock.advance(5) // if the first attempt came before the lists were complete, it is retried after 5 ms
  await quiet.written(1)
  t.ok(await quiet.isQuiet())
})

t.test('an object with an owner of an unknown type is kept', async (t) => {
  const unknown = { apiVersion: 'other.io/v1', kind: 'Thing', name: 'x', uid: 'x' }
  const part = objectOf(parts, 'part', { ownerReferences: [unknown, by(owners, 'gone')] })
  const free = objectOf(parts, 'free')
  const leaving = objectOf(parts, 'leaving', { ...deleted('x.io/a'), ownerReferences: [by(owners, 'gone')] })
  const world = collect(t, {
    objects: [
      [parts, part],
      [parts, free],
      [parts, leaving],
    ],
  })
  await until('it watches', () => world.watches(nodes).length > 0)
  t.ok(await world.isQuiet())
})

t.test('the dependents of a deleted owner are deleted, even when its type is no longer served', async (t) => {
  const owner = objectOf(owners, 'owner')
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner')] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
    ],
  })
  await until('it watches', () => world.watches(owners).length > 0 && world.watches(parts).length > 0)
  t.ok(await world.isQuiet())
  world.serve(parts, nodes)
  world.send('DELETED', owners, owner)
  t.strictSame(await world.written(1), [removed(parts, part, 'Background')])
})

t.test('foreground deletion deletes the dependents first and waits for blocking ones', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('x.io/a', 'foregroundDeletion'))
  const blocking = objectOf(parts, 'blocking', { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: true })] })
  const free = objectOf(parts, 'free', { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: false })] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, blocking],
      [parts, free],
    ],
  })
  await world.clock.advance(5)
  const first = await world.written(2)
  t.ok(first.includes(removed(parts, blocking, 'Background')))
  t.ok(first.includes(removed(parts, free, 'Background')))
  t.notOk(
    first.some((text) => text.startsWith('patch')),
    'the owner still waits',
  )
  world.send('DELETED', parts, free)
  await world.isQuiet()
  await world.written(0)
  world.send('DELETED', parts, blocking)
  t.ok((await world.written(1)).includes(patched(owners, owner, { finalizers: ['x.io/a'] })))
})

t.test('a foreground deletion of an owner triggers the deletion of its dependents', async (t) => {
  const owner = objectOf(owners, 'owner')
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner')] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
    ],
  })
  await until('it watches', () => [owners, parts, nodes].every((type) => world.watches(type).length === 1))
  t.ok(await world.isQuiet())
  const waiting = { ...owner, metadata: { ...newer(owner).metadata, ...deleted('foregroundDeletion') } } as KubernetesObject
  world.send('MODIFIED', owners, waiting)
  t.strictSame((await world.written(2)).sort(), [removed(parts, part, 'Background'), patched(owners, waiting, { finalizers: null })])
})

t.test('a removed owner reference triggers another look at the owner', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const reference = by(owners, 'owner', { blockOwnerDeletion: true })
  const part = objectOf(parts, 'part', { ...deleted('x.io/a'), ownerReferences: [reference] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
    ],
  })
  await world.clock.advance(5)
  t.ok(await world.isQuiet())
  world.send('MODIFIED', parts, withOwners(part, [by(nodes, 'other')]))
  t.strictSame(await world.written(1), [patched(owners, owner, { finalizers: null })])
})

t.test('an owner without blocking dependents is finalized', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const part = objectOf(parts, 'part', {
    ...deleted('x.io/a'),
    ownerReferences: [by(owners, 'owner'), by(nodes, 'other', { blockOwnerDeletion: true })],
  })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
    ],
  })
  await world.clock.advance(5)
  t.strictSame(await world.written(1), [patched(owners, owner, { finalizers: null })], 'a terminating dependent is not deleted again')
})

t.test('a dependent with several owners blocks those whose reference blocks', async (t) => {
  const [held, free] = [objectOf(owners, 'held', deleted('foregroundDeletion')), objectOf(owners, 'free', deleted('foregroundDeletion'))]
  const part = objectOf(parts, 'part', {
    ...deleted('x.io/a'),
    ownerReferences: [by(nodes, 'other'), by(owners, 'free'), by(owners, 'held', { blockOwnerDeletion: true })],
  })
  const world = collect(t, {
    objects: [
      [owners, held],
      [owners, free],
      [parts, part],
    ],
  })
  await world.clock.advance(5)
  t.strictSame(await world.written(1), [patched(owners, free, { finalizers: null })])
  await world.clock.advance(1_000)
  t.ok(await world.isQuiet())
})

t.test('a failed deletion of a dependent with dependents is retried', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: true })] })
  const child = objectOf(parts, 'child', { ownerReferences: [by(parts, 'part')] })
  let error: Error | undefined = new Error('boom')
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
      [parts, child],
    ],
    failing: (method, _type, name) => (method === 'delete' && name === 'part' ? error : undefined),
  })
  const expected = removed(parts, part, 'Foreground')
  t.strictSame(new Set(await world.written(1)), new Set([expected]))
  t.strictSame(
    new Set(world.log.filter((line) => line.includes('boom'))),
    new Set(['warn: g.io/Part ns/part could not be garbage-collected, retrying: boom']),
  )
  error = undefined
  await world.clock.advance(100)
  t.strictSame(await world.written(1), [expected])
})

t.test('orphaned dependents lose the owner reference before the owner is finalized', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('orphan', 'x.io/a'))
  const one = objectOf(parts, 'one', { ownerReferences: [by(owners, 'owner')] })
  const two = objectOf(parts, 'two', { ownerReferences: [by(owners, 'owner'), by(nodes, 'other')] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, one],
      [parts, two],
      [nodes, objectOf(nodes, 'other')],
    ],
  })
  await world.clock.advance(5)
  const written = await world.written(3)
  t.ok(written.includes(patched(parts, one, { ownerReferences: null })))
  t.ok(written.includes(patched(parts, two, { ownerReferences: [by(nodes, 'other')] })))
  t.equal(written.at(-1), patched(owners, owner, { finalizers: ['x.io/a'] }), 'the owner is finalized last')
})

t.test('foreground deletion recurses into dependents with dependents, and resolves circles', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: true })] })
  const child = objectOf(parts, 'child', { ownerReferences: [by(parts, 'part')] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, part],
      [parts, child],
    ],
  })
  await world.clock.advance(5)
  t.ok((await world.written(1)).includes(removed(parts, part, 'Foreground')))
  const circle = objectOf(owners, 'owner', {
    ...deleted('foregroundDeletion'),
    ownerReferences: [by(parts, 'part', { blockOwnerDeletion: true })],
  })
  const again = collect(t, {
    objects: [
      [owners, circle],
      [parts, part],
    ],
  })
  await again.clock.advance(5)
  const written = await again.written(2)
  const unblocked = patched(parts, part, { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: false })] })
  t.ok(written.includes(unblocked))
  t.ok(written.indexOf(unblocked) < written.indexOf(removed(parts, part, 'Foreground')), 'the owner is unblocked first')
})

t.test('an owner is not finalized before all types have been listed', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const orphaning = objectOf(owners, 'orphaning', deleted('orphan'))
  let unlisted: Error | undefined = new Error('not yet')
  const world = collect(t, {
    objects: [
      [owners, owner],
      [owners, orphaning],
    ],
    failing: (method, type) => (method === 'list' && type === parts ? unlisted : undefined),
  })
  await world.clock.advance(30_000)
  await until('it is tried again', () => world.log.some((line) => line.includes('retrying')))
  t.ok(await world.isQuiet())
  t.ok(world.log.includes('warn: g.io/Owner ns/owner could not be garbage-collected, retrying: not all types have been listed yet'))
  unlisted = undefined
  await until('both go', async () => {
    await world.clock.advance(1_000)
    return !(await world.isQuiet())
  })
  await world.clock.advance(10_000)
  t.strictSame(
    [...new Set(await world.written(2))].sort(),
    [patched(owners, orphaning, { finalizers: null }), patched(owners, owner, { finalizers: null })].sort(),
  )
})

t.test('a failed write is retried and logged, but a conflict is not logged', async (t) => {
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone')] })
  let errors: Error[] = [conflict, new Error('boom'), notFound]
  const world = collect(t, { objects: [[parts, part]], failing: (method) => (method === 'delete' ? errors.shift() : undefined) })
  const expected = removed(parts, part, 'Background')
  const retriedAfter = async (ms: number): Promise<void> => {
    await until('the retry is scheduled', () => world.clock.nextDue === world.clock.now() + ms)
    await world.clock.advance(ms)
  }
  t.strictSame(await world.written(1), [expected])
  t.strictSame(world.log, [])
  await retriedAfter(5)
  t.strictSame(await world.written(1), [expected])
  t.strictSame(world.log, ['warn: g.io/Part ns/part could not be garbage-collected, retrying: boom'])
  await retriedAfter(10)
  t.strictSame(await world.written(1), [expected])
  await world.clock.advance(1_000)
  t.ok(await world.isQuiet(), 'a missing object is not retried')
  errors = [conflict]
  world.send('MODIFIED', parts, withOwners(part, [by(owners, 'gone-too')]))
  await world.written(1)
  await until('the retry is scheduled', () => world.clock.nextDue === world.clock.now() + 5)
  await world.clock.advance(4)
  t.ok(await world.isQuiet())
  await world.clock.advance(1)
  t.equal((await world.written(1)).length, 1, 'the failure count has been reset')
})

t.test('a failed removal of a finalizer is retried, and the retry is cancelled with the collector', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const world = collect(t, { objects: [[owners, owner]], failing: (method) => (method === 'patch' ? conflict : undefined) })
  await until('it watches', () => [owners, parts, nodes].every((type) => world.watches(type).length === 1))
  const expected = patched(owners, owner, { finalizers: null })
  for (const attempt of ['first', 'second']) {
    await world.clock.advance(1_000)
    t.ok((await world.written(1)).includes(expected), attempt)
    await until('the retry is scheduled', () => world.clock.pending > 0)
  }
  world.stop.abort()
  await world.ended
  t.equal(world.clock.pending, 0)
})

t.test('an owner in another namespace does not count, which is reported once', async (t) => {
  const owner = objectOf(owners, 'owner', { namespace: 'elsewhere' })
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner')] })
  const world = collect(t, {
    objects: [
      [owners, objectOf(owners, 'another')],
      [owners, owner],
      [parts, part],
    ],
  })
  await world.written(1)
  world.send('MODIFIED', parts, withOwners(part, [by(owners, 'owner', { controller: true })]))
  await world.written(1)
  t.strictSame(
    [...new Set(world.events)],
    [
      'part Warning OwnerRefInvalidNamespace: ownerRef [g.io/v1/Owner, namespace: ns, name: owner, uid: owner] does not exist in namespace "ns"',
    ],
  )
  t.equal(world.events.length, 1)
})

t.test('the watch of a type that is no longer served ends a second later, unless the type returns', async (t) => {
  const world = collect(t)
  await until('it watches', () => [owners, parts, nodes].every((type) => world.watches(type).length === 1))
  world.serve(owners, nodes)
  await world.clock.advance(999)
  t.equal(world.watches(parts)[0]!.ended, false)
  world.serve(owners, parts, nodes)
  await world.clock.advance(10_000)
  t.equal(world.watches(parts)[0]!.ended, false)
  t.equal(world.watches(parts).length, 1)
  world.serve(owners, nodes)
  world.serve(nodes, owners)
  await world.clock.advance(1_000)
  t.equal(world.watches(parts)[0]!.ended, true)
  world.serve(owners, parts)
  await until('it watches anew', () => world.watches(parts).length === 2)
  world.stop.abort()
  await world.ended
  for (const type of [owners, parts, nodes]) t.equal(world.watches(type).at(-1)!.ended, true)
  t.equal(world.clock.pending, 0)
  t.equal(world.listeners(), 0)
})

t.test('failures during the shutdown of the cluster are not logged', async (t) => {
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone')] })
  let world: World | undefined = undefined
  world = collect(t, {
    objects: [[parts, part]],
    failing: (method) => {
      if (method !== 'delete') return undefined
      world!.stop.abort()
      return new Error('aborted')
    },
  })
  await world.ended
  t.strictSame(world.log, [])
})

t.test('a collector that is stopped before its start returns', async (t) => {
  const stop = new AbortController()
  stop.abort()
  const source = { types: () => [], byKind: () => undefined, onChange: () => () => undefined }
  const { logger } = recordingLogger()
  await t.resolves(
    runGarbageCollector({ client: {} as Client, clock: new FakeClock(), logger, source, events: { event: () => undefined } }, stop.signal),
  )
})
