/** Required affinity and anti-affinity between Pods (k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity). */
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import { selects } from '../workloads/dependents.ts'
import type { ClusterState } from './cluster-state.ts'
import type { Misfit } from './misfit.ts'

type Affinity = NonNullable<NonNullable<ReadonlyPod['spec']>['affinity']>
type Term = NonNullable<NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>[number]

/** Returns the identifier of a topology domain. It consists of the key and the value of a node label. */
const domainOf = (key: string, value: string): string => `${key}\0${value}`

/**
 * Returns a function that checks one node. The returned function returns undefined if the affinity terms of the Pod, and the affinity terms
 * of the Pods on all nodes, allow the Pod to run on the node.
 */
export function podAffinityCheck(pod: ReadonlyPod, state: ClusterState): (node: ReadonlyNode) => Misfit | undefined {
  const attracting = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const repelling = repellingTerms(pod)
  /**
   * Three sets of topology domains. An `attracted` domain has a Pod that matches all affinity terms of `pod`. An `avoided` domain has a Pod
   * that matches an anti-affinity term of `pod`. A `closed` domain has a Pod with an anti-affinity term that matches `pod`.
   */
  const [attracted, avoided, closed] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const node of state.nodes) {
    const add = (domains: Set<string>, { topologyKey }: Term): void => {
      const value = node.metadata.labels?.[topologyKey]
      if (value !== undefined) domains.add(domainOf(topologyKey, value))
    }
    for (const other of state.podsOn(node.metadata.name)) {
      if (matchesAll(attracting, pod, other, state)) for (const term of attracting) add(attracted, term)
      for (const term of repelling) if (matches(term, pod, other, state)) add(avoided, term)
      for (const term of repellingTerms(other)) if (matches(term, other, pod, state)) add(closed, term)
    }
  }
  return (node) => {
    const labels = node.metadata.labels ?? {}
    const isIn = (domains: ReadonlySet<string>, { topologyKey }: Term): boolean =>
      Object.hasOwn(labels, topologyKey) && domains.has(domainOf(topologyKey, labels[topologyKey]!))
    const hasKeys = attracting.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey))
    // If no Pod matches the affinity terms yet, a Pod that matches its own terms may run on any node that has the topology keys. Without
    // this exception, the first Pod of a group could never run.
    const isFirst = attracted.size === 0 && matchesAll(attracting, pod, pod, state)
    if (!hasKeys || !(attracting.every((term) => isIn(attracted, term)) || isFirst))
      return { reason: "node(s) didn't match pod affinity rules", isFinal: true }
    if (repelling.some((term) => isIn(avoided, term))) return { reason: "node(s) didn't match pod anti-affinity rules", isFinal: false }
    if (Object.entries(labels).some(([key, value]) => closed.has(domainOf(key, value))))
      return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", isFinal: false }
    return undefined
  }
}

function repellingTerms({ spec }: ReadonlyPod): readonly Term[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
}

function matchesAll(terms: readonly Term[], owner: ReadonlyPod, pod: ReadonlyPod, state: ClusterState): boolean {
  return terms.length > 0 && terms.every((term) => matches(term, owner, pod, state))
}

/**
 * Returns true when a term of `owner` matches `pod`. If a term has neither `namespaces` nor `namespaceSelector`, the term matches only Pods
 * in the namespace of `owner`. `matchLabelKeys` and `mismatchLabelKeys` need no check here, because the API server has added their keys to
 * the label selector.
 */
function matches(term: Term, owner: ReadonlyPod, pod: ReadonlyPod, state: ClusterState): boolean {
  const { namespaces = [], namespaceSelector, labelSelector } = term
  const namespace = pod.metadata.namespace ?? ''
  const isOwn = namespaces.length === 0 && namespaceSelector === undefined && namespace === owner.metadata.namespace
  const known = state.namespace(namespace)
  const isSelected = known !== undefined && selects(namespaceSelector, known)
  return (isOwn || isSelected || namespaces.includes(namespace)) && selects(labelSelector, pod)
}
