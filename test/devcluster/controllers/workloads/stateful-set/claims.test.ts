import t from 'tap'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { KubernetesObject } from '../../../../../src/api/object.ts'
import type { ReconcileContext } from '../../../../../src/controller/reconciler.ts'
import { Refusal } from '../../../../../src/devcluster/controllers/retry-refused.ts'
import { createClaims, isWaitingForClaims } from '../../../../../src/devcluster/controllers/workloads/stateful-set/claims.ts'
import { FakeCache } from '../../../../support/controller/fakes.ts'
import { exists, forbidden, objectOf, time } from '../../../../support/devcluster/scripted-controller.ts'
import { statefulSetWith } from '../../../../support/workloads/objects.ts'

const setWith = (whenScaled: string) =>
  statefulSetWith({
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled },
    selector: { matchLabels: { app: 'web' } },
    volumeClaimTemplates: ['data', 'logs'].map((name) => ({ metadata: { name }, spec: {} })),
  })
const set = setWith('Delete')

/** Returns a context whose cache contains `claims`. If `error` is given, each creation of a claim fails with this error. */
function contextWith(claims: readonly KubernetesObject[], error?: Error) {
  const cache = new FakeCache()
  for (const claim of claims) cache.of(core.persistentVolumeClaim).set(claim)
  const created: string[] = []
  const events: string[] = []
  const client = {
    create(_type: unknown, { metadata }: KubernetesObject) {
      created.push(metadata.name)
      return error === undefined ? Promise.resolve({}) : Promise.reject(error)
    },
  }
  const recorder = { event: (_object: unknown, _type: string, reason: string) => void events.push(reason) }
  return { context: { cache, client, events: recorder } as unknown as ReconcileContext, created, events }
}

t.test('a Pod waits until a claim that is being deleted is gone, while its other claims are created', async (t) => {
  const { context, created, events } = contextWith([objectOf('data-web-0', {}, { deletionTimestamp: time })])
  await t.rejects(createClaims(set, 0, context), new Refusal('pvc data-web-0 is being deleted'))
  t.strictSame([created, events], [['logs-web-0'], ['SuccessfulCreate']])
  const both = ['data-web-0', 'logs-web-0'].map((name) => objectOf(name, {}, { deletionTimestamp: time }))
  const message = '[pvc data-web-0 is being deleted, pvc logs-web-0 is being deleted]'
  await t.rejects(createClaims(set, 0, contextWith(both).context), new Refusal(message))
  await createClaims(set, 0, contextWith([objectOf('data-web-0'), objectOf('logs-web-0')]).context)
})

t.test('a claim that cannot be created is reported, unless its name was just taken', async (t) => {
  const refused = contextWith([objectOf('data-web-0')], forbidden)
  await t.rejects(createClaims(set, 0, refused.context), new Refusal('failed to create PVC logs-web-0: Forbidden'))
  t.strictSame(refused.events, ['FailedCreate'])
  const taken = contextWith([objectOf('data-web-0')], exists)
  await t.rejects(createClaims(set, 0, taken.context), new Refusal('failed to create PVC logs-web-0: AlreadyExists'))
  t.strictSame(taken.events, [])
})

t.test('a Pod waits for the deletion of the claims of the Pod that had its name before', async (t) => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'earlier' }
  const { context } = contextWith([objectOf('logs-web-0', {}, { ownerReferences: [owner] }), objectOf('data-web-1')])
  t.equal(isWaitingForClaims(set, 0, context), true)
  t.equal(isWaitingForClaims(set, 1, context), false)
  t.equal(isWaitingForClaims(setWith('Retain'), 0, context), false)
})
