import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { formatKey } from '../../src/api/object.ts'
import type { Origin } from '../../src/cache/origin.ts'
import type { Client } from '../../src/client/client.ts'
import { EnqueueHandler } from '../../src/controller/enqueue.ts'
import type { Enqueue } from '../../src/controller/map-calls.ts'
import { WorkQueue } from '../../src/controller/queue.ts'
import type { ReconcileEnvironment } from '../../src/controller/running-reconcile.ts'
import { RunningReconciles } from '../../src/controller/running-reconciles.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { object } from '../support/client/fake-cluster.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })

interface World {
  readonly added: [key: string, priority: number][]
  readonly told: { readonly object: unknown; readonly origin: Origin | undefined }[]
  readonly deleted: unknown[][]
  readonly running: RunningReconciles
  /** Starts a reconcile. The returned function `end` ends the reconcile. */
  start(key: string): { readonly client: Client; readonly end: () => void }
}

function setUp(answer: unknown = object('child', 5)): World {
  const added: World['added'] = []
  const told: World['told'] = []
  const deleted: unknown[][] = []
  const cache = {
    written: (_type: unknown, written: unknown, origin?: Origin) => told.push({ object: written, origin }) > 0,
    stored: (type: unknown, key: unknown) => [type, key],
    deleted: (...parameters: unknown[]) => void deleted.push(parameters),
  }
  const queue = { add: (key: string, { priority = 0 } = {}) => void added.push([key, priority]) }
  const inner = { patch: () => Promise.resolve(answer), delete: () => Promise.resolve({ details: { uid: 'u' } }) } as unknown as Client
  const running = new RunningReconciles({ controller: 'web', writes: cache, client: inner } as unknown as ReconcileEnvironment, queue)
  return {
    added,
    told,
    deleted,
    running,
    start(key) {
      const reconcile = running.start(key)
      return { client: reconcile.client, end: () => running.end(reconcile) }
    },
  }
}

const patch = (client: Client): Promise<unknown> => client.patch(widget, { namespace: 'default', name: 'child' }, {})

t.test('the event of a response does not enqueue the reconcile that wrote, and enqueues all other keys', async (t) => {
  const { added, told, running, start } = setUp()
  const [a, b] = [start('default/a'), start('default/b')]
  await patch(a.client)
  t.strictSame(told[0]!.object, object('child', 5))
  const { origin } = told[0]!
  t.match(origin, { controller: 'web', key: 'default/a' })
  for (const key of ['default/a', 'default/b', 'default/c']) running.changed(key, 0, object('child', 5), origin)
  t.strictSame(added, [
    ['default/b', 0],
    ['default/c', 0],
  ])
  a.end()
  b.end()
  t.equal(added.length, 2)
  running.changed('default/a', 0, object('child', 5), origin)
  t.strictSame(added[2], ['default/a', 0], 'the reconcile has ended')
  const again = start('default/a')
  running.changed('default/a', 0, object('child', 5), origin)
  t.equal(added.length, 4, 'another reconcile of the same key')
  again.end()
})

t.test('an event that overtakes the response is held back, and dropped when the response shows that it is own', async (t) => {
  const { added, running, start } = setUp()
  const a = start('default/a')
  running.changed('default/a', 0, object('child', 5), 'unknown')
  t.strictSame(added, [])
  await patch(a.client)
  a.end()
  t.strictSame(added, [])
})

t.test('an event of another client that arrives during the reconcile enqueues the key at its end, with the highest priority', async (t) => {
  const { added, running, start } = setUp()
  const a = start('default/a')
  running.changed('default/a', 0, object('child', 4), 'unknown')
  running.changed('default/a', 10, object('child', 5), 'unknown')
  running.changed('default/a', 5, object('child', 4), 'unknown')
  running.changed('default/a', -1, object('child', 4), 'unknown')
  await patch(a.client)
  t.strictSame(added, [])
  a.end()
  t.strictSame(added, [['default/a', 5]])
})

t.test('a change that is certainly not own is enqueued at once, and so are events of keys that are not being reconciled', async (t) => {
  const { added, running, start } = setUp()
  const a = start('default/a')
  await patch(a.client)
  running.changed('default/a', 1, object('child', 5), undefined)
  running.changed('default/b', 2, object('child', 5), 'unknown')
  t.strictSame(added, [
    ['default/a', 1],
    ['default/b', 2],
  ])
  a.end()
  t.equal(added.length, 2)
})

t.test('at most 100 events are held back', async (t) => {
  const { added, running, start } = setUp()
  const a = start('default/a')
  for (let version = 1; version <= 101; version++) running.changed('default/a', 0, object('child', version), 'unknown')
  t.equal(added.length, 1)
  running.changed('default/a', 7, object('child', 100), 'unknown')
  t.equal(added.length, 1)
  a.end()
  t.strictSame(added[1], ['default/a', 7])
})

t.test('the cache gets deletions, and a response without metadata does not fail', async (t) => {
  const { told, deleted, start } = setUp({ kind: 'Status' })
  const a = start('default/a')
  await patch(a.client)
  t.equal(told.length, 1)
  await a.client.delete(widget, { name: 'child' })
  t.strictSame(deleted, [[widget, { name: 'child' }, 'u', [widget, { name: 'child' }]]])
  a.end()
})

t.test('a deletion enqueues the reconcile that deletes', async (t) => {
  const clock = new FakeClock()
  const queue = new WorkQueue<string>({ clock })
  const running = new RunningReconciles({ controller: 'web' } as ReconcileEnvironment, queue)
  const { logger } = recordingLogger()
  const map = ({ metadata: { namespace, name } }: { metadata: KubernetesObject['metadata'] }) => [{ namespace, name }]
  const enqueue: Enqueue = (key, { priority, newest, cause }) => running.changed(key, priority, newest, cause)
  const handler = new EnqueueHandler({ type: widget, map: map as never, predicates: [], enqueue, clock, logger })
  const reconcile = running.start('default/a')
  const got: string[] = []
  void queue.get().then((key) => got.push(key!))
  handler.added(object('a', 1), false, 'unknown')
  handler.updated(object('a', 2), object('a', 1), 'unknown')
  await setImmediate()
  t.strictSame(got, [])
  handler.deleted(object('a', 3))
  await setImmediate()
  t.strictSame(got, [formatKey({ namespace: 'default', name: 'a' })])
  running.end(reconcile)
})
