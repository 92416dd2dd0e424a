/** The resources that Pods request, and that nodes have (k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources: Fit). */
import { parseQuantity } from '../../apimachinery/quantity.ts'
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import type { Misfit } from './misfit.ts'

/** Amounts in thousandths, keyed by the name of the resource. Thousandths represent a quantity such as `100m` as an integer. */
type Amounts = Readonly<Record<string, number>>

/**
 * Returns the reasons why `pod` does not fit on the node:
 *
 * - one reason for each resource, if `pod` requests more of the resource than the node has left.
 * - one reason if the node already has the maximum number of Pods.
 *
 * `others` are the Pods on the node that have not ended.
 */
export function resourceMisfits(pod: ReadonlyPod, node: ReadonlyNode, others: readonly ReadonlyPod[]): readonly Misfit[] {
  const allocatable = amountsOf(node.status?.allocatable)
  const misfits: Misfit[] = []
  if ((others.length + 1) * 1000 > (allocatable['pods'] ?? 0)) misfits.push({ reason: 'Too many pods', isFinal: false })
  const requested = Object.entries(requestsOf(pod)).filter(([, amount]) => amount > 0)
  if (requested.length === 0) return misfits
  const used = sum(others.map(requestsOf))
  for (const [resource, amount] of requested) {
    const total = allocatable[resource] ?? 0
    if (amount > total - (used[resource] ?? 0)) misfits.push({ reason: `Insufficient ${resource}`, isFinal: amount > total })
  }
  return misfits
}

/**
 * Returns the resources that a Pod requests (k8s.io/component-helpers/resource: PodRequests). For each resource, the amount is computed as
 * follows:
 *
 * - The amount is the sum over the containers and sidecars.
 * - If the initialization of the Pod needs a greater amount, the greater amount is used.
 * - If the `resources` of the Pod itself contain a request for the resource, this request replaces the amount.
 * - The overhead of the Pod is added.
 */
export function requestsOf({ spec }: ReadonlyPod): Amounts {
  let sidecars: Amounts = {}
  let initial: Amounts = {}
  for (const { resources, restartPolicy } of spec?.initContainers ?? []) {
    const own = amountsOf(resources?.requests)
    if (restartPolicy === 'Always') sidecars = sum([sidecars, own])
    initial = greatest(initial, restartPolicy === 'Always' ? sidecars : sum([sidecars, own]))
  }
  const running = sum([sidecars, ...(spec?.containers ?? []).map(({ resources }) => amountsOf(resources?.requests))])
  const ofContainers = greatest(running, initial)
  return sum([{ ...ofContainers, ...amountsOf(spec?.resources?.requests) }, amountsOf(spec?.overhead)])
}

function amountsOf(quantities: Readonly<Record<string, string>> | undefined): Amounts {
  return Object.fromEntries(Object.entries(quantities ?? {}).map(([name, text]) => [name, Math.round((parseQuantity(text) ?? 0) * 1000)]))
}

function sum(parts: readonly Amounts[]): Amounts {
  const total: Record<string, number> = {}
  for (const part of parts) for (const [name, amount] of Object.entries(part)) total[name] = (total[name] ?? 0) + amount
  return total
}

function greatest(a: Amounts, b: Amounts): Amounts {
  return Object.fromEntries(Object.keys({ ...a, ...b }).map((name) => [name, Math.max(a[name] ?? 0, b[name] ?? 0)]))
}
