/** Decides which nodes should have a Pod of a DaemonSet (k8s.io/kubernetes/pkg/controller/daemon: NodeShouldRunDaemonPod). */
import type { ReadonlyNode, ReadonlyPod } from '../../api-types.ts'
import { matchesNodeSelector } from '../../scheduler/node-affinity.ts'
import { tolerates } from '../../scheduler/taints.ts'
import type { DaemonSet } from './pods.ts'
import { tolerationsOf } from './pods.ts'

export interface NodeFit {
  /** True when the node should have a Pod. */
  readonly shouldRun: boolean
  /** True when a Pod that already runs on the node may continue to run. A taint with the effect NoSchedule does not stop the Pod. */
  readonly shouldContinue: boolean
}

export function fitOf(set: DaemonSet, node: ReadonlyNode): NodeFit {
  const { spec } = set.spec?.template ?? {}
  const isNamed = !spec?.nodeName || spec.nodeName === node.metadata.name
  if (!isNamed || !matchesNodeSelector({ spec } as ReadonlyPod, node)) return { shouldRun: false, shouldContinue: false }
  const tolerations = tolerationsOf(set)
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !tolerations.some((one) => tolerates(one, taint)))
  const has = (effect: string): boolean => untolerated.some((taint) => taint.effect === effect)
  return { shouldRun: !has('NoSchedule') && !has('NoExecute'), shouldContinue: !has('NoExecute') }
}
