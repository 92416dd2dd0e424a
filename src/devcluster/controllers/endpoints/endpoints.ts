/** The Endpoints controller: maintains the Endpoints of Services with a selector (k8s.io/kubernetes/pkg/controller/endpoint). */
import { pod as podType, service as serviceType } from '../../../api/builtin.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import { core } from '../../../api/kubernetes/core.ts'
import type { ObjectInput, ObjectKey } from '../../../api/object.ts'
import { formatKey } from '../../../api/object.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import { funcs } from '../../../controller/predicates.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { ReadonlyPod, ReadonlyService } from '../api-types.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { retryRefused } from '../retry-refused.ts'
import type { AddressType } from './endpoint.ts'
import {
  addressesOfType,
  hasAddress,
  hasOwnEndpoints,
  hostnameOf,
  isHeadless,
  portsOf,
  referenceTo,
  selectedPods,
  servicesOfPod,
} from './endpoint.ts'
import { headlessLabel } from './plan-slices.ts'
import { isReady } from '../workloads/pod-state.ts'
import type { PodAddress, Port } from './subsets.ts'
import { isSameSubsets, packSubsets } from './subsets.ts'
import { TriggerTimes, triggerAnnotation } from './trigger-times.ts'

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const managerName = 'endpoint-controller'

/** Returns the Endpoints controller. An Endpoints object has the name of its Service, and is deleted with the Service. */
export function endpointsController(): ControllerDefinition {
  const times = new TriggerTimes()
  return defineController(serviceType, {
    name: 'endpoints',
    resyncPeriodMs: 0,
    workers: 4,
    watches: [
      { type: podType, map: servicesOfPod },
      // The deletion of an Endpoints object enqueues the Service, and the reconcile creates the object again. An update of an Endpoints
      // object does not enqueue the Service. If a user updates the object, the update is kept until the Service or a Pod changes.
      { type: core.endpoints, map: ({ metadata }) => [metadata], predicates: [funcs({ added: () => false, updated: () => false })] },
    ],
    reconcile: retryRefused((service: ReadonlyService, context: ReconcileContext) => reconcileService(service, times, context)),
    deleted: (key, context) => {
      times.forget(formatKey(key))
      return remove(key, context)
    },
  })
}

async function remove(key: ObjectKey, { client, cache }: ReconcileContext): Promise<void> {
  if (cache.get(core.endpoints, key) === undefined) return
  try {
    await client.delete(core.endpoints, key)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function reconcileService(service: ReadonlyService, times: TriggerTimes, { client, cache }: ReconcileContext): Promise<Result> {
  if (!hasOwnEndpoints(service)) return
  const pods = selectedPods(service, { cache })
  const triggerTime = times.next(service, pods)
  const { name, namespace } = service.metadata
  const subsets = packSubsets(pods.flatMap((pod) => podAddress(pod, service)))
  const labels = labelsOf(service)
  const existing = cache.get(core.endpoints, { namespace, name })
  if (existing !== undefined && isSameSubsets(existing.subsets ?? [], subsets) && jsonEqual(existing.metadata.labels, labels)) return
  const { [triggerAnnotation]: _before, ...kept } = existing?.metadata.annotations ?? {}
  const annotations = { ...kept, ...(triggerTime !== undefined && { [triggerAnnotation]: triggerTime }) }
  const base = (existing ?? { metadata: { name, namespace } }) as DeepReadonly<ObjectInput<core.Endpoints>>
  const written = { ...base, metadata: { ...base.metadata, labels, annotations }, subsets } as ObjectInput<core.Endpoints>
  if (existing !== undefined) {
    await client.update(core.endpoints, written)
    return
  }
  try {
    await client.create(core.endpoints, written)
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error
  }
}

/**
 * Returns a list with the address of a Pod. The list is empty if the Pod must not be in the Endpoints of the Service. The address of a Pod
 * that is being deleted is returned only if `publishNotReadyAddresses` is true.
 */
function podAddress(pod: ReadonlyPod, service: ReadonlyService): PodAddress[] {
  const { publishNotReadyAddresses = false, ports: servicePorts = [], ipFamilies = ['IPv4'] } = service.spec ?? {}
  const [ip] = addressesOfType(pod, (ipFamilies[0] ?? 'IPv4') as AddressType)
  if (ip === undefined || !hasAddress(pod) || (pod.metadata.deletionTimestamp !== undefined && !publishNotReadyAddresses)) return []
  const ports = portsOf(service, pod).map(({ name, ...port }): Port => ({ ...(name && { name }), ...port }) as Port)
  if (ports.length === 0 && (servicePorts.length > 0 || !isHeadless(service))) return []
  const hostname = hostnameOf(pod, service)
  const nodeName = pod.spec?.nodeName
  const address = { ip, ...(hostname !== undefined && { hostname }), ...(nodeName && { nodeName }), targetRef: referenceTo(pod) }
  return [{ address, ready: publishNotReadyAddresses || isReady(pod), ports }]
}

function labelsOf(service: ReadonlyService): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = service.metadata.labels ?? {}
  return { ...labels, ...(isHeadless(service) && { [headlessLabel]: '' }), [managedByLabel]: managerName }
}
