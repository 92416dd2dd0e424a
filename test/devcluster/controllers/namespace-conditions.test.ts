/** Tests of the conditions of terminating namespaces. */
import t from 'tap'
import type { Condition } from '../../../src/api/conditions.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { namespaceConditions } from '../../../src/devcluster/controllers/namespace-conditions.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const time = '2026-01-01T00:00:00Z'

const fine: [type: string, reason: string, message: string][] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  ['NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
]
const fineConditions = fine.map(([type, reason, message]) => ({ type, status: 'False', lastTransitionTime: time, reason, message }))
const foos = resourceType({ group: 'g.io', version: 'v1', kind: 'Foo', plural: 'foos' })
const pods = resourceType({ group: '', version: 'v1', kind: 'Pod', plural: 'pods' })

t.test('the conditions of an empty namespace report no remaining content', (t) => {
  t.strictSame(
    namespaceConditions(undefined, [], now).map((condition) => ({ ...condition })),
    fineConditions,
  )
  t.end()
})

t.test('the conditions of a namespace report remaining resources and their finalizers', (t) => {
  const found = namespaceConditions(
    undefined,
    [
      { type: pods, finalizers: [[], ['x.io/b', 'x.io/a']] },
      { type: foos, finalizers: [['x.io/b']] },
    ],
    now,
  )
  t.strictSame(found.slice(0, 3), fineConditions.slice(0, 3))
  t.strictSame(found.slice(3), [
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: time,
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: foos.g.io has 1 resource instances, pods. has 2 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      lastTransitionTime: time,
      reason: 'SomeFinalizersRemain',
      message: 'Some content in the namespace has finalizers remaining: x.io/a in 1 resource instances, x.io/b in 2 resource instances',
    },
  ])
  const shuffled = [...found].reverse() as Condition[]
  t.strictSame(
    namespaceConditions(shuffled, [{ type: pods, finalizers: [[]] }], now + 1000).map(({ type, status, lastTransitionTime }) => [
      type,
      status,
      lastTransitionTime,
    ]),
    [
      ...fine.slice(0, 3).map(([type]) => [type, 'False', time]),
      ['NamespaceContentRemaining', 'True', time],
      ['NamespaceFinalizersRemaining', 'False', '2026-01-01T00:00:01Z'],
    ],
  )
  t.end()
})
