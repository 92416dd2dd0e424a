import { deepStrictEqual, ok } from 'node:assert/strict'
import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import type { apps } from '../../../../../src/api/kubernetes/apps.ts'
import type { ReconcileContext } from '../../../../../src/controller/reconciler.ts'
import { ordinalOf } from '../../../../../src/devcluster/controllers/workloads/stateful-set/ordinals.ts'
import type { PodSync } from '../../../../../src/devcluster/controllers/workloads/stateful-set/sync-pods.ts'
import { podToUpdate, syncPods } from '../../../../../src/devcluster/controllers/workloads/stateful-set/sync-pods.ts'
import { fc } from '../../../../support/property.ts'
import { statefulPodWith, statefulSetWith } from '../../../../support/workloads/objects.ts'

const now = 10_000
const ready = { readySince: 0 }
/** A context without claims. */
const context = { cache: { get: () => undefined } } as unknown as ReconcileContext

/**
 * A StatefulSet and its Pods in memory. The tests need no API server. A deleted Pod stays in `pods` with a deletionTimestamp. `settle` and
 * the event `gone` remove such Pods.
 */
class World {
  set: apps.StatefulSet
  revision = 'r1'
  readonly pods = new Map<number, Pod>()
  /** The changes that the last step has made, e.g. `create 1`. */
  steps: string[] = []

  constructor(spec: object) {
    this.set = statefulSetWith(spec)
  }

  change(spec: object): void {
    this.set = { ...this.set, spec: { ...this.set.spec!, ...spec } }
  }

  put(ordinal: number, traits: Parameters<typeof statefulPodWith>[1]): void {
    const revision = this.pods.get(ordinal)?.metadata.labels?.['controller-revision-hash']
    this.pods.set(ordinal, statefulPodWith(ordinal, { ...(revision !== undefined && { revision }), ...traits }))
  }

  begin(ordinal: number): void {
    this.put(ordinal, { phase: 'Running', ...ready, isDeleted: true })
  }

  /** Removes every Pod that is being deleted. All other Pods become running and ready. */
  settle(): void {
    for (const [ordinal, { metadata }] of this.pods) {
      if (metadata.deletionTimestamp !== undefined) this.pods.delete(ordinal)
      else this.put(ordinal, ready)
    }
  }

  async sync(): Promise<void> {
    this.steps = []
    const writes: PodSync['writes'] = {
      create: (_pod, ordinal) => {
        if (this.pods.has(ordinal)) return Promise.reject(new Error(`there is a Pod ${ordinal}`))
        this.steps.push(`create ${ordinal}`)
        this.put(ordinal, { phase: 'Pending', revision: this.revision })
        return Promise.resolve()
      },
      delete: (pod) => {
        this.steps.push(`delete ${ordinalOf(pod)!}`)
        this.begin(ordinalOf(pod)!)
        return Promise.resolve()
      },
      repair: () => Promise.resolve(),
      completeClaims: () => Promise.resolve(),
      applyRetention: () => Promise.resolve(),
      waitForClaim: () => undefined,
    }
    const pods = [...this.pods.values()]
    await syncPods({ set: this.set, pods, writes, newPod: () => ({}) as never, updateRevision: this.revision, context, now })
  }
}

const ordinal = fc.nat(4)
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), ordinal }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('gone' as const), ordinal }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('ready' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('not ready' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('fail' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('scale' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('roll out' as const), ordinal }) },
)

function happen(world: World, { type, ordinal }: { readonly type: string; readonly ordinal: number }): void {
  const pod = world.pods.get(ordinal)
  const isDeleted = pod?.metadata.deletionTimestamp !== undefined
  if (type === 'scale') world.change({ replicas: ordinal })
  else if (type === 'roll out') world.revision = `r${ordinal}`
  else if (pod === undefined) return
  else if (type === 'gone' && isDeleted) world.pods.delete(ordinal)
  else if (type === 'delete') world.begin(ordinal)
  else if (!isDeleted && type === 'ready') world.put(ordinal, ready)
  else if (!isDeleted && type === 'not ready') world.put(ordinal, { phase: 'Running' })
  else if (!isDeleted && type === 'fail') world.put(ordinal, { phase: 'Failed' })
}

const isUsable = (pod: Pod | undefined): boolean =>
  pod?.metadata.deletionTimestamp === undefined && (pod?.status?.conditions?.length ?? 0) > 0 && pod?.status?.phase === 'Running'

/** Throws if a step violates the order that OrderedReady requires. `before` are the Pods before the step. */
function checkOrder({ set, steps }: World, before: ReadonlyMap<number, Pod>): void {
  if (steps.length > 1) throw new Error(`two steps at once: ${steps.join()}`)
  const [verb, text] = (steps[0] ?? '').split(' ')
  const target = Number(text)
  const lower = Array.from({ length: Math.min(target, set.spec!.replicas!) }, (_, index) => before.get(index))
  if (verb === 'create' && !lower.every(isUsable)) throw new Error(`${steps[0]} before a lower one is ready`)
  if (verb !== 'delete' || target < set.spec!.replicas!) return
  const higher = [...before.keys()].filter((one) => one > target)
  if (!lower.every(isUsable)) throw new Error(`${steps[0]} although a lower one is not ready`)
  if (higher.length > 0) throw new Error(`${steps[0]} before a higher one`)
}

for (const podManagementPolicy of ['OrderedReady', 'Parallel'])
  t.test(`under random events there is one Pod of an ordinal, in order, and in the end all are ready: ${podManagementPolicy}`, async () => {
    const property = fc.asyncProperty(fc.array(event, { maxLength: 60 }), fc.nat(4), async (events, replicas) => {
      const world = new World({ replicas, podManagementPolicy })
      for (const each of events) {
        happen(world, each)
        const before = new Map(world.pods)
        await world.sync()
        if (podManagementPolicy === 'OrderedReady') checkOrder(world, before)
      }
      for (let round = 0; round < 50; round += 1) {
        world.settle()
        await world.sync()
      }
      const wanted = Array.from({ length: world.set.spec!.replicas! }, (_, index) => index)
      const isUpdated = ({ metadata }: Pod): boolean => metadata.labels?.['controller-revision-hash'] === world.revision
      deepStrictEqual(world.steps, [])
      deepStrictEqual([...world.pods.keys()].toSorted(), wanted)
      ok([...world.pods.values()].every((pod) => isUsable(pod) && isUpdated(pod)))
    })
    await fc.assert(property, { numRuns: 300 })
  })

t.test('the highest Pod of another revision is updated, unless a higher one is not available', (t) => {
  const old = { ...ready, revision: 'old' }
  const cases: readonly (readonly [string, readonly Pod[], object, number | undefined])[] = [
    ['all old', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2, old)], {}, 2],
    ['one new', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2, ready)], {}, 1],
    ['a new one is not ready', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2)], {}, undefined],
    ['an old one is not ready', [statefulPodWith(0, old), statefulPodWith(1, { revision: 'old' }), statefulPodWith(2, ready)], {}, 1],
    ['one ends', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2, { ...old, isDeleted: true })], {}, undefined],
    ['one is missing', [statefulPodWith(0, old), statefulPodWith(1, old)], {}, undefined],
    ['partition', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2, ready)], { partition: 2 }, undefined],
    ['partition beyond', [statefulPodWith(0, old), statefulPodWith(1, old), statefulPodWith(2, old)], { partition: 9 }, undefined],
    ['all new', [statefulPodWith(0, ready), statefulPodWith(1, ready), statefulPodWith(2, ready)], {}, undefined],
  ]
  for (const [name, pods, rollingUpdate, expected] of cases) {
    const set = statefulSetWith({ replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
    const found = podToUpdate(set, new Map(pods.map((pod) => [ordinalOf(pod), pod])), 'new', now)
    t.equal(found && ordinalOf(found), expected, name)
  }
  t.end()
})

t.test('with the policy Parallel, all Pods of a step are written', async (t) => {
  const world = new World({ replicas: 3, podManagementPolicy: 'Parallel' })
  await world.sync()
  t.strictSame(world.steps, ['create 0', 'create 1', 'create 2'])
  world.change({ replicas: 1 })
  await world.sync()
  t.strictSame(world.steps, ['delete 2', 'delete 1'])
})

t.test('with the strategy OnDelete, nothing is updated', async (t) => {
  const world = new World({ replicas: 1, updateStrategy: { type: 'OnDelete' } })
  await world.sync()
  world.settle()
  world.revision = 'r2'
  await world.sync()
  t.strictSame(world.steps, [])
})
