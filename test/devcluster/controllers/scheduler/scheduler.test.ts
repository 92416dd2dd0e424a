/**
 * Tests of the scheduler:
 *
 * - the requests that the scheduler sends
 * - what the scheduler remembers from one reconcile to the next
 * - the changes that make the scheduler try again to schedule a waiting Pod
 */
import t from 'tap'
import { node as nodeType, pod as podType } from '../../../../src/api/builtin.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import type { ControllerDefinition } from '../../../../src/controller/builder.ts'
import { scheduler } from '../../../../src/devcluster/controllers/scheduler/scheduler.ts'
import { until } from '../../../../src/testing/until.ts'
import { apiError, conflict, notFound, objectOf, podOf, quiet, runScripted, time } from '../../../support/devcluster/scripted-controller.ts'

const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { pods: '10' } } }
const nodeOf = (name: string, fields: object = ready): KubernetesObject => objectOf(name, fields, { namespace: undefined })
const nodeFor = (pods: string): KubernetesObject => nodeOf('n1', { status: { allocatable: { pods } } })
/** A node with room for one Pod. */
const smallNode = nodeFor('1')
const bindingOf = (name: string): unknown[] => ['raw', `/api/v1/namespaces/ns/pods/${name}/binding`, { method: 'POST' }]
const unschedulable = (name: string): unknown[] => [
  'patchStatus',
  'pods',
  { name },
  { status: { conditions: [{ type: 'PodScheduled', status: 'False' }] } },
]

const schedule = (): ControllerDefinition => scheduler()

t.test('the scheduler binds a pending Pod to the node with the fewest Pods', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1'), nodeOf('n2'))
  world.set(podType, podOf('there', { nodeName: 'n1' }), podOf('a'))
  t.strictSame(await world.take(1), [
    [
      'raw',
      '/api/v1/namespaces/ns/pods/a/binding',
      {
        method: 'POST',
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a', namespace: 'ns', uid: 'uid-a' },
          target: { apiVersion: 'v1', kind: 'Node', name: 'n2' },
        },
        contentType: 'application/json',
      },
    ],
  ])
  t.strictSame(world.events, ['a Normal Scheduled: Successfully assigned ns/a to n2'])
})

t.test('the scheduler ignores Pods that are bound, deleted, gated, finished or for another scheduler', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1'))
  world.set(
    podType,
    podOf('bound', { nodeName: 'n1' }),
    podOf('deleted', {}, {}, { deletionTimestamp: time }),
    podOf('gated', { schedulingGates: [{ name: 'g' }] }),
    podOf('other', { schedulerName: 'mine' }),
    podOf('done', {}, { status: { phase: 'Succeeded' } }),
    podOf('own', { schedulerName: 'default-scheduler', schedulingGates: [] }, { status: { phase: 'Pending' } }),
  )
  const asked = await world.take(1)
  await quiet()
  t.match(asked, [['raw', '/api/v1/namespaces/ns/pods/own/binding', {}]])
  t.strictSame([asked.length, world.asked.length], [1, 0])
})

t.test('the scheduler ignores that a Pod was deleted or bound meanwhile', async (t) => {
  for (const error of [notFound, conflict]) {
    const world = runScripted(t, schedule, () => Promise.reject(error))
    world.set(nodeType, nodeOf('n1'))
    world.set(podType, podOf('a'))
    await world.take(1)
    await quiet()
    t.strictSame([world.events, world.log.filter(({ level }) => level === 'error')], [[], []])
  }
  const world = runScripted(t, schedule, () => Promise.reject(apiError(500, 'InternalError')))
  world.set(nodeType, nodeOf('n1'))
  world.set(podType, podOf('a'))
  await world.take(1)
  await until('it is tried again', async () => {
    await world.clock.advance(10)
    return world.asked.length > 0
  })
})

t.test('the scheduler reports once why a Pod fits on no node', async (t) => {
  const message =
    '0/1 nodes are available: 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1', { spec: { unschedulable: true }, ...ready }))
  const other = { type: 'Other', status: 'True' }
  const scheduled = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: time,
  }
  const status = (...conditions: object[]) => ({ status: { conditions } })
  world.set(podType, podOf('a', {}, status({ type: 'PodScheduled', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }, other)))
  const [[verb, plural, key, patch]] = (await world.take(1)) as [[string, string, object, object]]
  t.strictSame([verb, plural, patch], ['patchStatus', 'pods', { status: { conditions: [other, scheduled] } }])
  t.match(key, { name: 'a', namespace: 'ns' })
  t.strictSame(world.events, [`a Warning FailedScheduling: ${message}`])
  world.set(podType, podOf('b', {}, status(scheduled)))
  const since = '2020-01-01T00:00:00Z'
  world.set(podType, podOf('c', {}, status({ ...scheduled, message: 'x', lastTransitionTime: since })))
  t.match(await world.take(1), [
    ['patchStatus', 'pods', { name: 'c' }, { status: { conditions: [{ ...scheduled, lastTransitionTime: since }] } }],
  ])
  world.set(podType, podOf('d', {}, status({ ...scheduled, reason: 'x' })))
  t.equal((await world.take(1)).length, 1)
  world.set(nodeType, nodeOf('n2'))
  const bindings = await world.take(4)
  t.strictSame(
    bindings.map(([, path]) => path).sort(),
    ['a', 'b', 'c', 'd'].map((name) => `/api/v1/namespaces/ns/pods/${name}/binding`),
  )
})

t.test('a Pod that fits on no node is bound when the Pod on the node has ended', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, smallNode)
  world.set(podType, podOf('first', { nodeName: 'n1' }), podOf('second'))
  t.match(await world.take(1), [unschedulable('second')])
  await quiet()
  t.strictSame(world.asked, [])
  world.set(podType, podOf('first', { nodeName: 'n1' }, { status: { phase: 'Succeeded' } }))
  t.match(await world.take(1), [bindingOf('second')])
})

t.test('a Pod that was just bound takes its place on the node before the cache contains the binding', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, smallNode)
  world.set(podType, podOf('first'), podOf('second'))
  t.match(await world.take(2), [bindingOf('first'), unschedulable('second')])
  world.set(podType, podOf('first', {}, {}, { labels: { changed: 'true' } }))
  await quiet()
  t.strictSame(world.asked, [], 'and is not bound again')
})

t.test('a Pod takes one place on its node when the cache contains its binding', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeFor('2'))
  world.set(podType, podOf('first'))
  t.match(await world.take(1), [bindingOf('first')])
  world.set(podType, podOf('second'), podOf('first', { nodeName: 'n1' }))
  t.match(await world.take(1), [bindingOf('second')])
})

t.test('a Pod that replaces a bound one with the same name is bound, too', async (t) => {
  const world = runScripted(t, schedule)
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
