import t from 'tap'
import { pod as podType } from '../../../../src/api/builtin.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import type { ReconcileContext } from '../../../../src/controller/reconciler.ts'
import type { Selecting } from '../../../../src/devcluster/controllers/workloads/dependents.ts'
import { claimDependents, podsByController } from '../../../../src/devcluster/controllers/workloads/dependents.ts'
import { FakeCache } from '../../../support/controller/fakes.ts'
import { apiError, conflict, notFound, objectOf, podOf, time } from '../../../support/devcluster/scripted-controller.ts'

const labels = { app: 'web' }
const ownerFields = { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector: { matchLabels: labels } } }
const owner = objectOf('web', ownerFields) as Selecting
const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true, blockOwnerDeletion: true }
const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other' }
const podWith = (name: string, metadata: object): KubernetesObject => podOf(name, {}, {}, { labels, ...metadata })

/**
 * Claims the Pods in `pods` that belong to `by`. Returns the names of the claimed Pods, and the patches, keyed by the names of the Pods.
 */
async function claim(pods: readonly KubernetesObject[], { by = owner, error }: { by?: Selecting; error?: Error } = {}) {
  const cache = new FakeCache()
  for (const pod of pods) cache.of(podType).set(pod)
  const patches: Record<string, unknown> = {}
  const client = {
    patch(_type: unknown, { name }: { name: string }, patch: object) {
      patches[name] = patch
      return error === undefined ? Promise.resolve({ metadata: { name } }) : Promise.reject(error)
    },
  }
  const found = await claimDependents(podsByController, by, { cache, client } as unknown as ReconcileContext)
  return { names: found.map(({ metadata }) => metadata.name), patches }
}

t.test('a Pod is adopted and released only in the state in which the cache contains it', async (t) => {
  const own = podWith('own', { ownerReferences: [reference] })
  const free = podWith('free', { ownerReferences: [other] })
  const left = podWith('left', { labels: {}, ownerReferences: [other, reference] })
  const stateOf = ({ metadata: { uid, resourceVersion } }: KubernetesObject): object => ({ uid, resourceVersion })
  t.strictSame(await claim([own, free, left]), {
    names: ['own', 'free'],
    patches: {
      free: { metadata: { ...stateOf(free), ownerReferences: [other, reference] } },
      left: { metadata: { ...stateOf(left), ownerReferences: [other] } },
    },
  })
})

t.test('a Pod that has changed meanwhile is not adopted, and other errors are thrown', async (t) => {
  const free = podWith('free', {})
  for (const error of [notFound, conflict, apiError(422, 'Invalid')]) t.strictSame((await claim([free], { error })).names, [])
  const failed = apiError(500, 'InternalError')
  await t.rejects(claim([free], { error: failed }), failed)
})

t.test('neither a terminating Pod nor the Pod of another owner is adopted', async (t) => {
  const terminating = podWith('terminating', { deletionTimestamp: time })
  const controlled = podWith('controlled', { ownerReferences: [{ ...reference, uid: 'another' }] })
  t.strictSame(await claim([terminating, controlled]), { names: [], patches: {} })
})

t.test('an owner that is being deleted neither adopts nor releases', async (t) => {
  const by = objectOf('web', ownerFields, { deletionTimestamp: time }) as Selecting
  const pods = [
    podWith('own', { ownerReferences: [reference] }),
    podWith('free', {}),
    podWith('left', { labels: {}, ownerReferences: [reference] }),
  ]
  t.strictSame(await claim(pods, { by }), { names: ['own'], patches: {} })
})
