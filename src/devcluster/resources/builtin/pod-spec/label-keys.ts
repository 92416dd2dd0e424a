/**
 * Adds the labels of a new Pod to the label selectors of its affinity terms and topology spread constraints
 * (k8s.io/kubernetes/pkg/registry/core/pod: mutatePodAffinity, mutateTopologySpreadConstraints).
 */
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { listAt } from '../../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField } from '../../defaulting.ts'

/**
 * Returns the spec of a new Pod with additional expressions in the label selectors of its affinity terms and topology spread constraints.
 * `labels` contains the labels of the Pod. If the Pod has a label with a key in the `matchLabelKeys` of a term or constraint, the label
 * selector of this term or constraint gets an expression with the operator `In` and the value of the label. For a key in
 * `mismatchLabelKeys`, the operator is `NotIn`. A term or constraint without a label selector is not changed.
 */
export function withLabelKeys(spec: JsonObject, labels: JsonObject): JsonObject {
  const term = (own: JsonObject): JsonObject => withExpressions(own, labels)
  const weighted = (own: JsonObject): JsonObject => changeObjectField(own, 'podAffinityTerm', term)
  const terms = (affinity: JsonObject): JsonObject =>
    changeItems(
      changeItems(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', term),
      'preferredDuringSchedulingIgnoredDuringExecution',
      weighted,
    )
  const affinities = (affinity: JsonObject): JsonObject =>
    changeObjectField(changeObjectField(affinity, 'podAffinity', terms), 'podAntiAffinity', terms)
  return changeItems(changeObjectField(spec, 'affinity', affinities), 'topologySpreadConstraints', term)
}

/**
 * Returns the term or constraint with the additional expressions in its label selector. If the term or constraint has no label selector, it
 * selects no Pods. The term or constraint is then returned unchanged.
 */
function withExpressions(term: JsonObject, labels: JsonObject): JsonObject {
  const { labelSelector } = term
  const added = [
    ...expressionsFor(listAt(term, 'matchLabelKeys'), 'In', labels),
    ...expressionsFor(listAt(term, 'mismatchLabelKeys'), 'NotIn', labels),
  ]
  if (added.length === 0 || !isObject(labelSelector)) return term
  return { ...term, labelSelector: { ...labelSelector, matchExpressions: [...listAt(labelSelector, 'matchExpressions'), ...added] } }
}

function expressionsFor(keys: readonly JsonValue[], operator: string, labels: JsonObject): JsonObject[] {
  return keys.flatMap((key) => {
    const value = Object.hasOwn(labels, String(key)) ? labels[String(key)] : undefined
    return value === undefined ? [] : [{ key, operator, values: [value] }]
  })
}
