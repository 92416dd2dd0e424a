/**
 * Computes the EndpointSlices that mirror an Endpoints object. There is one EndpointSlice for each combination of address type and ports
 * (k8s.io/kubernetes/pkg/controller/endpointslicemirroring: reconciler.reconcile).
 */
import { isIPv6 } from 'node:net'
import type { DeepReadonly } from '../../../api/json.ts'
import { canonicalJson, jsonEqual } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'
import { controllerReference } from '../../../api/owner-reference.ts'
import type { AddressType, Endpoint, EndpointPort } from './endpoint.ts'
import type { Slice, SliceChanges, SliceInput } from './plan-slices.ts'
import { managedByLabel, namePrefixOf, portsKey, serviceNameLabel } from './plan-slices.ts'
import type { Address, PodAddress, Port } from './subsets.ts'
import { packSubsets } from './subsets.ts'
import { triggerAnnotation } from './trigger-times.ts'

type Endpoints = DeepReadonly<core.Endpoints>

export const mirroringManager = 'endpointslicemirroring-controller.k8s.io'

/** The default of kube-controller-manager's `--mirroring-max-endpoints-per-subset`. */
const maxPerSubset = 1000
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export interface MirrorChanges extends SliceChanges {
  /** The number of addresses that are beyond the first `limit` addresses of their subset. These addresses are not mirrored. */
  readonly skipped: number
  readonly limit: number
}

interface Group {
  readonly type: AddressType
  readonly ports: readonly EndpointPort[]
  readonly endpoints: Endpoint[]
}

/** @param existing the EndpointSlices that mirror these Endpoints. */
export function planMirror(endpoints: Endpoints, existing: readonly Slice[]): MirrorChanges {
  const { groups, skipped } = groupsOf(endpoints)
  const create: SliceInput[] = []
  const update: SliceInput[] = []
  const remove: Slice[] = existing.filter((slice) => !groups.has(keyOf(slice.addressType, slice.ports)))
  for (const [key, group] of groups) {
    const [first, ...others] = existing.filter((slice) => keyOf(slice.addressType, slice.ports) === key)
    remove.push(...others)
    if (first !== undefined && isSame(first, endpoints, group)) continue
    const slice = newSlice(endpoints, group)
    if (first === undefined) create.push(slice)
    else update.push(named(slice, first))
  }
  return { ...recycled({ create, update, remove }), skipped, limit: maxPerSubset }
}

/**
 * Groups the addresses of all subsets by address type and ports. Only the first 1000 addresses of each subset are used. `skipped` is the
 * number of addresses that are not used.
 */
function groupsOf({ subsets }: Endpoints): { readonly groups: ReadonlyMap<string, Group>; readonly skipped: number } {
  const groups = new Map<string, Group>()
  let skipped = 0
  const addresses = (subsets ?? []).flatMap((subset): PodAddress[] => {
    const ports = (subset.ports ?? []) as readonly Port[]
    const all = (list: readonly DeepReadonly<Address>[] | undefined, ready: boolean): PodAddress[] =>
      (list ?? []).map((address) => ({ address, ready, ports }))
    return [...all(subset.addresses, true), ...all(subset.notReadyAddresses, false)]
  })
  for (const subset of packSubsets(addresses)) {
    const ports = (subset.ports ?? []).map(({ name = '', ...port }): EndpointPort => ({ name, ...port }))
    const ready = (subset.addresses ?? []).map((address) => endpointOf(address, true))
    const all = [...ready, ...(subset.notReadyAddresses ?? []).map((address) => endpointOf(address, false))]
    skipped += Math.max(0, all.length - maxPerSubset)
    for (const endpoint of all.slice(0, maxPerSubset)) {
      const type = isIPv6(endpoint.addresses[0] ?? '') ? 'IPv6' : 'IPv4'
      const key = keyOf(type, ports)
      const group = groups.get(key) ?? { type, ports, endpoints: [] }
      groups.set(key, group)
      group.endpoints.push(endpoint)
    }
  }
  return { groups, skipped }
}

function endpointOf({ ip, targetRef, nodeName, hostname }: Address, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
  }
}

function keyOf(type: string, ports: Slice['ports']): string {
  return `${type} ${portsKey(ports)}`
}

/** Returns true when the EndpointSlice needs no change. */
function isSame({ metadata, endpoints: found }: Slice, endpoints: Endpoints, { endpoints: wanted }: Group): boolean {
  const sorted = (list: readonly DeepReadonly<Endpoint>[] | null | undefined): string[] => (list ?? []).map(canonicalJson).sort()
  const owner = metadata.ownerReferences?.find(({ kind, name }) => kind === 'Endpoints' && name === endpoints.metadata.name)
  return (
    jsonEqual(sorted(found), sorted(wanted)) &&
    jsonEqual(metadata.labels, labelsOf(endpoints)) &&
    jsonEqual(metadata.annotations ?? {}, annotationsOf(endpoints)) &&
    (owner === undefined || owner.uid === endpoints.metadata.uid)
  )
}

function newSlice(endpoints: Endpoints, { type, ports, endpoints: list }: Group): SliceInput {
  const { name, namespace } = endpoints.metadata
  return {
    metadata: {
      generateName: namePrefixOf(name),
      namespace: namespace!,
      labels: labelsOf(endpoints),
      annotations: annotationsOf(endpoints),
      ownerReferences: [controllerReference(endpoints)],
    },
    addressType: type,
    endpoints: list,
    ports: [...ports],
  }
}

function labelsOf({ metadata }: Endpoints): Record<string, string> {
  return { ...metadata.labels, [serviceNameLabel]: metadata.name, [managedByLabel]: mirroringManager }
}

function annotationsOf({ metadata }: Endpoints): Record<string, string> {
  const { [triggerAnnotation]: _time, [lastAppliedAnnotation]: _applied, ...annotations } = metadata.annotations ?? {}
  return annotations
}

/** Returns `slice` with the name of an existing EndpointSlice. The result has no resourceVersion, as in Kubernetes. */
function named(slice: SliceInput, { metadata }: Slice): SliceInput {
  const { generateName: _prefix, ...rest } = slice.metadata
  return { ...slice, metadata: { ...rest, name: metadata.name } }
}

/**
 * If an EndpointSlice is to be created and an EndpointSlice of the same address type is to be deleted, replaces the creation and the
 * deletion by an update of the existing EndpointSlice.
 */
function recycled({ create, update, remove }: SliceChanges): SliceChanges {
  const left = [...remove]
  const created: SliceInput[] = []
  const updated = [...update]
  for (const slice of create) {
    const index = left.findIndex(({ addressType }) => addressType === slice.addressType)
    const [reused] = index < 0 ? [] : left.splice(index, 1)
    if (reused === undefined) created.push(slice)
    else updated.push(named(slice, reused))
  }
  return { create: created, update: updated, remove: left }
}
