/** Selects a node for a Pod by the node's readiness and taints, and by the Pod's node selector and required node affinity. */
import type { Node, Pod } from '../../api/builtin.ts'
import type { DeepReadonly } from '../../api/json.ts'
import { matchesLabels } from '../../api/label-selector.ts'
import type { LabelRequirement } from '../../api/label-selector.ts'

export type ReadonlyPod = DeepReadonly<Pod>
export type ReadonlyNode = DeepReadonly<Node>

export type Placement = { readonly node: string } | { readonly problem: string }

/**
 * Returns the node with the fewest Pods among those on which the Pod fits. If the Pod fits on no node, returns the reason in `problem`.
 *
 * @param volumeMisfit returns why a node cannot provide the volumes of the Pod; undefined if it can.
 */
export function placePod(
  pod: ReadonlyPod,
  nodes: readonly ReadonlyNode[],
  podsOn: (node: string) => number,
  volumeMisfit: (node: ReadonlyNode) => string | undefined = () => undefined,
): Placement {
  if (nodes.length === 0) return { problem: 'no nodes available to schedule pods' }
  const reasons = new Map<string, number>()
  const fitting: string[] = []
  for (const node of nodes) {
    const reason = misfit(pod, node) ?? volumeMisfit(node)
    if (reason === undefined) fitting.push(node.metadata.name)
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  fitting.sort((a, b) => podsOn(a) - podsOn(b) || (a < b ? -1 : 1))
  const [best] = fitting
  if (best !== undefined) return { node: best }
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort()
  const total = nodes.length
  return {
    problem: `0/${total} nodes are available: ${texts.join(', ')}. preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`,
  }
}

/** Returns the scheduler's message for a node on which the Pod does not fit; undefined if the Pod fits. */
function misfit(pod: ReadonlyPod, node: ReadonlyNode): string | undefined {
  const { spec } = pod
  if (node.spec?.unschedulable === true) return 'node(s) were unschedulable'
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  const taints = [
    ...(node.spec?.taints ?? []),
    ...(ready?.status === 'True' ? [] : [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule', value: '' }]),
  ]
  const taint = taints.find((candidate) => candidate.effect !== 'PreferNoSchedule' && !isTolerated(candidate, spec?.tolerations ?? []))
  if (taint !== undefined) return `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ''}}`
  return matchesNodeSelector(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector"
}

interface Taint {
  readonly key: string
  readonly effect: string
  readonly value?: string
}
interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

/** Returns true when one of the tolerations matches the taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect && effect !== taint.effect) return false
    if (key && key !== taint.key) return false
    return operator === 'Exists' || (!!key && value === (taint.value ?? ''))
  })
}

/** Returns true when a node matches the node selector and the required node affinity of a Pod. */
export function matchesNodeSelector({ spec }: { readonly spec?: ReadonlyPod['spec'] | undefined }, { metadata }: ReadonlyNode): boolean {
  const labels = metadata.labels ?? {}
  if (Object.entries(spec?.nodeSelector ?? {}).some(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value)) return false
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || matchesTerms(terms, { metadata })
}

interface NodeTerm {
  readonly matchExpressions?: readonly NodeExpression[]
  readonly matchFields?: readonly NodeExpression[]
}

/** Returns true when one of the terms matches a node. A term without requirements matches no node. */
export function matchesTerms(terms: readonly NodeTerm[], { metadata }: Pick<ReadonlyNode, 'metadata'>): boolean {
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false
    return (
      matchExpressions.every((expression) => matchesExpression(expression, metadata.labels ?? {})) &&
      matchFields.every((expression) => matchesExpression(expression, { 'metadata.name': metadata.name }))
    )
  })
}

interface NodeExpression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

function matchesExpression({ key, operator, values = [] }: NodeExpression, labels: Readonly<Record<string, string>>): boolean {
  if (operator === 'Gt' || operator === 'Lt') {
    const actual = integerOf(Object.hasOwn(labels, key) ? labels[key] : undefined)
    const bound = integerOf(values[0])
    return operator === 'Gt' ? actual > bound : actual < bound
  }
  return matchesLabels([{ key, operator: operator as LabelRequirement['operator'], values }], labels)
}

/** Parses an integer like Go's `strconv.ParseInt`; NaN for any other string. Every comparison with NaN is false. */
function integerOf(text = ''): number {
  return /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
}
