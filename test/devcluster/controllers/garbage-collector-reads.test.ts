/** Tests that the garbage collector sends no unnecessary requests, and that it sends the requests that it needs to notice a deletion. */
import t from 'tap'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { until } from '../../../src/testing/until.ts'
import type { World } from '../../support/devcluster/scripted-collector.ts'
import { by, collect, deleted, newer, nodes, objectOf, owners, parts } from '../../support/devcluster/scripted-collector.ts'

const watching = (world: World, ...types: ResourceType[]): Promise<unknown> =>
  until('it watches', () => types.every((type) => world.watches(type).length > 0))
const changed = (object: KubernetesObject, metadata: object): KubernetesObject => ({
  ...newer(object),
  metadata: { ...newer(object).metadata, ...metadata },
})
const numbers = Array.from({ length: 20 }, (_, index) => index)

t.test('an owner that was observed is not read, whatever happens to its dependents', async (t) => {
  const owner = objectOf(owners, 'owner')
  const listed = numbers.map((number) => objectOf(parts, `listed-${number}`, { ownerReferences: [by(owners, 'owner')] }))
  const world = collect(t, { objects: [[owners, owner], ...listed.map((part): [ResourceType, KubernetesObject] => [parts, part])] })
  await watching(world, owners, parts, nodes)
  const late = objectOf(parts, 'late', { ownerReferences: [by(owners, 'owner')] })
  world.send('ADDED', parts, late)
  for (const part of [late, ...listed]) {
    world.send('MODIFIED', parts, changed(part, { labels: { a: 'b' } }))
    world.send('MODIFIED', parts, changed(part, { ownerReferences: [by(owners, 'owner', { blockOwnerDeletion: true })] }))
    world.send('MODIFIED', parts, changed(part, { finalizers: ['x.io/a'] }))
    world.send('DELETED', parts, newer(part))
  }
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, [])
})

t.test('a change that does not concern owners or the deletion does not cause requests, even if the owner is missing', async (t) => {
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone')] })
  const world = collect(t, { objects: [[parts, part]] })
  await world.written(1)
  t.strictSame(world.reads, ['owners gone'])
  world.send('MODIFIED', parts, changed(part, { labels: { a: 'b' } }))
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, ['owners gone'])
})

t.test('an owner in foreground deletion is read, because the graph may be outdated', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion', 'x.io/a'))
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner')] })
  const world = collect(t, { objects: [[owners, owner]] })
  await world.written(1)
  // The owner no longer waits for its dependents, but the watch has not sent this change yet.
  world.store(owners, changed(owner, { finalizers: ['x.io/a'] }))
  world.send('ADDED', parts, part)
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, ['owners owner'])
})

t.test('a missing owner is read once for all its dependents, and again after a restore', async (t) => {
  const dependent = (number: number): KubernetesObject => objectOf(parts, `part-${number}`, { ownerReferences: [by(owners, 'owner')] })
  const owner = objectOf(owners, 'owner')
  const world = collect(t, {
    objects: [[owners, owner], ...numbers.map((number): [ResourceType, KubernetesObject] => [parts, dependent(number)])],
  })
  await watching(world, owners, parts, nodes)
  world.send('DELETED', owners, newer(owner))
  await world.written(numbers.length)
  t.ok(world.reads.length <= 4, 'one request of each worker')
  world.reads.length = 0
  world.beforeRestore()
  world.store(owners, owner)
  world.send('ADDED', parts, dependent(99))
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, ['owners owner'])
})

t.test('an owner that no watch has sent is read until it is observed or absent', async (t) => {
  const world = collect(t)
  await watching(world, owners, parts, nodes)
  const [first, second] = [objectOf(owners, 'first'), objectOf(owners, 'second')]
  for (const owner of [first, second]) {
    const name = owner.metadata.name
    world.store(owners, owner)
    world.send('ADDED', parts, objectOf(parts, `of-${name}`, { ownerReferences: [by(owners, name)] }))
  }
  t.ok(await world.isQuiet())
  t.strictSame(world.reads.splice(0).sort(), ['owners first', 'owners second'])
  world.send('ADDED', owners, first)
  await world.clock.advance(5)
  t.ok(await world.isQuiet())
  t.strictSame(world.reads.splice(0), ['owners second'])
  world.remove(owners, second)
  await world.clock.advance(10)
  t.match(await world.written(1), [/^delete parts of-second/])
  world.reads.length = 0
  await world.clock.advance(1_000)
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, [])
})

t.test('an object is deleted when the type of its missing owner is served at last', async (t) => {
  const part = objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone')] })
  const world = collect(t, { objects: [[parts, part]], types: [parts, nodes] })
  await watching(world, parts, nodes)
  t.ok(await world.isQuiet())
  world.serve(owners, parts, nodes)
  await world.clock.advance(1_000)
  t.match(await world.written(1), [/^delete parts part/])
})

t.test('a dependent that appears while its owner is in foreground deletion is deleted', async (t) => {
  const owner = objectOf(owners, 'owner', deleted('foregroundDeletion'))
  const blocking = by(owners, 'owner', { blockOwnerDeletion: true })
  const first = objectOf(parts, 'first', { ownerReferences: [blocking], finalizers: ['x.io/a'] })
  const world = collect(t, {
    objects: [
      [owners, owner],
      [parts, first],
    ],
  })
  t.match(await world.written(1), [/^delete parts first/])
  world.send('MODIFIED', parts, changed(first, deleted('x.io/a')))
  world.send('ADDED', parts, objectOf(parts, 'late', { ownerReferences: [blocking] }))
  t.match(await world.written(1), [/^delete parts late/])
})

t.test('an owner that is listed later than its dependents is not read', async (t) => {
  let unlisted: Error | undefined = new Error('not yet')
  const world = collect(t, {
    objects: [
      [owners, objectOf(owners, 'owner')],
      [parts, objectOf(parts, 'part', { ownerReferences: [by(owners, 'owner')] })],
    ],
    failing: (method, type) => (method === 'list' && type === owners ? unlisted : undefined),
  })
  await watching(world, parts, nodes)
  t.ok(await world.isQuiet())
  unlisted = undefined
  await until('the owners are listed', async () => {
    await world.clock.advance(1_000)
    return world.watches(owners).length > 0
  })
  t.ok(await world.isQuiet())
  t.strictSame(world.reads, [])
})

t.test('the garbage collector starts after 30 seconds, even if a type cannot be listed', async (t) => {
  const world = collect(t, {
    objects: [[parts, objectOf(parts, 'part', { ownerReferences: [by(owners, 'gone')] })]],
    failing: (method, type) => (method === 'list' && type === nodes ? new Error('broken') : undefined),
  })
  await watching(world, owners, parts)
  await world.clock.advance(29_000)
  t.ok(await world.isQuiet())
  await world.clock.advance(1_000)
  t.match(await world.written(1), [/^delete parts part/])
})
