import t from 'tap'
import { findCondition, formatTime, mergeConditions } from '../../src/api/conditions.ts'
import { controllerOf, controllerReference, isControlledBy, refersTo } from '../../src/api/owner-reference.ts'
import { formatKey, parseKey } from '../../src/api/object.ts'
import { apiVersionOf, groupKindOf, groupResourceOf, parseApiVersion } from '../../src/api/group-version-kind.ts'

const ready = { type: 'Ready', status: 'True', reason: 'Ok', message: '' } as const

t.test('lastTransitionTime changes only with the status', async (t) => {
  const first = mergeConditions(undefined, [ready], { now: 0, generation: 1 })
  t.strictSame(first, [{ ...ready, observedGeneration: 1, lastTransitionTime: '1970-01-01T00:00:00Z' }])
  const same = mergeConditions(first, [{ ...ready, reason: 'Other' }], { now: 5000, generation: 2 })
  t.match(same[0], { reason: 'Other', observedGeneration: 2, lastTransitionTime: '1970-01-01T00:00:00Z' })
  const changed = mergeConditions(same, [{ ...ready, status: 'False' }], { now: 5000 })
  t.equal(findCondition(changed, 'Ready')?.lastTransitionTime, formatTime(5000))
})

t.test('a message that is too long for the API server is cut between characters', async (t) => {
  const change = { type: 'Ready', status: 'False', reason: 'Refused' } as const
  const messageOf = (message: string): string => mergeConditions(undefined, [{ ...change, message }], { now: 0 })[0]!.message
  t.equal(messageOf('x'.repeat(32_768)).length, 32_768)
  t.equal(messageOf('x'.repeat(1_000_000)).length, 32_768)
  t.ok(messageOf(`x${'😀'.repeat(20_000)}`).isWellFormed())
})

t.test('conditions of other types are kept, and the list is sorted', async (t) => {
  const merged = mergeConditions([{ ...ready, type: 'Zebra', lastTransitionTime: 'x' }], [ready], { now: 0 })
  t.strictSame(
    merged.map(({ type }) => type),
    ['Ready', 'Zebra'],
  )
})

t.test('owner references', async (t) => {
  const owner = { apiVersion: 'a.b/v1', kind: 'A', metadata: { name: 'x', uid: 'u1', resourceVersion: '1', creationTimestamp: '' } }
  const child = { ...owner, metadata: { ...owner.metadata, uid: 'u2', ownerReferences: [controllerReference(owner)] } }
  t.ok(isControlledBy(child, owner))
  t.notOk(isControlledBy(child, { ...owner, metadata: { ...owner.metadata, uid: 'other' } }))
  t.ok(refersTo(controllerOf(child)!, { group: 'a.b', kind: 'A' }))
  t.notOk(refersTo(controllerOf(child)!, { group: '', kind: 'A' }))
})

t.test('keys and names of types', async (t) => {
  t.strictSame(parseKey('ns/a'), { namespace: 'ns', name: 'a' })
  t.strictSame(parseKey('a'), { name: 'a' })
  t.equal(formatKey({ namespace: 'ns', name: 'a' }), 'ns/a')
  t.equal(apiVersionOf({ group: '', version: 'v1' }), 'v1')
  t.strictSame(parseApiVersion('apps/v1'), { group: 'apps', version: 'v1' })
  t.equal(groupResourceOf({ group: 'apps', plural: 'deployments' }), 'deployments.apps')
  t.equal(groupKindOf({ group: '', kind: 'Pod' }), 'Pod')
})

t.test('a merged condition keeps only lastTransitionTime of the old one', async (t) => {
  const before = { ...ready, reason: 'Old', message: 'old', lastTransitionTime: '2020-01-01T00:00:00Z', observedGeneration: 3 }
  const now = Date.UTC(2026, 0, 1, 0, 0, 0, 999)
  t.strictSame(mergeConditions([before], [ready], { now }), [{ ...ready, lastTransitionTime: '2020-01-01T00:00:00Z' }])
  t.strictSame(mergeConditions([before], [{ ...ready, status: 'Unknown' }], { now, generation: 0 }), [
    { ...ready, status: 'Unknown', observedGeneration: 0, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ])
  t.strictSame(mergeConditions([before], [], { now }), [before])
  t.strictSame(mergeConditions(undefined, [], { now }), [])
})

t.test('conditions are sorted by type, and found by it', async (t) => {
  const types = ['B', 'a', 'C', 'A']
  const merged = mergeConditions(
    undefined,
    types.map((type) => ({ ...ready, type })),
    { now: 0 },
  )
  t.strictSame(
    merged.map(({ type }) => type),
    ['A', 'B', 'C', 'a'],
  )
  t.equal(findCondition(merged, 'C'), merged[2])
  t.equal(findCondition(merged, 'D'), undefined)
  t.equal(findCondition(undefined, 'A'), undefined)
  const ofJob: readonly { readonly type: string; readonly status: string; readonly lastProbeTime?: string }[] = [
    { type: 'Complete', status: 'True', lastProbeTime: 'x' },
  ]
  t.equal(findCondition(ofJob, 'Complete')?.lastProbeTime, 'x', 'conditions of built-in types have other fields')
})
