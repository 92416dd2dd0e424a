/** Tests of StatefulSets on a fake clock. Random Pods are deleted, and the StatefulSets are scaled and updated at random times. */
import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import { pod as podType } from '../../../../../src/api/builtin.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { isNotFound } from '../../../../../src/client/api-error.ts'
import { statefulSetController } from '../../../../../src/devcluster/controllers/workloads/stateful-set/stateful-set.ts'
import { fc } from '../../../../support/property.ts'
import type { SimulatedCluster } from '../../../../support/workloads/simulated-cluster.ts'
import { namespace, simulatedCluster } from '../../../../support/workloads/simulated-cluster.ts'

const key = { namespace, name: 'db' }
const runs = 40
t.setTimeout(120_000)

type Change =
  | { readonly kind: 'delete'; readonly ordinal: number; readonly isForced: boolean }
  | { readonly kind: 'scale'; readonly replicas: number }
  | { readonly kind: 'roll'; readonly image: number }
  | { readonly kind: 'wait'; readonly ms: number }

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), ordinal: fc.nat(4), isForced: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('scale' as const), replicas: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('roll' as const), image: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(12_000) }) },
)

for (const podManagementPolicy of ['OrderedReady', 'Parallel'])
  t.test(`${podManagementPolicy}: no ordinal has two Pods, and the wanted state is reached`, async (t) => {
    const property = fc.asyncProperty(fc.array(change, { maxLength: 15 }), async (changes) => {
      const cluster = await simulatedCluster(t, {
        now: '2026-01-01T00:00:00Z',
        controllers: [statefulSetController()],
        types: [apps.statefulSet, apps.controllerRevision],
      })
      try {
        await play(cluster, podManagementPolicy, changes)
      } finally {
        await cluster.stop()
      }
    })
    await fc.assert(property, { numRuns: runs })
  })

async function play(cluster: SimulatedCluster, podManagementPolicy: string, changes: readonly Change[]): Promise<void> {
  const { client, clock, settle, advanceTo } = cluster
  let wanted = { replicas: 3, image: 0 }
  await client.create(apps.statefulSet, {
    metadata: key,
    spec: {
      replicas: wanted.replicas,
      serviceName: 'db',
      podManagementPolicy: podManagementPolicy as 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template: templateOf(wanted.image),
    },
  })
  const observer = observe(cluster, podManagementPolicy === 'OrderedReady')
  for (const one of changes) {
    if (one.kind === 'wait') await advanceTo(clock.now() + one.ms)
    else observer.isDisturbed = true
    if (one.kind === 'delete') await deletePod(cluster, one.ordinal, one.isForced)
    if (one.kind === 'scale') await client.patch(apps.statefulSet, key, { spec: { replicas: one.replicas } })
    if (one.kind === 'roll') await client.patch(apps.statefulSet, key, { spec: { template: templateOf(one.image) } })
    if (one.kind === 'scale') wanted = { ...wanted, replicas: one.replicas }
    if (one.kind === 'roll') wanted = { ...wanted, image: one.image }
    await settle()
    observer.isDisturbed = false
  }
  await advanceTo(clock.now() + 600_000)
  const { items } = await client.list(podType, { namespace })
  const found = items.toSorted((a, b) => ordinalOf(a) - ordinalOf(b)).map((pod) => [pod.metadata.name, imageOf(pod), isReady(pod)])
  const expected = Array.from({ length: wanted.replicas }, (_, ordinal) => [`db-${ordinal}`, `example.com/db:${wanted.image}`, true])
  equal(found, expected, 'the Pods at the end')
  const { status, metadata } = await client.get(apps.statefulSet, key)
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status ?? {}
  const counts = [replicas, readyReplicas, updatedReplicas]
  equal(
    counts,
    counts.map(() => wanted.replicas),
    'the counters at the end',
  )
  equal(status?.observedGeneration, metadata.generation, 'the observed generation')
  if (wanted.replicas > 0) equal(currentRevision, updateRevision, 'the revision')
  equal(observer.problems, [], 'the Pods meanwhile')
}

/** Returns the template of a Pod that takes two seconds to be ready, and three seconds to stop. */
function templateOf(image: number): apps.StatefulSetSpec['template'] {
  return {
    metadata: { labels: { app: 'db' }, annotations: { 'simulate.proreus.dev/ready-delay': '2s', 'simulate.proreus.dev/stop-delay': '3s' } },
    spec: { containers: [{ name: 'main', image: `example.com/db:${image}` }] },
  }
}

async function deletePod({ client }: SimulatedCluster, ordinal: number, isForced: boolean): Promise<void> {
  try {
    await client.delete(podType, { namespace, name: `db-${ordinal}` }, isForced ? { gracePeriodSeconds: 0 } : {})
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

interface Observer {
  readonly problems: readonly string[]
  /** Set to true before the test makes a change. Set to false when the controller has certainly seen the change. */
  isDisturbed: boolean
}

/** Checks each Pod when it is created and whenever it changes. */
function observe({ client }: SimulatedCluster, isOrdered: boolean): Observer {
  const problems: string[] = []
  const observer: Observer = { problems, isDisturbed: false }
  const pods = new Map<number, Pod>()
  const read = async (): Promise<void> => {
    for await (const { type, object } of client.watch(podType, { namespace })) {
      if (!('spec' in object)) continue
      const ordinal = ordinalOf(object)
      const before = pods.get(ordinal)
      if (type !== 'DELETED' && before !== undefined && before.metadata.uid !== object.metadata.uid)
        problems.push(`${object.metadata.name} exists twice`)
      if (type === 'DELETED') {
        if (before?.metadata.uid === object.metadata.uid) pods.delete(ordinal)
        continue
      }
      if (type === 'ADDED' && isOrdered && !observer.isDisturbed) {
        const lower = Array.from({ length: ordinal }, (_, index) => pods.get(index))
        if (!lower.every((pod) => pod !== undefined && isReady(pod) && pod.metadata.deletionTimestamp === undefined))
          problems.push(`${object.metadata.name} was created before the Pods with lower ordinals were ready`)
      }
      pods.set(ordinal, object)
    }
  }
  read().catch((error: unknown) => problems.push(String(error)))
  return observer
}

function ordinalOf({ metadata }: Pod): number {
  return Number(metadata.labels?.['apps.kubernetes.io/pod-index'])
}

function imageOf({ spec }: Pod): string | undefined {
  return spec?.containers[0]?.image
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

function equal(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: found ${a}, expected ${b}`)
}
