/** Taints of nodes and the tolerations of Pods (k8s.io/component-helpers/scheduling/corev1). */

export interface Taint {
  readonly key: string
  readonly effect: string
  readonly value?: string
}
export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** Returns true when the toleration matches the taint (Toleration.ToleratesTaint). */
export function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  return operator === 'Exists' || (!!key && value === (taint.value ?? ''))
}

/** Returns the first taint that has one of these effects and that the Pod does not tolerate (FindMatchingUntoleratedTaint). */
export function untoleratedTaint({ spec: node }: ReadonlyNode, { spec: pod }: ReadonlyPod, effects: readonly string[]): Taint | undefined {
  const tolerations = pod?.tolerations ?? []
  return (node?.taints ?? []).find((taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)))
}
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
