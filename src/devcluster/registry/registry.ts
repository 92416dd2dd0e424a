/** The API server without HTTP: every operation on every type, driven by the rows of the catalog. */
import { randomInt, randomUUID } from 'node:crypto'
import type { Clock } from '../../api/clock.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Admission } from '../admission/admission.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo, Verb } from '../resources/resource-info.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { WatchEvent } from '../storage/watcher.ts'
import { createObject } from './create.ts'
import { deleteObject, deleteObjects } from './delete.ts'
import type { Environment } from './environment.ts'
import type { ListOptions, ListResult } from './list.ts'
import { listObjects } from './list.ts'
import type { Patch } from './patch.ts'
import { patchObject } from './patch.ts'
import { Representation } from './representation.ts'
import type { DecodedObject, RequestContext } from './request-context.ts'
import { methodNotAllowed, notFound, unknownResource } from './status-error.ts'
import { changeObject, updateObject } from './update.ts'
import type { WatchOptions } from './watch.ts'
import { watchObjects } from './watch.ts'

export type { ListOptions, ListResult } from './list.ts'
export type { Patch } from './patch.ts'
export type { WatchOptions } from './watch.ts'

export interface RegistryOptions {
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly admission: Admission
  readonly clock: Clock
  readonly newUid?: () => string
  /** Five characters for `generateName`. */
  readonly randomSuffix?: () => string
}

export class Registry {
  readonly #environment: Environment

  constructor(options: RegistryOptions) {
    this.#environment = { newUid: randomUUID, randomSuffix, ...options, representation: new Representation() }
  }

  get store(): ObjectStore {
    return this.#environment.store
  }

  get(info: ResourceInfo, key: ObjectKey, subresource = ''): JsonObject {
    this.#check(info, 'get', subresource)
    const { store, representation } = this.#environment
    const stored = store.get(info.storageKey, key)
    if (stored === undefined) throw notFound(info, key.name)
    const object = representation.present(info, stored)
    return info.subresources[subresource]?.read?.(object) ?? object
  }

  list(info: ResourceInfo, options: ListOptions): ListResult {
    this.#check(info, 'list', '')
    return listObjects(this.#environment, info, options)
  }

  /** Follows the store from now on, even before it is read; errors in the options are thrown at once. */
  watch(info: ResourceInfo, options: WatchOptions, signal: AbortSignal): AsyncIterableIterator<WatchEvent> {
    this.#check(info, 'watch', '')
    return watchObjects(this.#environment, info, options, signal)
  }

  /** A new object; with `name` and `subresource`, a POST to a subresource such as `pods/binding`. */
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
      const key = { ...(namespace === undefined ? {} : { namespace }), name: name ?? '' }
      const object = await changeObject(this.#environment, info, {
        key,
        subresource,
        context,
        operation: 'CREATE',
        change: () => decoded.object,
      })
      return info.subresources[subresource]?.created?.(object) ?? object
    })
  }

  update(info: ResourceInfo, key: ObjectKey, decoded: DecodedObject, context: RequestContext, subresource = ''): Promise<JsonObject> {
    return attempt(() => {
      this.#check(info, 'update', subresource)
      return updateObject(this.#environment, info, key, decoded, context, subresource)
    })
  }

  patch(
    info: ResourceInfo,
    key: ObjectKey,
    patch: Patch,
    context: RequestContext,
    subresource = '',
  ): Promise<{ object: JsonObject; created: boolean }> {
    return attempt(() => {
      this.#check(info, 'patch', subresource)
      return patchObject(this.#environment, info, key, patch, context, subresource)
    })
  }

  /** `options` is a DeleteOptions. The object in the answer is a Status, or the object itself where it is still there (`accepted`). */
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

  /** Deletes what the list options select, and answers with the list of it. */
  deleteCollection(info: ResourceInfo, listOptions: ListOptions, options: JsonObject, context: RequestContext): Promise<JsonObject> {
    return attempt(async () => {
      this.#check(info, 'deletecollection', '')
      const { items, metadata } = listObjects(this.#environment, info, listOptions)
      const deleted = await deleteObjects(this.#environment, info, items, options, context)
      return { apiVersion: apiVersionOf(info), kind: info.listKind, metadata: { ...metadata }, items: deleted }
    })
  }

  /** Ends all watches, as a restart of the server would. */
  dropWatches(): void {
    this.#environment.store.endSubscriptions()
  }

  #check(info: ResourceInfo, verb: Verb, subresource: string): void {
    const target = subresource === '' ? info : info.subresources[subresource]
    if (target === undefined) throw unknownResource()
    if (!target.verbs.includes(verb)) throw methodNotAllowed()
  }
}

/** Makes whatever is thrown a rejection. */
async function attempt<T>(operation: () => Promise<T>): Promise<T> {
  return operation()
}

/** Without vowels and lookalikes, as Kubernetes generates names. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5

function randomSuffix(): string {
  return Array.from({ length: suffixLength }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join('')
}
