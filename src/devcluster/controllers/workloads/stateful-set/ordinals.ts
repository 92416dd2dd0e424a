/** Functions about the ordinals in the names of a StatefulSet's Pods (k8s.io/kubernetes/pkg/controller/statefulset: stateful_set_utils). */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyObject } from '../../api-types.ts'

export type StatefulSet = DeepReadonly<apps.StatefulSet>
type WithName = Pick<ReadonlyObject, 'metadata'>

const maxInt32 = 2_147_483_647
const namePattern = /^(.*)-(\d+)$/

/**
 * Returns the ordinal at the end of a Pod's name. Returns undefined when the name has no ordinal, or when the ordinal exceeds the range of
 * int32.
 */
export function ordinalOf({ metadata }: WithName): number | undefined {
  const ordinal = Number(namePattern.exec(metadata.name)?.[2] ?? Infinity)
  return ordinal <= maxInt32 ? ordinal : undefined
}

/** Returns true when the name of a Pod consists of the name of the StatefulSet and an ordinal, e.g. `web-0`. */
export function isMember(set: StatefulSet, { metadata }: WithName): boolean {
  return namePattern.exec(metadata.name)?.[1] === set.metadata.name
}

export function podNameOf({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`
}

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec?.replicas ?? 0
}

/** Returns true when the StatefulSet should have a Pod with this ordinal. */
export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const first = firstOrdinal(set)
  return ordinal >= first && ordinal < first + replicasOf(set)
}
