/**
 * `readYourWrites`: a client that passes the results of its write requests to the cache. A read from the cache after a write therefore never
 * returns an older state than the one written, however long the watch needs to send it.
 */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { isObject } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import { isMetadataOnly } from '../client/metadata-only.ts'
import type { Origin } from './origin.ts'

/** Receives the results of write requests. Types that are not in the cache are ignored. */
export interface OwnWrites {
  /** `object` is the API server's response to a write of `origin`. The method does not change `object`. */
  written<R extends ResourceType>(type: R, object: ObjectOf<R>, origin?: Origin): void
  /** Returns the uids of the objects with this key in the cache. Two views of a type may have different objects for a while. */
  uidsOf(type: ResourceType, key: ObjectKey): readonly string[]
  /**
   * Called when a request of this process has deleted the object with this uid.
   *
   * @param before the result of `uidsOf` before the request was sent. Any other uid in it is that of an earlier object with the same key.
   * Such an object no longer exists.
   */
  deleted(type: ResourceType, key: ObjectKey, uid: string, before?: readonly string[]): void
}

export function readYourWrites(client: Client, writes: OwnWrites): Client {
  /** Passes the response to the cache, and returns it. A subresource whose kind is not that of `type` is ignored by the cache. */
  async function after<Result>(
    type: ResourceType,
    response: Promise<Result>,
    options: { readonly dryRun?: boolean } | undefined,
  ): Promise<Result> {
    const object = await response
    // A response with only the metadata must not replace the object in the cache. In tests, the client may be a stub that returns
    // undefined.
    if (options?.dryRun !== true && isObject(object) && !isMetadataOnly(type)) writes.written(type, object as unknown as KubernetesObject)
    return object
  }

  return {
    fieldManager: client.fieldManager,
    get: (type, key, options) => client.get(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => after(type, client.create(type, object, options), options),
    update: (type, object, options) => after(type, client.update(type, object, options), options),
    patch: (type, key, patch, options) => after(type, client.patch(type, key, patch, options), options),
    apply: (type, object, options) => after(type, client.apply(type, object, options), options),
    updateStatus: (type, object, options) => after(type, client.updateStatus(type, object, options), options),
    patchStatus: (type, key, patch, options) => after(type, client.patchStatus(type, key, patch, options), options),
    async delete(type, key, options) {
      const before = writes.uidsOf(type, key)
      const response = await client.delete(type, key, options)
      if (options?.dryRun === true || !isObject(response)) return response
      const { metadata } = response as Partial<KubernetesObject>
      // The object still exists, because finalizers or a grace period delay the deletion.
      if (metadata?.deletionTimestamp !== undefined) writes.written(type, response as ObjectOf<typeof type>)
      else {
        const uid = metadata?.uid ?? (response as Status).details?.uid
        if (uid !== undefined) writes.deleted(type, key, uid, before)
      }
      return response
    },
    // The response does not show which objects were deleted.
    deleteCollection: (type, options) => client.deleteCollection(type, options),
    logs: (key, options) => client.logs(key, options),
    raw: (path, options) => client.raw(path, options),
    close: () => client.close(),
  }
}
