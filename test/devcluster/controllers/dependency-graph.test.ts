/** Tests of the graph of owners and dependents. The graph also stores the UIDs of deleted owners. */
import t from 'tap'
import type { Test } from 'tap'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { formatKey } from '../../../src/api/object.ts'
import type { Client, WatchOptions } from '../../../src/client/client.ts'
import { DependencyGraph } from '../../../src/devcluster/controllers/dependency-graph.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { ScriptedWatch } from '../../support/client/fake-cluster.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

const typeOf = (kind: string, namespaced = true): ResourceType =>
  resourceType({ group: 'g.io', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced })
const [owners, parts, nodes] = [typeOf('Owner'), typeOf('Part'), typeOf('Node', false)]
const by = (kind: string, name: string): object => ({ apiVersion: 'g.io/v1', kind, name, uid: name })

function objectOf({ kind, namespaced }: ResourceType, name: string, metadata: object = {}): KubernetesObject {
  const own = { name, ...(namespaced ? { namespace: 'ns' } : {}), uid: name, resourceVersion: '1', ...metadata }
  return { apiVersion: 'g.io/v1', kind, metadata: own } as unknown as KubernetesObject
}

/** Starts a graph in a cluster with these objects. `changed` lists the objects that the graph reports after its start. */
async function run(t: Test, objects: readonly (readonly [ResourceType, KubernetesObject])[]) {
  const stop = new AbortController()
  const watches = new Map<string, ScriptedWatch>()
  const changed: string[] = []
  const client = {
    list: async (type: ResourceType) => ({
      metadata: { resourceVersion: '1' },
      items: objects.filter(([other]) => other === type).map(([, object]) => object),
    }),
    async *watch(type: ResourceType, options: WatchOptions) {
      const watch = new ScriptedWatch(options)
      watches.set(type.plural, watch)
      options.onOpen?.()
      yield* watch.events()
    },
  } as unknown as Client
  const types = [owners, parts, nodes]
  const graph = new DependencyGraph({
    client,
    clock: new FakeClock(),
    logger: recordingLogger().logger,
    source: {
      types: () => types,
      byKind: (group, kind) => types.find((type) => type.group === group && type.kind === kind),
      onChange: () => () => undefined,
    },
    changed: (type, key) => void changed.push(`${type.kind} ${formatKey(key)}`),
  })
  const ended = graph.run(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await ended
  })
  await until('it watches', () => watches.size === types.length)
  changed.length = 0
  return { graph, changed, watch: (type: ResourceType) => watches.get(type.plural)! }
}

t.test('the deletions of the last 500 owners are remembered', async (t) => {
  const names = Array.from({ length: 501 }, (_, index) => `owner-${index}`)
  const { graph, watch } = await run(t, [
    ...names.map((name) => [owners, objectOf(owners, name)] as const),
    [owners, objectOf(owners, 'without')],
    [parts, objectOf(parts, 'part', { ownerReferences: names.map((name) => by('Owner', name)) })],
  ])
  t.equal(graph.isGone('owner-0'), false)
  for (const name of names.slice(0, -1)) watch(owners).send('DELETED', objectOf(owners, name))
  await until('the deletions arrive', () => graph.isGone('owner-499'))
  t.equal(graph.isGone('owner-0'), true)
  watch(owners).send('DELETED', objectOf(owners, 'without'))
  watch(owners).send('DELETED', objectOf(owners, 'owner-500'))
  await until('the deletion arrives', () => graph.isGone('owner-500'))
  t.equal(graph.isGone('without'), false, 'an object without dependents is not remembered')
  t.strictSame([graph.isGone('owner-0'), graph.isGone('owner-1')], [false, true])
  graph.forgetDeletions()
  t.equal(graph.isGone('owner-1'), false)
})

t.test('the deletion of a dependent reports its owners in foreground deletion, except those of types that are not served', async (t) => {
  const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] }
  const references = [
    by('Robot', 'r'),
    by('Owner', 'o'),
    by('Owner', 'kept'),
    by('Owner', 'former'),
    by('Owner', 'unknown'),
    by('Node', 'n'),
  ]
  const part = objectOf(parts, 'part', { ownerReferences: references })
  const { changed, watch } = await run(t, [
    [parts, part],
    [owners, objectOf(owners, 'o', deletion)],
    [owners, objectOf(owners, 'kept')],
    [owners, objectOf(owners, 'former', { ...deletion, uid: 'another' })],
    [nodes, objectOf(nodes, 'n', deletion)],
  ])
  watch(parts).send('DELETED', part)
  await until('the last owner is reported', () => changed.includes('Node n'))
  t.strictSame(changed, ['Owner ns/o', 'Node n'])
})
