import t from 'tap'
import type { apps } from '../../../../../src/api/kubernetes/apps.ts'
import {
  newReplicaSetSize,
  oldReplicaSetSizes,
  proportionalSizes,
  rollingLimits,
} from '../../../../../src/devcluster/controllers/workloads/deployment/replica-counts.ts'

interface Numbers {
  readonly size: number
  readonly available?: number
  readonly most?: number
}

function deploymentOf(replicas: number, maxSurge: number | string, maxUnavailable: number | string): apps.Deployment {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } }
  return { metadata: { name: 'web' }, spec: { replicas, strategy }, status: {} } as unknown as apps.Deployment
}

/** Returns ReplicaSets with the names `0`, `1` and so on. Each is created one second after the previous one. */
function replicaSetsOf(...numbers: readonly Numbers[]): apps.ReplicaSet[] {
  return numbers.map(
    ({ size, available = size, most }, index) =>
      ({
        metadata: {
          name: String(index),
          creationTimestamp: new Date(index * 1000).toISOString(),
          annotations: most === undefined ? {} : { 'deployment.kubernetes.io/max-replicas': String(most) },
        },
        spec: { replicas: size },
        status: { replicas: size, availableReplicas: available },
      }) as unknown as apps.ReplicaSet,
  )
}

const shown = (sizes: readonly { replicaSet: { readonly metadata: { readonly name: string } }; replicas: number }[]): object =>
  Object.fromEntries(sizes.map(({ replicaSet, replicas }) => [replicaSet.metadata.name, replicas]))

t.test('surge is rounded up, unavailable Pods are rounded down, and one of both is at least 1', async (t) => {
  const cases = [
    [10, '25%', '25%', 3, 2],
    [3, '25%', '25%', 1, 0],
    [2, 0, '1%', 0, 1],
    [1, '1%', '25%', 1, 0],
    [2, 0, 5, 0, 2],
    [0, '25%', '25%', 0, 0],
    [5, 2, 1, 2, 1],
  ] as const
  for (const [replicas, maxSurge, maxUnavailable, surge, unavailable] of cases)
    t.strictSame(rollingLimits(deploymentOf(replicas, maxSurge, maxUnavailable)), { surge, unavailable }, `${replicas} ${maxSurge}`)
  const recreated = { spec: { replicas: 3, strategy: { type: 'Recreate' } } } as apps.Deployment
  t.strictSame(rollingLimits(recreated), { surge: 0, unavailable: 0 })
})

t.test('a new ReplicaSet grows as far as the surge permits', async (t) => {
  const size = (replicas: number, surge: number, old: number, current: number): number => {
    const all = replicaSetsOf({ size: old }, { size: current })
    return newReplicaSetSize(deploymentOf(replicas, surge, 0), all, current)
  }
  t.equal(size(10, 3, 10, 0), 3)
  t.equal(size(10, 3, 13, 0), 0)
  t.equal(size(10, 3, 8, 3), 5)
  t.equal(size(10, 30, 8, 3), 10)
  t.equal(size(4, 1, 0, 9), 4)
  t.equal(size(4, 1, 9, 1), 1)
})

t.test('old ReplicaSets shrink while enough Pods are available, Pods that are not available first', async (t) => {
  const sizes = (newest: Numbers, ...old: Numbers[]): object => {
    const [last, ...others] = replicaSetsOf(...[newest, ...old])
    return shown(oldReplicaSetSizes(deploymentOf(10, 3, 2), last!, others))
  }
  t.strictSame(sizes({ size: 3, available: 0 }, { size: 10 }), { 1: 8 })
  t.strictSame(sizes({ size: 5, available: 0 }, { size: 8 }), {})
  t.strictSame(sizes({ size: 5, available: 5 }, { size: 8 }), { 1: 3 })
  t.strictSame(sizes({ size: 10 }, { size: 1 }, { size: 2 }), { 1: 0, 2: 0 })
  t.strictSame(sizes({ size: 5, available: 0 }, { size: 4 }, { size: 4, available: 0 }), {})
  t.strictSame(sizes({ size: 1, available: 0 }, { size: 8 }, { size: 4, available: 0 }), { 2: 0 })
})

t.test('a change of replicas is shared in proportion, and the largest ReplicaSet gets the rest', async (t) => {
  const sizes = (replicas: number, ...numbers: Numbers[]): object =>
    shown(proportionalSizes(deploymentOf(replicas, 0, 1), replicaSetsOf(...numbers)))
  t.strictSame(sizes(8, { size: 2, most: 4 }, { size: 2, most: 4 }), { 1: 4, 0: 4 })
  t.strictSame(sizes(20, { size: 5, most: 10 }, { size: 3, most: 10 }, { size: 2, most: 10 }), { 0: 10, 1: 6, 2: 4 })
  t.strictSame(sizes(5, { size: 5, most: 10 }, { size: 3, most: 10 }, { size: 2, most: 10 }), { 0: 2, 1: 2, 2: 1 })
  t.strictSame(sizes(0, { size: 5, most: 10 }, { size: 5, most: 10 }), { 0: 0, 1: 0 })
  t.strictSame(sizes(11, { size: 5, most: 10 }, { size: 5, most: 10 }), { 0: 5, 1: 6 })
  t.strictSame(sizes(9, { size: 5, most: 10 }, { size: 5, most: 10 }), { 0: 4, 1: 5 })
})
