/**
 * Decides which EndpointSlices of a Service to create, to update and to delete (k8s.io/endpointslice:
 * Reconciler.reconcileByAddressType).
 */
import { canonicalJson, jsonEqual } from '../../../api/json.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { discovery } from '../../../api/kubernetes/discovery.ts'
import type { ObjectInput } from '../../../api/object.ts'
import { dns1123Subdomain } from '../../../api/name-syntax.ts'
import { controllerReference } from '../../../api/owner-reference.ts'
import type { ReadonlyService } from '../api-types.ts'
import type { AddressType, Endpoint, EndpointPort } from './endpoint.ts'
import { isHeadless } from './endpoint.ts'

export type Slice = DeepReadonly<discovery.EndpointSlice>
export type SliceInput = ObjectInput<discovery.EndpointSlice> & { readonly endpoints: Endpoint[] }

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const headlessLabel = 'service.kubernetes.io/headless'
export const managerName = 'endpointslice-controller.k8s.io'

/** Maximum number of endpoints in an EndpointSlice (the default of kube-controller-manager's `--max-endpoints-per-slice`). */
export const maxEndpoints = 100

/** The endpoints of those Pods of a Service that have the same ports. Endpoints of different groups are in different EndpointSlices. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

export interface SliceChanges {
  readonly create: readonly SliceInput[]
  /** The new content of existing EndpointSlices. Each item replaces all fields of the EndpointSlice that has the same name. */
  readonly update: readonly SliceInput[]
  readonly remove: readonly Slice[]
}

/**
 * Returns the changes to a Service's EndpointSlices of one address type. After these changes, the EndpointSlices contain exactly the
 * endpoints of `groups`.
 */
export function planSlices(
  service: ReadonlyService,
  addressType: AddressType,
  existing: readonly Slice[],
  groups: readonly EndpointGroup[],
): SliceChanges {
  const own = existing.filter((slice) => isOwnedBy(slice, service))
  const desired = new Map(groups.map((group) => [portsKey(group.ports), group]))
  const create: SliceInput[] = []
  const update: SliceInput[] = []
  const remove: Slice[] = existing.filter((slice) => !own.includes(slice) || !desired.has(portsKey(slice.ports)))
  for (const [key, group] of desired) {
    const slices = own.filter((slice) => portsKey(slice.ports) === key)
    const changes = planGroup(newSlice(service, addressType, group.ports), slices, group.endpoints)
    create.push(...changes.create)
    update.push(...changes.update)
    remove.push(...changes.remove)
  }
  if (remove.length === existing.length && create.length === 0) {
    // A Service without endpoints has one empty EndpointSlice.
    const placeholder = newSlice(service, addressType, [])
    if (remove.length === 1 && isSameSlice(remove[0]!, placeholder)) return { create, update, remove: [] }
    create.push(placeholder)
  }
  return reuseRemoved({ create, update, remove }, own)
}

/**
 * Reduces the number of writes: instead of deleting an EndpointSlice and creating another one, updates the existing EndpointSlice with the
 * content of the new one (k8s.io/endpointslice: Reconciler.finalize). EndpointSlices that are not in `own` are deleted nevertheless.
 */
function reuseRemoved({ create, update, remove }: SliceChanges, own: readonly Slice[]): SliceChanges {
  const reusable = remove.filter((slice) => own.includes(slice)).slice(0, create.length)
  const kept = create.length - reusable.length
  return {
    create: create.slice(0, kept),
    update: [
      ...update,
      ...create.slice(kept).map((slice, index) => ({ ...slice, metadata: { ...slice.metadata, name: reusable[index]!.metadata.name } })),
    ],
    remove: remove.filter((slice) => !reusable.includes(slice)),
  }
}

/**
 * Plans the EndpointSlices of one group (k8s.io/endpointslice: Reconciler.reconcileByPortMapping). Existing endpoints stay in their
 * EndpointSlice. New endpoints are distributed in these steps:
 *
 * - First, EndpointSlices that must be updated for another reason are filled up to 100 endpoints, the fullest first.
 * - If endpoints remain, and an unchanged EndpointSlice has room for all of them, the fullest such EndpointSlice gets all of them.
 * - If endpoints remain, and no unchanged EndpointSlice has room for all of them, a new EndpointSlice gets up to 100 of them. The second
 *   step then handles the endpoints that still remain.
 *
 * @param empty a new EndpointSlice without endpoints.
 */
function planGroup(empty: SliceInput, slices: readonly Slice[], endpoints: readonly Endpoint[]): SliceChanges {
  const missing = new Map(endpoints.map((endpoint) => [identity(endpoint), endpoint]))
  const changed: SliceInput[] = []
  const unchanged: Slice[] = []
  const remove: Slice[] = []
  for (const slice of slices) {
    const before = slice.endpoints ?? []
    const kept = before.flatMap((endpoint) => missing.get(identity(endpoint)) ?? [])
    for (const endpoint of kept) missing.delete(identity(endpoint))
    const isSame = jsonEqual(kept, before)
    if (!isSame && kept.length === 0) remove.push(slice)
    else if (isSame && jsonEqual(slice.metadata.labels, empty.metadata.labels)) unchanged.push(slice)
    else changed.push(withEndpoints(slice, empty, kept))
  }
  const open = [...missing.values()]
  const create: SliceInput[] = []
  const update = changed
    .toSorted((a, b) => b.endpoints.length - a.endpoints.length)
    .map((slice) => ({ ...slice, endpoints: [...slice.endpoints, ...open.splice(0, maxEndpoints - slice.endpoints.length)] }))
  while (open.length > 0) {
    const fitting = fullestThatFits(unchanged, open.length)
    if (fitting === undefined) create.push({ ...empty, endpoints: open.splice(0, maxEndpoints) })
    else update.push(withEndpoints(fitting, empty, [...((fitting.endpoints ?? []) as readonly Endpoint[]), ...open.splice(0)]))
  }
  return { create, update, remove }
}

/** Returns the fullest slice that has room for `count` more endpoints. Returns undefined when no slice has that much room. */
function fullestThatFits(slices: readonly Slice[], count: number): Slice | undefined {
  const size = ({ endpoints }: Slice): number => endpoints?.length ?? 0
  return slices.filter((slice) => size(slice) + count <= maxEndpoints).sort((a, b) => size(b) - size(a))[0]
}

function withEndpoints(slice: Slice, { metadata: { labels } }: SliceInput, endpoints: Endpoint[]): SliceInput {
  return { ...(slice as SliceInput), metadata: { ...(slice.metadata as SliceInput['metadata']), labels: labels! }, endpoints }
}

/**
 * Returns a key that depends only on the addresses, the host name and the target of the endpoint. A change of other fields, such as the
 * conditions, does not change the key.
 */
function identity({ addresses, hostname = '', targetRef }: DeepReadonly<Endpoint>): string {
  return JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name])
}

/** Returns a key for a list of ports. Lists that contain the same ports in different order have the same key. */
export function portsKey(ports: readonly DeepReadonly<EndpointPort>[] | null | undefined): string {
  return canonicalJson((ports ?? []).map(canonicalJson).sort())
}

function isOwnedBy({ metadata }: Slice, service: ReadonlyService): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  )
}

/**
 * Returns true when an existing EndpointSlice equals the placeholder: it has the labels and owner references of the placeholder, no
 * endpoints and no ports.
 */
function isSameSlice(slice: Slice, placeholder: SliceInput): boolean {
  const { labels, ownerReferences } = slice.metadata
  return (
    jsonEqual([labels, ownerReferences], [placeholder.metadata.labels, placeholder.metadata.ownerReferences]) &&
    (slice.endpoints ?? []).length + (slice.ports ?? []).length === 0
  )
}

/** Returns a new EndpointSlice without endpoints (k8s.io/endpointslice: newEndpointSlice). */
function newSlice(service: ReadonlyService, addressType: AddressType, ports: readonly EndpointPort[]): SliceInput {
  const { name, namespace } = service.metadata
  return {
    metadata: {
      generateName: namePrefixOf(name),
      namespace: namespace!,
      labels: labelsOf(service),
      ownerReferences: [controllerReference(service)],
    },
    addressType,
    endpoints: [],
    ports: [...ports],
  }
}

/**
 * Returns the prefix of the names of a Service's EndpointSlices. The API server appends a random suffix. The prefix is the name of the
 * Service and a dash. If this prefix is not valid, the prefix is only the name (k8s.io/endpointslice: getEndpointSlicePrefix).
 */
export function namePrefixOf(service: string): string {
  return dns1123Subdomain(`${service}a`).length === 0 ? `${service}-` : service
}

/** Returns the labels of a Service's EndpointSlices (k8s.io/endpointslice: setEndpointSliceLabels). */
function labelsOf(service: ReadonlyService): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = service.metadata.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: managerName,
  }
}
