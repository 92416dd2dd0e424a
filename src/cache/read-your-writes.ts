/**
 * `readYourWrites`: a client that passes the results of its write requests to the cache. After a write, a read from the cache therefore
 * returns the written state or a newer state, even if the watch has not sent the written state yet.
 */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import { isMetadataOnly } from '../client/metadata-only.ts'
import type { Origin } from './origin.ts'

/**
 * The states of one object in the cache. The keys are the type and its views, which are cached separately. The states of one object may
 * therefore differ for a while.
 */
export type StoredStates = ReadonlyMap<ResourceType, DeepReadonly<KubernetesObject>>

/** A write request. */
export interface SentWrite {
  /** The body of the request: an object or a patch. */
  readonly content: unknown
  /** The cached states of the object before the request was sent. */
  readonly before: StoredStates
}

/** Receives the results of write requests. Types that are not in the cache are ignored. */
export interface OwnWrites {
  /** Returns the cached states of the object with this key. */
  stored(type: ResourceType, key: ObjectKey): StoredStates
  /**
   * Stores the API server's response to a write request.
   *
   * @param object the response. The method does not change the response.
   * @param origin the reconcile that has sent the request; undefined when the sender is not a reconcile.
   * @param sent the write request. If `sent` or `origin` is absent, the response is not checked for changes of other clients.
   * @returns false when an error prevents the method from storing the response. Also false when the response may contain a change that
   *   another client has made and that is missing from `sent.before`.
   */
  written<R extends ResourceType>(type: R, object: ObjectOf<R>, origin?: Origin, sent?: SentWrite): boolean
  /**
   * Called when a request of this process has deleted an object.
   *
   * @param before the states that `stored` returned before the request was sent. An object in `before` can have a uid other than `uid`.
   *   Such an object no longer exists either, because only one object at a time can have the key.
   */
  deleted(type: ResourceType, key: ObjectKey, uid: string, before?: StoredStates): void
}

export function readYourWrites(client: Client, writes: OwnWrites): Client {
  /**
   * Sends a write request, passes the response to the cache, and returns the response. If the kind of the response is not the kind of
   * `type`, the cache ignores the response. For example, the response to a write to the subresource `scale` is a `Scale`.
   */
  async function write<Result>(
    type: ResourceType,
    key: ObjectKey,
    content: unknown,
    options: { readonly dryRun?: boolean } | undefined,
    send: () => Promise<Result>,
  ): Promise<Result> {
    // A response with only the metadata must not replace the object in the cache.
    if (options?.dryRun === true || isMetadataOnly(type)) return send()
    const before = writes.stored(type, key)
    const object = await send()
    // In tests, the client may be a stub that returns undefined.
    if (isObject(object)) writes.written(type, object as unknown as KubernetesObject, undefined, { content, before })
    return object
  }

  const keyIn = (object: object): ObjectKey => {
    const { namespace, name = '' } = (object as { readonly metadata: Partial<ObjectKey> }).metadata
    return { namespace, name }
  }

  return {
    fieldManager: client.fieldManager,
    get: (type, key, options) => client.get(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => write(type, keyIn(object), object, options, () => client.create(type, object, options)),
    update: (type, object, options) => write(type, keyIn(object), object, options, () => client.update(type, object, options)),
    patch: (type, key, patch, options) => write(type, key, patch, options, () => client.patch(type, key, patch, options)),
    apply: (type, object, options) => write(type, keyIn(object), object, options, () => client.apply(type, object, options)),
    updateStatus: (type, object, options) => write(type, keyIn(object), object, options, () => client.updateStatus(type, object, options)),
    patchStatus: (type, key, patch, options) => write(type, key, patch, options, () => client.patchStatus(type, key, patch, options)),
    async delete(type, key, options) {
      const before = writes.stored(type, key)
      const response = await client.delete(type, key, options)
      if (options?.dryRun === true || !isObject(response)) return response
      const { metadata } = response as Partial<KubernetesObject>
      // If the response has a deletionTimestamp, the object still exists: finalizers or a grace period delay the deletion.
      if (metadata?.deletionTimestamp !== undefined) {
        const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
        const content = { metadata: { deletionTimestamp, deletionGracePeriodSeconds } }
        writes.written(type, response as ObjectOf<typeof type>, undefined, { content, before })
      } else {
        const uid = metadata?.uid ?? (response as Status).details?.uid
        if (uid !== undefined) writes.deleted(type, key, uid, before)
      }
      return response
    },
    // The response does not show whether an object is already deleted, or still waits for finalizers or a grace period. The cache therefore
    // does not use the response.
    deleteCollection: (type, options) => client.deleteCollection(type, options),
    logs: (key, options) => client.logs(key, options),
    raw: (path, options) => client.raw(path, options),
    close: () => client.close(),
  }
}
