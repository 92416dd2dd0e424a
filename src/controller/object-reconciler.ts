/**
 * Combines two functions of an operator into one `Reconciler`: `reconcile`, which is called with an object, and `deleted`, which is called
 * with a key.
 */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { KeyOf, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { isNotFound } from '../client/api-error.ts'
import { namespacesOf, selectorsOf } from '../cache/view.ts'
import type { ControllerSettings } from './settings.ts'
import type { ReconcileContext, Reconciler, ReconcileRequest, Result } from './reconciler.ts'
import { isTerminal } from './reconciler.ts'

/**
 * Returns a reconciler for the objects of `type`:
 *
 * - If the cache contains the object, the reconciler calls `reconcile`.
 * - If the cache does not contain the object, and a deletion event of the object was received, the reconciler calls `deleted`. The informer
 *   also receives a deletion event when an object leaves a view (see `cacheView`).
 * - If the cache does not contain the object, and no deletion event of the object was received, the reconciler gets the object from the API
 *   server. This case occurs, for example, when the event of a dependent arrives before the event of the object that owns the dependent.
 *
 * The next step depends on the response of the API server:
 *
 * - If the object does not exist, the reconciler calls `deleted`.
 * - If the object exists, and `type` is not a view, the reconciler requeues the key.
 * - If the object exists, and `type` is a view that contains the object, the reconciler requeues the key.
 * - If the object exists, and `type` is a view that does not contain the object, the reconciler does nothing.
 *
 * If `deleted` is undefined, the reconciler does nothing for an object that the cache does not contain.
 *
 * @param seenGone the keys of objects whose deletion events were received. The reconciler removes the keys that it has handled.
 */
export function objectReconciler<R extends ResourceType>(
  type: R,
  { reconcile, deleted }: Pick<ControllerSettings<ObjectOf<R>>, 'reconcile' | 'deleted'>,
  seenGone: Set<string>,
): Reconciler {
  async function reconcileMissing(request: ReconcileRequest, context: ReconcileContext): Promise<Result> {
    const key = formatKey(request)
    if (deleted === undefined) {
      seenGone.delete(key)
      return undefined
    }
    if (!seenGone.has(key) && (await isThere(type, request, context))) {
      if (!(await isInView(type, request, context))) return undefined
      context.logger.debug('the object is there, and the cache does not have it yet')
      return { requeue: true }
    }
    try {
      const result = await deleted(request as KeyOf<ObjectOf<R>>, context)
      seenGone.delete(key)
      return result
    } catch (error) {
      // A terminal error is not retried, so the key is removed from `seenGone`. After any other error, the key stays in `seenGone` for the
      // retry.
      if (isTerminal(error)) seenGone.delete(key)
      throw error
    }
  }

  return (request, context) => {
    const object = context.cache.get(type, request)
    if (object === undefined) return reconcileMissing(request, context)
    if (seenGone.size > 0) seenGone.delete(formatKey(request))
    return reconcile(object, context)
  }
}

/** Returns whether an existing object is in the view `type`. Returns true when `type` is not a view. */
async function isInView(type: ResourceType, { namespace, name }: ObjectKey, { client }: ReconcileContext): Promise<boolean> {
  const { labelSelector, fieldSelector } = selectorsOf(type)
  const namespaces = namespacesOf(type)
  if (namespaces.length > 0 && !namespaces.includes(namespace ?? '')) return false
  if (labelSelector === undefined && fieldSelector === undefined) return true
  const fields = [...(fieldSelector === undefined ? [] : [fieldSelector]), `metadata.name=${name}`].join(',')
  const options = { namespace, fieldSelector: fields, ...(labelSelector === undefined ? {} : { labelSelector }), limit: 1 }
  return (await client.list(type, options)).items.length > 0
}

async function isThere(type: ResourceType, key: ObjectKey, { client }: ReconcileContext): Promise<boolean> {
  try {
    await client.get(type, key)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
