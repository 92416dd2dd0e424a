/** Formats label selectors in the same way as Go. Messages contain the formatted selectors. */
import type { DeepReadonly } from '../../api/json.ts'
import type { policy } from '../../api/kubernetes/policy.ts'

type Selector = DeepReadonly<NonNullable<policy.PodDisruptionBudget['spec']>>['selector']

/**
 * Returns a selector as Go's format `%v` prints it (k8s.io/apimachinery/pkg/apis/meta/v1: LabelSelector.String). Returns `nil` for an
 * absent selector.
 */
export function goSelector(selector: Selector): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
