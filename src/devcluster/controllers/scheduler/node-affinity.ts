/** The node selector and node affinity of a Pod (k8s.io/component-helpers/scheduling/corev1/nodeaffinity). */
import type { LabelRequirement } from '../../../api/label-selector.ts'
import { matchesLabels } from '../../../api/label-selector.ts'
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'

interface NodeExpression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}
interface NodeTerm {
  readonly matchExpressions?: readonly NodeExpression[]
  readonly matchFields?: readonly NodeExpression[]
}

/** Returns true when the node matches the node selector and the required node affinity (GetRequiredNodeAffinity). */
export function matchesNodeSelector({ spec }: ReadonlyPod, node: ReadonlyNode): boolean {
  const labels = node.metadata.labels ?? {}
  if (Object.entries(spec?.nodeSelector ?? {}).some(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value)) return false
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || matchesTerms(terms, node)
}

/** Returns the sum of the weights of the preferred terms that the node matches (nodeaffinity: PreferredSchedulingTerms.Score). */
export function preferredWeight({ spec }: ReadonlyPod, node: ReadonlyNode): number {
  const terms = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return terms.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0), 0)
}

/** Returns true when at least one of the terms matches the node. */
export function matchesTerms(terms: readonly NodeTerm[], node: Pick<ReadonlyNode, 'metadata'>): boolean {
  return terms.some((term) => matchesTerm(term, node))
}

/** Returns true when the term matches the node. A term without requirements matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeTerm, { metadata }: Pick<ReadonlyNode, 'metadata'>): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((expression) => matchesExpression(expression, metadata.labels ?? {})) &&
    matchFields.every((expression) => matchesExpression(expression, { 'metadata.name': metadata.name }))
  )
}

function matchesExpression({ key, operator, values = [] }: NodeExpression, labels: Readonly<Record<string, string>>): boolean {
  if (operator === 'Gt' || operator === 'Lt') {
    const actual = integerOf(Object.hasOwn(labels, key) ? labels[key] : undefined)
    const bound = integerOf(values[0])
    if (actual === undefined || bound === undefined) return false
    return operator === 'Gt' ? actual > bound : actual < bound
  }
  return matchesLabels([{ key, operator: operator as LabelRequirement['operator'], values }], labels)
}

/** Parses an integer of 64 bits, as Go's `strconv.ParseInt` does. Returns undefined for any other string. */
function integerOf(text = ''): bigint | undefined {
  // An integer of 64 bits has at most 19 digits. BigInt needs much time for a very long string.
  if (!/^[+-]?0*\d{1,19}$/.test(text)) return undefined
  const size = BigInt(text.replace(/^[+-]/, ''))
  const value = text.startsWith('-') ? -size : size
  return BigInt.asIntN(64, value) === value ? value : undefined
}
