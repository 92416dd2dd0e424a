/**
 * The EndpointSlice mirroring controller: copies the Endpoints of Services without a selector to EndpointSlices
 * (k8s.io/kubernetes/pkg/controller/endpointslicemirroring).
 */
import { service as serviceType } from '../../../api/builtin.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { discovery } from '../../../api/kubernetes/discovery.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { ReadonlyObject } from '../api-types.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { retryRefused } from '../retry-refused.ts'
import { mirroringManager, planMirror } from './plan-mirror.ts'
import type { Slice } from './plan-slices.ts'
import { managedByLabel, serviceNameLabel } from './plan-slices.ts'

type Endpoints = DeepReadonly<core.Endpoints>

/** Endpoints are not mirrored if this label has the value `true`. */
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
/** Endpoints with this annotation are a lock for leader election, and are not mirrored. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

export function endpointsMirroringController(): ControllerDefinition {
  return defineController(core.endpoints, {
    name: 'endpointslice-mirroring',
    resyncPeriodMs: 0,
    workers: 4,
    watches: [
      { type: serviceType, map: ({ metadata }) => [metadata] },
      { type: discovery.endpointSlice, map: endpointsOfSlice },
    ],
    reconcile: retryRefused(reconcileEndpoints),
    deleted: (key, context) => remove(slicesOf(key, context), context),
  })
}

function endpointsOfSlice({ metadata }: ReadonlyObject): readonly ObjectKey[] {
  const name = metadata.labels?.[serviceNameLabel]
  return name && metadata.labels?.[managedByLabel] === mirroringManager ? [{ namespace: metadata.namespace, name }] : []
}

async function reconcileEndpoints(endpoints: Endpoints, context: ReconcileContext): Promise<Result> {
  const { client, cache, events } = context
  const { namespace, name, deletionTimestamp } = endpoints.metadata
  const slices = slicesOf({ namespace, name }, context)
  const service = cache.get(serviceType, { namespace, name })
  if (service === undefined || service.spec?.selector !== undefined || !isMirrored(endpoints)) return remove(slices, context)
  const { create, update, remove: surplus, skipped, limit } = planMirror(endpoints, slices)
  if (skipped > 0) {
    const message = `A max of ${limit} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    events.event(endpoints, 'Warning', 'TooManyAddressesToMirror', message)
  }
  try {
    if (deletionTimestamp === undefined) for (const slice of create) await client.create(discovery.endpointSlice, slice)
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    throw error
  }
  for (const slice of update) await client.update(discovery.endpointSlice, slice)
  await remove(surplus, context)
}

function isMirrored({ metadata }: Endpoints): boolean {
  return metadata.labels?.[skipLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined
}

/** Returns the EndpointSlices that mirror these Endpoints and that are not being deleted. */
function slicesOf({ namespace, name }: ObjectKey, { cache }: ReconcileContext): readonly Slice[] {
  const matchLabels = { [serviceNameLabel]: name, [managedByLabel]: mirroringManager }
  const slices = cache.list(discovery.endpointSlice, { namespace, labelSelector: { matchLabels } })
  return slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

async function remove(slices: readonly Slice[], { client }: ReconcileContext): Promise<void> {
  for (const { metadata } of slices) {
    try {
      await client.delete(discovery.endpointSlice, metadata)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
