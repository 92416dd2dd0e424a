/** The embedded API server without its HTTP layer: all operations on the types in the catalog. */
import type { Clock } from '../../runtime/clock.ts'
import { systemRandom } from '../../runtime/random.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Authorizer } from '../access/authorizer.ts'
import type { Admission } from '../admission/admission.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Verb } from '../rest/subresource.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { WatchEvent } from '../storage/watcher.ts'
import { applyOf } from './verbs/apply.ts'
import { createObject, createSubresource } from './verbs/create.ts'
import { deleteObject, deleteObjects } from './verbs/delete.ts'
import type { Environment } from './environment.ts'
import { randomIdentities } from './identities.ts'
import type { ListOptions, ListResult } from './verbs/list.ts'
import { listConverted, listObjects, parseResourceVersion } from './verbs/list.ts'
import type { Patch } from './verbs/patch.ts'
import { patchOf } from './verbs/patch.ts'
import { writeObject } from './write/pipeline.ts'
import { Representation } from './representation.ts'
import type { DecodedObject, RequestContext } from '../apimachinery/request-context.ts'
import { methodNotAllowed, notFound, tooLargeResourceVersion, unknownResource } from '../apimachinery/status-error.ts'
import { textAt } from '../apimachinery/unstructured.ts'
import { updateOf } from './verbs/update.ts'
import type { WatchOptions } from './verbs/watch.ts'
import { watchObjects } from './verbs/watch.ts'
import type { Written } from './write/description.ts'

export type { ListOptions, ListResult } from './verbs/list.ts'
export type { Patch } from './verbs/patch.ts'
export type { WatchOptions } from './verbs/watch.ts'

/**
 * Maximum time in milliseconds that kube-apiserver waits for its watch cache to reach a requested resourceVersion
 * (k8s.io/apiserver/pkg/storage/cacher: blockTimeout).
 */
const freshMs = 3_000

export interface RegistryOptions {
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly admission: Admission
  readonly authorizer: Authorizer
  readonly clock: Clock
  /** Returns a number in [0, 1), for uids and generated names; `Math.random` when absent. */
  readonly random?: () => number
  /** Returns the suffix of a generated name. Default: five characters that are chosen with numbers from `random`. */
  readonly randomSuffix?: () => string
  /**
   * True when a controller creates the default ServiceAccount of each namespace. A Pod is then rejected if its ServiceAccount does not
   * exist. Default false.
   */
  readonly hasServiceAccounts?: boolean
}

export class Registry {
  readonly #environment: Environment

  constructor({ random = systemRandom, ...options }: RegistryOptions) {
    this.#environment = { ...randomIdentities(random), hasServiceAccounts: false, ...options, representation: new Representation() }
  }

  get store(): ObjectStore {
    return this.#environment.store
  }

  /**
   * Waits until the store has reached the revision in a request's parameter `resourceVersion`.
   *
   * @throws {StatusError} 500 when `resourceVersion` is not a number, 504 when the store does not reach the revision within 3 s.
   */
  async waitFor(resourceVersion: string | undefined, signal: AbortSignal): Promise<void> {
    const requested = parseResourceVersion(resourceVersion)
    const { store, clock } = this.#environment
    if (requested === undefined || requested <= store.revision) return
    const reached = await new Promise<boolean>((resolve) => {
      const stop = (isReached: boolean): void => {
        timer.cancel()
        unlisten()
        signal.removeEventListener('abort', abandon)
        resolve(isReached)
      }
      const abandon = (): void => stop(false)
      const timer = clock.after(freshMs, abandon)
      const unlisten = store.whenReached(requested, () => stop(true))
      signal.addEventListener('abort', abandon, { once: true })
    })
    if (!reached) throw tooLargeResourceVersion(requested, store.revision)
  }

  /** Returns the number of stored objects of a type. */
  count({ storageKey }: ResourceInfo): number {
    return this.#environment.store.count(storageKey)
  }

  /** Returns the object. The call is synchronous, and therefore supports only types without a conversion webhook. */
  get(info: ResourceInfo, key: ObjectKey, subresource = ''): JsonObject {
    return this.#shown(info, this.#stored(info, key, subresource), subresource)
  }

  async read(info: ResourceInfo, key: ObjectKey, subresource = ''): Promise<JsonObject> {
    const stored = this.#stored(info, key, subresource)
    await this.#environment.representation.prepare(info, [stored], { refresh: true })
    return this.#shown(info, stored, subresource)
  }

  /** Lists objects. The call is synchronous, and therefore supports only types without a conversion webhook. */
  list(info: ResourceInfo, options: ListOptions): ListResult {
    this.#check(info, 'list', '')
    return listObjects(this.#environment, info, options)
  }

  readList(info: ResourceInfo, options: ListOptions): Promise<ListResult> {
    return attempt(() => {
      this.#check(info, 'list', '')
      return listConverted(this.#environment, info, options)
    })
  }

  /**
   * Watches a type. From this call on, events are queued, even before the caller reads the first event. Throws immediately for invalid
   * options.
   */
  watch(info: ResourceInfo, options: WatchOptions, signal: AbortSignal): AsyncIterableIterator<WatchEvent> {
    this.#check(info, 'watch', '')
    return watchObjects(this.#environment, info, options, signal)
  }

  /** Creates an object. With `name` and `subresource`, handles a POST to a subresource such as `pods/binding`. */
  create(
    info: ResourceInfo,
    namespace: string | undefined,
    decoded: DecodedObject,
    context: RequestContext,
    name?: string,
    subresource = '',
  ): Promise<JsonObject> {
    return attempt(async () => {
      this.#check(info, 'create', subresource)
      if (subresource === '') return createObject(this.#environment, info, namespace, decoded, context)
      return createSubresource(this.#environment, info, { namespace, name: name ?? '' }, subresource, decoded, context)
    })
  }

  async update(info: ResourceInfo, key: ObjectKey, decoded: DecodedObject, context: RequestContext, subresource = ''): Promise<JsonObject> {
    return (await this.put(info, key, decoded, context, subresource)).object
  }

  /** Updates an object. For some types, a PUT also creates a missing object. `created` is true when the object was created. */
  put(info: ResourceInfo, key: ObjectKey, decoded: DecodedObject, context: RequestContext, subresource = ''): Promise<Written> {
    return attempt(() => {
      this.#check(info, 'update', subresource)
      return writeObject(this.#environment, info, updateOf(info, key, decoded, context, subresource))
    })
  }

  patch(info: ResourceInfo, key: ObjectKey, patch: Patch, context: RequestContext, subresource = ''): Promise<Written> {
    return attempt(() => {
      this.#check(info, 'patch', subresource)
      const write =
        patch.type === 'apply'
          ? applyOf(this.#environment, info, key, patch, context, subresource)
          : patchOf(info, key, patch, context, subresource)
      return writeObject(this.#environment, info, write)
    })
  }

  /**
   * Deletes an object. `options` is a DeleteOptions. The result is one of the following:
   *
   * - If the object still exists, e.g. because of a finalizer: `accepted` is true, and `object` is the object.
   * - If the object is removed: `accepted` is false, and `object` is a Status or, for some types, the deleted object.
   */
  delete(
    info: ResourceInfo,
    key: ObjectKey,
    options: JsonObject,
    context: RequestContext,
  ): Promise<{ object: JsonObject; accepted: boolean }> {
    return attempt(async () => {
      this.#check(info, 'delete', '')
      const { object, accepted } = await deleteObject(this.#environment, info, key, options, context)
      return { object, accepted }
    })
  }

  /** Deletes the objects that the list options select, and returns them as a list. */
  deleteCollection(info: ResourceInfo, listOptions: ListOptions, options: JsonObject, context: RequestContext): Promise<ListResult> {
    return attempt(async () => {
      this.#check(info, 'deletecollection', '')
      const list = await listConverted(this.#environment, info, listOptions)
      await deleteObjects(this.#environment, info, list.items, options, context)
      return list
    })
  }

  /** Ends all watches, as a restart of the server would. */
  dropWatches(): void {
    this.#environment.store.endSubscriptions()
  }

  #stored(info: ResourceInfo, key: ObjectKey, subresource: string): JsonObject {
    this.#check(info, 'get', subresource)
    const stored =
      info.computed === undefined
        ? this.store.get(info.storageKey, key)
        : info.computed.find((object) => textAt(object, 'metadata', 'name') === key.name)
    // If the objects of the type are computed and not stored, the error of kube-apiserver contains the singular name of the type.
    if (stored === undefined) throw notFound(info.computed === undefined ? info : { ...info, plural: info.singular }, key.name)
    return stored
  }

  #shown(info: ResourceInfo, stored: JsonObject, subresource: string): JsonObject {
    const object = this.#environment.representation.present(info, stored)
    return info.subresources[subresource]?.read?.(object) ?? object
  }

  #check(info: ResourceInfo, verb: Verb, subresource: string): void {
    const target = subresource === '' ? info : info.subresources[subresource]
    if (target === undefined) throw unknownResource()
    if (!target.verbs.includes(verb)) throw methodNotAllowed()
  }
}

/** Calls `operation`. If `operation` throws synchronously, the returned promise rejects. */
async function attempt<T>(operation: () => Promise<T>): Promise<T> {
  return operation()
}
