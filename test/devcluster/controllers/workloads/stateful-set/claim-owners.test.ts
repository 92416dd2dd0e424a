import t from 'tap'
import type { OwnerReference } from '../../../../../src/api/object.ts'
import {
  hasOtherController,
  hasWantedOwners,
  isOfEarlier,
  wantedReferences,
} from '../../../../../src/devcluster/controllers/workloads/stateful-set/claim-owners.ts'
import { statefulPodWith, statefulSetWith } from '../../../../support/workloads/objects.ts'

const setOwner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set', controller: true }
const kept = statefulPodWith(0)
const scaledDown = statefulPodWith(5)
const ownerOf = (pod: typeof kept): OwnerReference => {
  const { name, uid } = pod.metadata
  return { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }
}
const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }

function claimWith(...ownerReferences: OwnerReference[]) {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data-web-0', uid: 'claim', ownerReferences } } as never
}

function setWith(whenDeleted: string, whenScaled: string) {
  return statefulSetWith({ replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } })
}

t.test('the policy decides on the owner, for a Pod in the range and for one beyond it', (t) => {
  const kinds = (references: readonly { readonly kind: string }[]): string => references.map(({ kind }) => kind).join()
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['Retain', 'Retain', '', ''],
    ['Delete', 'Retain', 'StatefulSet', 'StatefulSet'],
    ['Retain', 'Delete', '', 'Pod'],
    ['Delete', 'Delete', 'StatefulSet', 'Pod'],
    ['Other', 'Other', '', ''],
  ]
  for (const [whenDeleted, whenScaled, inRange, beyond] of cases) {
    const set = setWith(whenDeleted, whenScaled)
    for (const [pod, expected] of [
      [kept, inRange],
      [scaledDown, beyond],
    ] as const) {
      for (const claim of [claimWith(), claimWith(setOwner), claimWith(ownerOf(pod)), claimWith(setOwner, ownerOf(pod))]) {
        const references = wantedReferences(claim, set, pod)
        t.equal(kinds(references), expected, `${whenDeleted} ${whenScaled} ${pod.metadata.name}`)
        t.ok(hasWantedOwners(claimWith(...(references as OwnerReference[])), set, pod))
      }
      t.equal(hasWantedOwners(claimWith(), set, pod), expected === '')
    }
  }
  t.end()
})

t.test('other owners are kept', (t) => {
  const claim = claimWith(other, setOwner)
  t.strictSame(wantedReferences(claim, setWith('Retain', 'Retain'), kept), [other])
  t.match(wantedReferences(claimWith(other), setWith('Delete', 'Retain'), kept), [other, setOwner])
  t.end()
})

t.test('a claim with another controller gets no owner, unless it is never deleted', (t) => {
  const controlled = { ...other, controller: true }
  const set = setWith('Delete', 'Delete')
  t.ok(hasOtherController(claimWith(controlled), set, kept))
  t.notOk(hasOtherController(claimWith(controlled), setWith('Retain', 'Retain'), kept))
  t.notOk(hasOtherController(claimWith(setOwner, ownerOf(kept)), set, kept))
  t.ok(hasWantedOwners(claimWith(controlled), set, kept))
  t.notOk(hasWantedOwners(claimWith(controlled, setOwner), set, kept))
  t.strictSame(wantedReferences(claimWith(controlled, setOwner), set, kept), [controlled])
  t.end()
})

t.test('an owner that is not the controller is made the controller', (t) => {
  const { controller: _controller, ...plain } = setOwner
  const set = setWith('Delete', 'Retain')
  t.notOk(hasWantedOwners(claimWith(plain), set, kept))
  t.match(wantedReferences(claimWith(plain), set, kept), [setOwner])
  t.end()
})

t.test('the claim of an earlier StatefulSet or Pod with the same name is unchanged', (t) => {
  const set = setWith('Delete', 'Delete')
  for (const earlier of [
    { ...setOwner, uid: 'earlier' },
    { ...ownerOf(kept), uid: 'earlier' },
  ])
    t.ok(hasWantedOwners(claimWith(earlier), set, kept))
  t.ok(isOfEarlier(claimWith({ ...ownerOf(kept), uid: 'earlier' }), kept))
  t.notOk(isOfEarlier(claimWith(ownerOf(kept)), kept))
  t.notOk(isOfEarlier(claimWith(other), kept))
  t.end()
})
