/** The EndpointSlice controller: maintains EndpointSlices of Services with a selector (k8s.io/kubernetes/pkg/controller/endpointslice). */
import { isIPv6 } from 'node:net'
import { node as nodeType, pod as podType, service as serviceType } from '../../../api/builtin.ts'
import { canonicalJson } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { formatKey } from '../../../api/object.ts'
import { discovery } from '../../../api/kubernetes/discovery.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { ReadonlyObject, ReadonlyPod, ReadonlyService } from '../api-types.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { retryRefused } from '../retry-refused.ts'
import type { AddressType, Endpoint, EndpointPort } from './endpoint.ts'
import { endpointOf, hasAddress, hasOwnEndpoints, portsOf, selectedPods, servicesOfPod } from './endpoint.ts'
import type { EndpointGroup, Slice, SliceChanges, SliceInput } from './plan-slices.ts'
import { managedByLabel, managerName, planSlices, serviceNameLabel } from './plan-slices.ts'
import { TriggerTimes, triggerAnnotation } from './trigger-times.ts'

export function endpointSliceController(): ControllerDefinition {
  const times = new TriggerTimes()
  return defineController(serviceType, {
    name: 'endpointslice',
    resyncPeriodMs: 0,
    workers: 4,
    watches: [
      { type: podType, map: servicesOfPod },
      { type: discovery.endpointSlice, map: serviceOfSlice },
      { type: nodeType, map: () => [] },
    ],
    reconcile: retryRefused((service: ReadonlyService, context: ReconcileContext) => reconcileService(service, times, context)),
    deleted: (key) => Promise.resolve(times.forget(formatKey(key))),
  })
}

function serviceOfSlice({ metadata }: ReadonlyObject): readonly ObjectKey[] {
  const name = metadata.labels?.[serviceNameLabel]
  return name ? [{ namespace: metadata.namespace, name }] : []
}

async function reconcileService(service: ReadonlyService, times: TriggerTimes, context: ReconcileContext): Promise<Result> {
  if (!hasOwnEndpoints(service)) return undefined
  const pods = selectedPods(service, context)
  const slices = slicesOf(service, context)
  const triggerTime = times.next(service, pods)
  const types = addressTypesOf(service)
  const groups = types.map((type) => groupsOf(service, pods, type, context))
  const outdated = slices.filter(({ addressType }) => !types.includes(addressType as AddressType))
  const plans = types.map((type, index) => planSlices(service, type, ofType(slices, type), groups[index]!.groups))
  try {
    for (const plan of plans) await write(plan, service, triggerTime, context)
    for (const slice of outdated) await remove(slice, context)
  } catch (error) {
    const { namespace, name } = service.metadata
    const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${error instanceof Error ? error.message : String(error)}`
    context.events.event(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
    throw error
  }
  return groups.some(({ lacksNode }) => lacksNode) ? { requeue: true } : undefined
}

/** Returns the EndpointSlices that this controller manages for a Service and that are not being deleted. */
function slicesOf({ metadata }: ReadonlyService, { cache }: ReconcileContext): readonly Slice[] {
  const matchLabels = { [serviceNameLabel]: metadata.name, [managedByLabel]: managerName }
  const slices = cache.list(discovery.endpointSlice, { namespace: metadata.namespace, labelSelector: { matchLabels } })
  return slices.filter((slice) => slice.metadata.deletionTimestamp === undefined)
}

function ofType(slices: readonly Slice[], type: AddressType): readonly Slice[] {
  return slices.filter(({ addressType }) => addressType === type)
}

/** Returns the address types of a Service's EndpointSlices (k8s.io/endpointslice: getAddressTypesForService). */
function addressTypesOf({ spec }: ReadonlyService): readonly AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter((family) => family === 'IPv4' || family === 'IPv6')
  if (families.length > 0) return families
  return [isIPv6(spec?.clusterIP ?? '') ? 'IPv6' : 'IPv4']
}

/**
 * Returns the endpoints of one address type, grouped by the ports of their Pods. `lacksNode` is true if a Pod is left out because the cache
 * does not contain the node of the Pod.
 */
function groupsOf(
  service: ReadonlyService,
  pods: readonly ReadonlyPod[],
  type: AddressType,
  { cache }: ReconcileContext,
): { readonly groups: readonly EndpointGroup[]; readonly lacksNode: boolean } {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>()
  let lacksNode = false
  for (const pod of pods.filter(hasAddress)) {
    const ports = portsOf(service, pod)
    const key = canonicalJson(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    groups.set(key, group)
    const node = cache.get(nodeType, { name: pod.spec?.nodeName ?? '' })
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      lacksNode = true
      continue
    }
    const endpoint = endpointOf(pod, node, service, type)
    if (endpoint.addresses.length > 0) group.endpoints.push(endpoint)
  }
  return { groups: [...groups.values()], lacksNode }
}

async function write(
  changes: SliceChanges,
  service: ReadonlyService,
  triggerTime: string | undefined,
  context: ReconcileContext,
): Promise<void> {
  const { client } = context
  // While the Service is being deleted, no EndpointSlice is created, because the garbage collector deletes all EndpointSlices of the
  // Service.
  const created = service.metadata.deletionTimestamp === undefined ? changes.create : []
  try {
    for (const slice of created) await client.create(discovery.endpointSlice, withTriggerTime(slice, triggerTime))
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    throw error
  }
  for (const slice of changes.update) await client.update(discovery.endpointSlice, withTriggerTime(slice, triggerTime))
  for (const slice of changes.remove) await remove(slice, context)
}

function withTriggerTime(slice: SliceInput, time: string | undefined): SliceInput {
  const { [triggerAnnotation]: _before, ...annotations } = slice.metadata.annotations ?? {}
  return {
    ...slice,
    metadata: { ...slice.metadata, annotations: { ...annotations, ...(time !== undefined && { [triggerAnnotation]: time }) } },
  }
}

async function remove({ metadata }: Slice, { client }: ReconcileContext): Promise<void> {
  try {
    await client.delete(discovery.endpointSlice, metadata)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
