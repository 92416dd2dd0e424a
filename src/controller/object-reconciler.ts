/** Turns an operator's reconciler, which receives an object, into one that receives a key. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { KeyOf, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { isNotFound } from '../client/api-error.ts'
import type { ControllerSettings } from './settings.ts'
import type { ReconcileContext, Reconciler } from './reconciler.ts'

/**
 * Calls `deleted` only when the object is gone. An object that is missing in the cache may merely not have arrived there, for example when
 * the event of a dependent arrives before the event of its owner. Unless its deletion event was seen, the object is therefore requested
 * from the API server.
 *
 * @param seenGone the keys of objects whose deletion event was seen; handled keys are removed.
 */
export function objectReconciler<R extends ResourceType>(
  type: R,
  { reconcile, deleted }: Pick<ControllerSettings<ObjectOf<R>>, 'reconcile' | 'deleted'>,
  seenGone: Set<string>,
): Reconciler {
  return async (request, context) => {
    const key = formatKey(request)
    const object = context.cache.get(type, request)
    if (object !== undefined) {
      seenGone.delete(key)
      return reconcile(object, context)
    }
    if (deleted === undefined) {
      seenGone.delete(key)
      return undefined
    }
    if (!seenGone.has(key) && (await isThere(type, request, context))) {
      context.logger.debug('the object is there, and the cache does not have it yet')
      return { requeue: true }
    }
    const result = await deleted(request as KeyOf<ObjectOf<R>>, context)
    seenGone.delete(key)
    return result
  }
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
