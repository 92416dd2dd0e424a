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
  /** `object` is the API server's response to a write of `origin`. It is not changed. */
  written<R extends ResourceType>(type: R, object: ObjectOf<R>, origin?: Origin): void
  /** Returns the uids that the objects with this key have in the cache. */
  uidsOf(type: ResourceType, key: ObjectKey): readonly string[]
  /**
   * The object with this uid no longer exists.
   *
   * @param before the uids that the cache had before the request was sent. The others among them are those of older objects with the same
   * name, so those objects no longer exist, either.
   */
  deleted(type: ResourceType, key: ObjectKey, uid: string, before?: readonly string[]): void
}

export function readYourWrites(client: Client, writes: OwnWrites): Client {
  /** `Result` is the object, or the object of a subresource, which the cache ignores if it has another kind. */
  async function after<Result>(
    type: ResourceType,
    response: Promise<Result>,
    options: { readonly dryRun?: boolean } | undefined,
  ): Promise<Result> {
    const object = await response
    // A response without the other fields must not replace the object in the cache. A stub of a client in a test may return nothing.
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
      // Finalizers or a grace period delay the deletion.
      if (metadata?.deletionTimestamp !== undefined) writes.written(type, response as ObjectOf<typeof type>)
      else {
        const uid = metadata?.uid ?? (response as Status).details?.uid
        if (uid !== undefined) writes.deleted(type, key, uid, before)
      }
      return response
    },
    // The response does not say which objects still exist.
    deleteCollection: (type, options) => client.deleteCollection(type, options),
    logs: (key, options) => client.logs(key, options),
    raw: (path, options) => client.raw(path, options),
    close: () => client.close(),
  }
}
