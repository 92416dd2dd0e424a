/**
 * The namespace controller: deletes the objects in terminating namespaces, and updates the conditions of these namespaces. When a namespace
 * is empty, the controller removes the finalizer `kubernetes`.
 */
import type { Condition } from '../../api/conditions.ts'
import type { Namespace } from '../../api/builtin.ts'
import { namespace as namespaceType } from '../../api/builtin.ts'
import type { DeepReadonly } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import type { JsonValue } from '../../api/json.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { isApiError, isNotFound } from '../../client/api-error.ts'
import { objectPath, resourcePath } from '../../client/resource-path.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'
import type { ReconcileContext } from '../../controller/reconciler.ts'
import type { Remainder } from './namespace-conditions.ts'
import { namespaceConditions } from './namespace-conditions.ts'
import type { TypeSource } from './type-source.ts'

const finalizer = 'kubernetes'
/**
 * Time in milliseconds after which a namespace that still contains objects is requeued. Examples of such objects are Pods in their grace
 * period and objects with finalizers.
 */
const retryMs = 200
/**
 * Time in milliseconds from the `deletionTimestamp` of a namespace to the deletion of the objects in the namespace. A client such as
 * `kubectl delete -k` can delete a namespace first and then the objects in the namespace. The client must still find these objects.
 * Kubernetes waits 5 s (k8s.io/kubernetes/pkg/controller/namespace: namespaceDeletionGracePeriod).
 */
const graceMs = 2_000

export function namespaceController(source: TypeSource): ControllerDefinition {
  return defineController(namespaceType, {
    name: 'namespace',
    resyncPeriodMs: 0,
    workers: 4,
    async reconcile(namespace, context) {
      const { deletionTimestamp } = namespace.metadata
      if (deletionTimestamp === undefined || namespace.spec?.finalizers?.includes(finalizer) !== true) return undefined
      const waitMs = Date.parse(deletionTimestamp) + graceMs - context.clock.now()
      if (waitMs > 0) return { requeueAfterMs: waitMs }
      const types = source.types().filter(({ namespaced }) => namespaced)
      const left = await Promise.all(types.map((type) => deleteContent(type, namespace.metadata.name, context)))
      const remainders = left.filter((remainder) => remainder !== undefined)
      await report(namespace, remainders, context)
      if (remainders.length > 0) return { requeueAfterMs: retryMs }
      await finalize(namespace, context)
      return undefined
    },
  })
}

/** Deletes all objects of a type in the namespace. Returns the objects that still exist; undefined if no object remains. */
async function deleteContent(type: ResourceType, namespace: string, { client }: ReconcileContext): Promise<Remainder | undefined> {
  const path = resourcePath(type, { namespace })
  try {
    const { items: found } = await client.list(type, { namespace, limit: 1 })
    if (found.length === 0) return undefined
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
    await client.raw(path, { method: 'DELETE', body, contentType: 'application/json' })
    const { items } = await client.list(type, { namespace })
    return items.length === 0 ? undefined : { type, finalizers: items.map(({ metadata }) => metadata.finalizers ?? []) }
  } catch (error) {
    // A type that is no longer served (404) has no objects. If a type does not support the verb `deletecollection` (405), its objects are
    // kept, and the deletion of the namespace does not wait for them.
    if (isNotFound(error) || (isApiError(error) && error.statusCode === 405)) return undefined
    throw error
  }
}

/** Updates the conditions of the namespace if they have changed. */
async function report(
  { metadata, status }: DeepReadonly<Namespace>,
  remainders: readonly Remainder[],
  { client, clock }: ReconcileContext,
): Promise<void> {
  const conditions = namespaceConditions((status?.conditions ?? []) as readonly Condition[], remainders, clock.now())
  if (jsonEqual(conditions as unknown as JsonValue, (status?.conditions ?? []) as unknown as JsonValue)) return
  try {
    await client.patchStatus(namespaceType, { name: metadata.name }, { status: { conditions } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function finalize({ metadata: { name } }: DeepReadonly<Namespace>, { client }: ReconcileContext): Promise<void> {
  try {
    const latest = await client.get(namespaceType, { name })
    const finalizers = latest.spec?.finalizers?.filter((held) => held !== finalizer) ?? []
    const body = { ...latest, apiVersion: 'v1', kind: 'Namespace', spec: { ...latest.spec, finalizers } }
    await client.raw(objectPath(namespaceType, { name }, 'finalize'), { method: 'PUT', body, contentType: 'application/json' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
