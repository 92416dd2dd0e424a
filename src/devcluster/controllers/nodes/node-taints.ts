/**
 * The taints that a node gets because of its conditions (k8s.io/kubernetes/pkg/controller/nodelifecycle: nodeConditionToTaintKeyStatusMap).
 */
import { formatTime } from '../../../api/conditions.ts'
import type { ReadonlyNode } from '../api-types.ts'

type Taint = NonNullable<NonNullable<ReadonlyNode['spec']>['taints']>[number]

const prefix = 'node.kubernetes.io/'
const [notReady, unreachable, unschedulable] = [`${prefix}not-ready`, `${prefix}unreachable`, `${prefix}unschedulable`]
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: `${prefix}memory-pressure` },
  DiskPressure: { True: `${prefix}disk-pressure` },
  NetworkUnavailable: { True: `${prefix}network-unavailable` },
  PIDPressure: { True: `${prefix}pid-pressure` },
}
const ownKeys = [unschedulable, ...Object.values(byCondition).flatMap((keys) => Object.values(keys))]

/**
 * Returns the new taints of the node; undefined when the taints of the node need no change. Taints that a user has added are kept.
 *
 * @param evicts true when Pods must be evicted if the node is not ready. If `evicts` is true and the node is not ready, the node gets a
 *   taint with the effect NoExecute.
 */
export function changedTaints(
  node: ReadonlyNode,
  { evicts, now }: { readonly evicts: boolean; readonly now: number },
): Taint[] | undefined {
  const present = node.spec?.taints ?? []
  const keys = new Map((node.status?.conditions ?? []).map(({ type, status }) => [type, byCondition[type]?.[status]]))
  const execute = keys.get('Ready')
  const wanted = [
    ...[...keys.values()].filter((key) => key !== undefined).map((key) => ({ key, effect: 'NoSchedule' })),
    ...(node.spec?.unschedulable === true ? [{ key: unschedulable, effect: 'NoSchedule' }] : []),
    ...(execute !== undefined && evicts ? [{ key: execute, effect: 'NoExecute' }] : []),
  ]
  const isSame = (a: Pick<Taint, 'key' | 'effect'>, b: Pick<Taint, 'key' | 'effect'>): boolean => a.key === b.key && a.effect === b.effect
  const isOwn = ({ key, effect }: Taint): boolean =>
    effect === 'NoSchedule' ? ownKeys.includes(key) : effect === 'NoExecute' && (key === notReady || key === unreachable)
  const kept = present.filter((taint) => !isOwn(taint) || wanted.some((one) => isSame(one, taint)))
  const added = wanted.filter((taint) => !present.some((one) => isSame(one, taint)))
  if (kept.length === present.length && added.length === 0) return undefined
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: formatTime(now) }))]
}
