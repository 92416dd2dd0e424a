/** Tests of what the scheduler remembers between two reconciles, and of the changes that wake a waiting Pod. */
import t from 'tap'
import { node as nodeType, pod as podType } from '../../../../src/api/builtin.ts'
import { scheduler } from '../../../../src/devcluster/controllers/scheduler/scheduler.ts'
import { objectOf, podOf, quiet, runScripted } from '../../../support/devcluster/scripted-controller.ts'

const nodeFor = (pods: string) => objectOf('n1', { status: { allocatable: { pods } } }, { namespace: undefined })
/** A node with room for one Pod. */
const smallNode = nodeFor('1')
const bindingOf = (name: string): unknown[] => ['raw', `/api/v1/namespaces/ns/pods/${name}/binding`, { method: 'POST' }]
const unschedulable = (name: string): unknown[] => [
  'patchStatus',
  'pods',
  { name },
  { status: { conditions: [{ type: 'PodScheduled', status: 'False' }] } },
]

t.test('a Pod that fits on no node is bound when the Pod on the node has ended', async (t) => {
  const world = runScripted(t, () => scheduler())
  world.set(nodeType, smallNode)
  world.set(podType, podOf('first', { nodeName: 'n1' }), podOf('second'))
  t.match(await world.take(1), [unschedulable('second')])
  await quiet()
  t.strictSame(world.asked, [])
  world.set(podType, podOf('first', { nodeName: 'n1' }, { status: { phase: 'Succeeded' } }))
  t.match(await world.take(1), [bindingOf('second')])
})

t.test('a Pod that was just bound takes its place on the node before the cache contains the binding', async (t) => {
  const world = runScripted(t, () => scheduler())
  world.set(nodeType, smallNode)
  world.set(podType, podOf('first'), podOf('second'))
  t.match(await world.take(2), [bindingOf('first'), unschedulable('second')])
  world.set(podType, podOf('first', {}, {}, { labels: { changed: 'true' } }))
  await quiet()
  t.strictSame(world.asked, [], 'and is not bound again')
})

t.test('a Pod takes one place on its node when the cache contains its binding', async (t) => {
  const world = runScripted(t, () => scheduler())
  world.set(nodeType, nodeFor('2'))
  world.set(podType, podOf('first'))
  t.match(await world.take(1), [bindingOf('first')])
  world.set(podType, podOf('second'), podOf('first', { nodeName: 'n1' }))
  t.match(await world.take(1), [bindingOf('second')])
})

t.test('a Pod that replaces a bound one with the same name is bound, too', async (t) => {
  const world = runScripted(t, () => scheduler())
  world.set(nodeType, smallNode)
  world.set(podType, podOf('web'))
  t.match(await world.take(1), [bindingOf('web')])
  world.set(podType, podOf('web', {}, {}, { uid: 'other' }))
  t.match(await world.take(1), [['raw', '/api/v1/namespaces/ns/pods/web/binding', { body: { metadata: { uid: 'other' } } }]])
})

t.test('the delay of a Pod does not begin with the Pod that had its name before', async (t) => {
  const world = runScripted(t, () => scheduler({ scheduleMs: 1000 }))
  world.set(nodeType, smallNode)
  world.set(podType, podOf('web'))
  await quiet()
  await world.clock.advance(600)
  world.set(podType, podOf('web', {}, {}, { uid: 'other' }))
  await quiet()
  await world.clock.advance(999)
  await quiet()
  t.strictSame(world.asked, [])
  await world.clock.advance(1)
  t.match(await world.take(1), [bindingOf('web')])
})
