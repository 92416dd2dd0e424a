/** Packs the endpoints of a Service into the subsets of an Endpoints object. */
import type { DeepReadonly } from '../../../api/json.ts'
import { canonicalJson } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'

export type Subset = NonNullable<core.Endpoints['subsets']>[number]
export type Address = NonNullable<Subset['addresses']>[number]
export type Port = NonNullable<Subset['ports']>[number]

/** An address of a Pod, and the ports of the Service with their numbers in this Pod. */
export interface PodAddress {
  readonly address: Address
  readonly ready: boolean
  readonly ports: readonly Port[]
}

/**
 * Returns the subsets of an Endpoints object (k8s.io/kubernetes/pkg/api/v1/endpoints: RepackSubsets). Ports with the same addresses share a
 * subset. Addresses without ports are in a subset without ports. The subsets are sorted by their addresses, and the ports are not sorted.
 * Kubernetes sorts both by their hashes.
 */
export function packSubsets(pods: readonly PodAddress[]): Subset[] {
  const sorted = pods.toSorted((a, b) => (addressKey(a.address) < addressKey(b.address) ? -1 : 1))
  const byPort = new Map<string, { readonly port: Port | undefined; readonly pods: PodAddress[] }>()
  for (const pod of sorted) {
    for (const port of pod.ports.length === 0 ? [undefined] : pod.ports) {
      const key = canonicalJson(port ?? null)
      const entry = byPort.get(key) ?? { port, pods: [] }
      byPort.set(key, entry)
      entry.pods.push(pod)
    }
  }
  const byPods = new Map<string, { readonly pods: readonly PodAddress[]; readonly ports: Port[] }>()
  for (const { port, pods: members } of byPort.values()) {
    const key = JSON.stringify(members.map(({ address, ready }) => [addressKey(address), ready]))
    const entry = byPods.get(key) ?? { pods: members, ports: [] }
    byPods.set(key, entry)
    if (port !== undefined) entry.ports.push(port)
  }
  return [...byPods.values()].map(({ pods: members, ports }) => {
    const [addresses, notReadyAddresses] = [true, false].map((wanted) =>
      members.filter(({ ready }) => ready === wanted).map(({ address }) => address),
    ) as [Address[], Address[]]
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(ports.length > 0 && { ports }),
    }
  })
}

function addressKey({ ip, targetRef }: Address): string {
  return `${ip} ${targetRef?.uid ?? ''}`
}

/** Returns true when two lists of subsets are equal apart from the order of the subsets, addresses and ports. */
export function isSameSubsets(a: readonly DeepReadonly<Subset>[], b: readonly DeepReadonly<Subset>[]): boolean {
  return unordered(a) === unordered(b)
}

function unordered(subsets: readonly DeepReadonly<Subset>[]): string {
  const sorted = ({ addresses = [], notReadyAddresses = [], ports = [] }: DeepReadonly<Subset>): string =>
    canonicalJson([addresses, notReadyAddresses, ports].map((list) => list.map(canonicalJson).sort()))
  return canonicalJson(subsets.map(sorted).sort())
}
