/** Empties namespaces that are being deleted, and then lets them go. */
import type { Namespace } from '../../api/builtin.ts'
import { namespace as namespaceType } from '../../api/builtin.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { isApiError, isNotFound } from '../../client/api-error.ts'
import { objectPath, resourcePath } from '../../client/resource-path.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { controller } from '../../controller/builder.ts'
import type { ReconcileContext } from '../../controller/reconciler.ts'
import type { TypeSource } from './type-source.ts'

const finalizer = 'kubernetes'
/** How soon a namespace is looked at again whose content takes its time: Pods with a grace period, objects with finalizers. */
const retryMs = 200
/**
 * How long a namespace is left as it is: who deletes it together with what is in it, as `kubectl delete -k` does, then still finds
 * the latter. Kubernetes waits 5 s.
 */
const graceMs = 2_000

export function namespaceController(source: TypeSource): ControllerDefinition {
  return controller(namespaceType, {
    name: 'namespace',
    workers: 4,
    async reconcile(namespace, context) {
      const { deletionTimestamp } = namespace.metadata
      if (deletionTimestamp === undefined || namespace.spec?.finalizers?.includes(finalizer) !== true) return undefined
      const waitMs = Date.parse(deletionTimestamp) + graceMs - context.clock.now()
      if (waitMs > 0) return { requeueAfter: waitMs }
      const types = source.types().filter(({ namespaced }) => namespaced)
      const left = await Promise.all(types.map((type) => deleteContent(type, namespace.metadata.name, context)))
      if (left.some((hasContent) => hasContent)) return { requeueAfter: retryMs }
      await finalize(namespace, context)
      return undefined
    },
  })
}

/** Deletes all objects of a type; true when some are left. */
async function deleteContent(type: ResourceType, namespace: string, { client, signal }: ReconcileContext): Promise<boolean> {
  const path = resourcePath(type, { namespace })
  try {
    const hasContent = async (): Promise<boolean> => (await client.list(type, { namespace, limit: 1, signal })).items.length > 0
    if (!(await hasContent())) return false
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
    await client.raw(path, { method: 'DELETE', body, contentType: 'application/json', signal })
    return await hasContent()
  } catch (error) {
    // The type has just gone away, and its objects with it; or it cannot be deleted at all.
    if (isNotFound(error) || (isApiError(error) && error.statusCode === 405)) return false
    throw error
  }
}

async function finalize(namespace: DeepReadonly<Namespace>, { client, signal }: ReconcileContext): Promise<void> {
  const { name } = namespace.metadata
  const finalizers = namespace.spec?.finalizers?.filter((held) => held !== finalizer) ?? []
  const body = { ...namespace, apiVersion: 'v1', kind: 'Namespace', spec: { ...namespace.spec, finalizers } }
  try {
    await client.raw(objectPath(namespaceType, { name }, 'finalize'), { method: 'PUT', body, contentType: 'application/json', signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
