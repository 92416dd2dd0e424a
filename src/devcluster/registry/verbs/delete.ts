/** DELETE: removes an object. If the object has finalizers or a grace period, DELETE only sets the deletionTimestamp of the object. */
import { formatTime } from '../../../api/conditions.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { validateDeleteOptions } from './delete-options.ts'
import { inGoOrder } from '../../types/go-order.ts'
import type { Environment } from '../environment.ts'
import { finalizersOf, mayBeRemoved, metadataOf, metadataText, withMetadata } from '../metadata.ts'
import { secondsToMs } from '../../apimachinery/duration.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { StatusError, conflict, notFound } from '../../apimachinery/status-error.ts'

const attempts = 5
const policyFinalizers: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' }

export interface Deletion {
  /**
   * One of the following:
   *
   * - If the object still exists: the object.
   * - If the object is removed, and DELETE returns deleted objects of this type (`returnsDeleted`): the last state of the object.
   * - In all other cases: a `Status`.
   */
  readonly object: JsonObject
  /**
   * True if the object still exists after the DELETE, for example because the object has a finalizer. In a dry run, the field has the value
   * that it would have without the dry run.
   */
  readonly accepted: boolean
}

export async function deleteObject(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  options: JsonObject,
  context: RequestContext,
  /** The name in AdmissionReviews: the name in the URL. For a deletecollection, the name is empty, because the URL contains no name. */
  requestName: string = key.name,
): Promise<Deletion> {
  validateDeleteOptions(options)
  for (const text of info.strategy.deletionWarnings?.(options) ?? []) context.warn(text)
  const { store, representation, admission } = environment
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.latest(info.storageKey, key)
    if (stored === undefined) throw notFound(info, key.name)
    await representation.prepare(info, [stored], { refresh: true })
    const old = representation.present(info, stored)
    checkPreconditions(info, old, options)
    refuseDeletion(info, old)
    const namespace = key.namespace === undefined ? {} : { namespace: key.namespace }
    const attributes = {
      info,
      subresource: '',
      operation: 'DELETE' as const,
      ...namespace,
      name: requestName,
      oldObject: old,
      context,
    }
    await admission.mutate(attributes, (object) => object)
    await admission.validate(attributes)

    const marked = markForDeletion(info, old, options, environment.clock.now())
    const isRemoved = mayBeRemoved(info, marked)
    // If the type has no graceful deletion, kube-apiserver removes an object without setting its deletionTimestamp. The response then has
    // no deletionTimestamp.
    const isUnmarked = isRemoved && info.strategy.gracePeriodSeconds === undefined
    if (context.dryRun) return answer(info, isUnmarked ? old : marked, isRemoved)
    if (isRemoved) {
      const last = await store.delete(info.storageKey, key, stored)
      if (last !== undefined) {
        const shown = isUnmarked ? await representation.show(info, last) : marked
        return answer(info, withMetadata(shown, { resourceVersion: metadataText(last, 'resourceVersion') }), true)
      }
    } else if (jsonEqual(marked, old)) {
      if (store.latest(info.storageKey, key) === stored) {
        await store.committed()
        return answer(info, old, false)
      }
    } else {
      const result = await store.put(info.storageKey, key, await representation.toStorage(info, marked), stored)
      if (result !== undefined) return answer(info, await representation.show(info, result), false)
    }
    if (attempt === attempts) throw conflict(info, key.name)
  }
}

function answer(info: ResourceInfo, last: JsonObject, gone: boolean): Deletion {
  if (!gone || info.strategy.returnsDeleted === true) return { object: inGoOrder(last, info.goType), accepted: !gone }
  const details = {
    name: metadataText(last, 'name'),
    ...(info.group === '' ? {} : { group: info.group }),
    kind: info.plural,
    uid: metadataText(last, 'uid'),
  }
  return { object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }, accepted: false }
}

/** Returns the object with a deletionTimestamp, and with the finalizers that the propagation policy requires. */
function markForDeletion(info: ResourceInfo, object: JsonObject, options: JsonObject, now: number): JsonObject {
  const metadata = metadataOf(object)
  const finalizers = finalizersFor(info, object, options)
  const held = withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : [...finalizers] })
  const { gracePeriodSeconds } = options
  // kube-apiserver replaces a negative grace period by 1 s (k8s.io/apiserver/pkg/registry/rest: BeforeDelete).
  const requested = typeof gracePeriodSeconds !== 'number' ? undefined : gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds
  const grace = info.strategy.gracePeriodSeconds === undefined ? 0 : (requested ?? info.strategy.gracePeriodSeconds(object))
  const effective = info.strategy.gracePeriodSeconds?.(object) === 0 ? 0 : grace
  const { deletionTimestamp, deletionGracePeriodSeconds: before, generation } = metadata
  if (typeof deletionTimestamp === 'string') {
    // Another DELETE can only shorten the remaining grace period.
    if (requested === undefined || typeof before !== 'number' || requested >= before) return held
    const due = Date.parse(deletionTimestamp) - secondsToMs(before) + secondsToMs(effective)
    return withMetadata(held, { deletionTimestamp: formatTime(due), deletionGracePeriodSeconds: effective })
  }
  const marked = withMetadata(held, {
    deletionTimestamp: formatTime(now + secondsToMs(effective)),
    deletionGracePeriodSeconds: effective,
    ...(typeof generation === 'number' && generation > 0 ? { generation: generation + 1 } : {}),
  })
  return info.strategy.beginDelete?.(marked) ?? marked
}

/**
 * Returns the finalizers of the object after a DELETE with these options. If a propagation policy applies, the finalizer of this policy is
 * added, and the finalizers of the other policies are removed (k8s.io/apiserver/pkg/registry/generic/registry:
 * deletionFinalizersForGarbageCollection).
 */
function finalizersFor(info: ResourceInfo, object: JsonObject, options: JsonObject): readonly string[] {
  const finalizers = finalizersOf(object)
  const { orphanDependents, propagationPolicy } = options
  const isDecided = finalizers.some((finalizer) => Object.values(policyFinalizers).includes(finalizer))
  const defaultPolicy = info.strategy.orphansDependents === true && !isDecided ? 'Orphan' : undefined
  const policy = typeof orphanDependents === 'boolean' ? (orphanDependents ? 'Orphan' : 'Background') : (propagationPolicy ?? defaultPolicy)
  if (typeof policy !== 'string') return finalizers
  const others = finalizers.filter((finalizer) => !Object.values(policyFinalizers).includes(finalizer))
  const wanted = policyFinalizers[policy]
  return wanted === undefined ? others : [...others, wanted]
}

/**
 * Compares the object with the preconditions in the `DeleteOptions`. Throws 409 if the preconditions contain a different uid or a different
 * resourceVersion.
 */
export function checkPreconditions(info: ResourceInfo, object: JsonObject, options: JsonObject): void {
  const preconditions = isObject(options.preconditions) ? options.preconditions : {}
  const name = metadataText(object, 'name')
  const uid = metadataText(object, 'uid')
  // kube-apiserver's error for a failed precondition contains the kind instead of the resource.
  const subject = { ...info, plural: info.kind }
  if (typeof preconditions.uid === 'string' && preconditions.uid !== uid) {
    const text = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw conflict(subject, name, text)
  }
  const resourceVersion = metadataText(object, 'resourceVersion')
  if (typeof preconditions.resourceVersion === 'string' && preconditions.resourceVersion !== resourceVersion) {
    const text = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw conflict(subject, name, text)
  }
}

function refuseDeletion(info: ResourceInfo, object: JsonObject): void {
  const refusal = info.strategy.canDelete?.(object)
  if (refusal !== undefined) throw new StatusError(refusal)
}

/** DELETE of a collection. The objects are deleted one after the other. */
export async function deleteObjects(
  environment: Environment,
  info: ResourceInfo,
  items: readonly JsonObject[],
  options: JsonObject,
  context: RequestContext,
): Promise<void> {
  for (const item of items) {
    const namespace = metadataText(item, 'namespace')
    const key = { ...(namespace === '' ? {} : { namespace }), name: metadataText(item, 'name') }
    try {
      await deleteObject(environment, info, key, options, context, '')
    } catch (error) {
      // If another client has deleted the object, the error is ignored.
      if (!(error instanceof StatusError && error.status.code === 404)) throw error
    }
  }
}
