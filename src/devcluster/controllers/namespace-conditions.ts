/** The conditions in the status of a terminating namespace. */
import type { Condition, ConditionInput } from '../../api/conditions.ts'
import { mergeConditions } from '../../api/conditions.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'

/** The objects of one type that still exist in the namespace. */
export interface Remainder {
  readonly type: ResourceType
  /** The finalizers of the objects: one list for each object. */
  readonly finalizers: readonly (readonly string[])[]
}

/** The types of the conditions, in the order in which Kubernetes' namespace controller writes the conditions. */
const order = [
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
  'NamespaceDeletionContentFailure',
  'NamespaceContentRemaining',
  'NamespaceFinalizersRemaining',
]

export function namespaceConditions(
  previous: readonly Condition[] | undefined,
  remainders: readonly Remainder[],
  now: number,
): readonly Condition[] {
  const failures: ConditionInput[] = [
    { type: order[0]!, status: 'False', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    { type: order[1]!, status: 'False', reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    {
      type: order[2]!,
      status: 'False',
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
  ]
  const merged = mergeConditions(previous, [...failures, content(remainders), finalizers(remainders)], { now })
  return merged.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
}

function content(remainders: readonly Remainder[]): ConditionInput {
  const type = order[3]!
  if (remainders.length === 0) return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' }
  const texts = remainders.map(
    ({ type: { plural, group }, finalizers: objects }) => `${plural}.${group} has ${objects.length} resource instances`,
  )
  return { type, status: 'True', reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${texts.sort().join(', ')}` }
}

function finalizers(remainders: readonly Remainder[]): ConditionInput {
  const type = order[4]!
  const counts = new Map<string, number>()
  for (const name of remainders.flatMap(({ finalizers: objects }) => objects.flat())) counts.set(name, (counts.get(name) ?? 0) + 1)
  if (counts.size === 0) {
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' }
  }
  const texts = [...counts].map(([name, count]) => `${name} in ${count} resource instances`)
  const message = `Some content in the namespace has finalizers remaining: ${texts.sort().join(', ')}`
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message }
}
