/** `Client`: sends the verbs of the Kubernetes API. Objects are plain JSON, and their static types follow from the resource type. */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { checkedRequirements, formatLabelSelector } from '../api/label-selector.ts'
import type { KubernetesObject, ObjectInput, ObjectKey, ObjectList } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Connection } from './connection.ts'
import { collectionPath, objectPath, resourcePath } from './resource-path.ts'
import type { Query } from './resource-path.ts'
import type { Transport, TransportOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import type { WatchEvent } from './watch.ts'
import { readEvents } from './watch.ts'
import type { ApplyInput, PatchOf, StatusPatch, Writable } from './write-types.ts'

export type { WatchEvent }

export interface WriteOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions {
  /** The namespace of the objects; all namespaces when absent or empty. */
  readonly namespace?: string | undefined
  readonly labelSelector?: LabelSelector
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** True to request only the metadata: the objects then have no fields but `apiVersion`, `kind` and `metadata`. */
  readonly metadataOnly?: boolean
  readonly signal?: AbortSignal | undefined
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: () => void
}

export interface PatchOptions extends WriteOptions {
  /** The type of the patch. Default `merge`. Custom resources do not support `strategic`. */
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  /**
   * Decides what happens when another field manager owns a field of the request. With `true`, the default, the request takes the field
   * over. With `false`, the request fails with a conflict.
   */
  readonly force?: boolean
  readonly subresource?: string
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
  readonly signal?: AbortSignal | undefined
}

export interface RawOptions {
  readonly method?: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly signal?: AbortSignal | undefined
}

/**
 * A client of the Kubernetes API. Objects are plain JSON. An integer beyond 2^53 is a `bigint`, so it keeps all digits.
 *
 * Methods reject with one of these errors:
 *
 * - `ApiError` when the API server sends a failure response
 * - `PRO_API` when a successful response is not a Kubernetes object or not valid JSON
 * - `PRO_API_UNREACHABLE` when the API server sends no response
 * - `PRO_KUBECONFIG` when the credentials cannot be loaded
 * - `PRO_INPUT` when a name, namespace or label selector is invalid
 * - `PRO_ABORTED` when the client is closed
 * - the signal's reason when the signal aborts
 */
export interface Client {
  /** The field manager of write requests, unless their options name another one. */
  readonly fieldManager: string
  get<R extends ResourceType>(type: R, key: ObjectKey, options?: { readonly signal?: AbortSignal | undefined }): Promise<ObjectOf<R>>
  list<R extends ResourceType>(type: R, options?: ListOptions): Promise<ObjectList<ObjectOf<R>>>
  /**
   * Yields events until the server ends the watch. An ERROR event is thrown as `ApiError`. When the caller stops iterating, the watch is
   * closed.
   */
  watch<R extends ResourceType>(type: R, options: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<R>>>
  create<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Replaces the object. It fails with a conflict when the stored object has another resourceVersion. */
  update<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /**
   * Patches the object with a merge patch, unless `options.type` selects another type. `null` removes a field. With `options.subresource`,
   * it patches the subresource, e.g. with `{ spec: { replicas: 3 } }` for `scale`.
   */
  patch<R extends ResourceType, const Options extends PatchOptions = PatchOptions>(
    type: R,
    key: ObjectKey,
    patch: PatchOf<R, Options>,
    options?: Options,
  ): Promise<ObjectOf<R>>
  /** Sends a server-side apply request. It creates the object if it does not exist. */
  apply<R extends ResourceType>(type: R, object: Writable<ApplyInput<R>>, options?: ApplyOptions): Promise<ObjectOf<R>>
  /** Replaces the status of the object; other fields are ignored. */
  updateStatus<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Patches the status of the object with a merge patch: absent fields are unchanged, and `null` removes a field. */
  patchStatus<R extends ResourceType>(
    type: R,
    key: ObjectKey,
    patch: { readonly status: StatusPatch<R>; readonly metadata?: { readonly resourceVersion?: string } },
    options?: WriteOptions,
  ): Promise<ObjectOf<R>>
  /**
   * Deletes an object. It resolves to the object if finalizers or a grace period delay the removal; otherwise usually to a `Status`.
   */
  delete<R extends ResourceType>(type: R, key: ObjectKey, options?: DeleteOptions): Promise<Status | ObjectOf<R>>
  /**
   * Sends a request to any path, e.g. `/version` or `/readyz`. It resolves to the parsed JSON or, for another content type, to a string.
   */
  raw(path: string, options?: RawOptions): Promise<unknown>
  close(): Promise<void>
}

export interface ClientOptions extends TransportOptions {
  /** The field manager in `managedFields` for the writes of this client. Default `proreus`. */
  readonly fieldManager?: string
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** Creates a client that opens its own connections. The caller must `close` it. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  return clientOver(createTransport(connection, options), options)
}

/** Creates a client over an existing transport. The client's `close` closes the transport. */
export function clientOver(transport: Transport, options: { readonly fieldManager?: string } = {}): Client {
  const defaultManager = options.fieldManager ?? 'proreus'

  async function send<T>(
    type: ResourceType,
    method: string,
    verb: string,
    path: string,
    rest: { query?: Query; body?: object; contentType?: string; accept?: string; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const { body, ...others } = rest
    const answer = await transport.request({
      type,
      method,
      verb,
      path,
      ...others,
      ...(body === undefined ? {} : { body: stringifyJson(body)! }),
    })
    if (!isObject(answer.body)) {
      throw new ProreusError(
        'PRO_API',
        `${method} ${path} was answered with something that is not a Kubernetes object: is this address really that of an API server?`,
      )
    }
    return answer.body as T
  }

  function write<T>(
    type: ResourceType,
    method: string,
    verb: string,
    path: string,
    body: object,
    options: WriteOptions,
    more: { query?: Query; contentType?: string } = {},
  ): Promise<T> {
    const { dryRun, fieldManager = defaultManager, fieldValidation, signal } = options
    const query = { fieldManager, fieldValidation, ...(dryRun === true ? { dryRun: 'All' } : {}), ...more.query }
    return send<T>(type, method, verb, path, { ...more, query, body, signal })
  }

  function put<R extends ResourceType>(
    type: R,
    object: Writable<InputOf<R>>,
    options: WriteOptions,
    subresource?: string,
  ): Promise<ObjectOf<R>> {
    const { metadata } = object as ObjectInput
    return write(
      type,
      'PUT',
      'update',
      objectPath(type, { namespace: metadata.namespace, name: metadata.name ?? '' }, subresource),
      typed(type, object),
      options,
    )
  }

  function patchWith<R extends ResourceType>(type: R, key: ObjectKey, patch: object, options: PatchOptions): Promise<ObjectOf<R>> {
    return write(type, 'PATCH', 'patch', objectPath(type, key, options.subresource), patch, options, {
      contentType: patchTypes[options.type ?? 'merge'],
    })
  }

  return {
    fieldManager: defaultManager,

    async get(type, key, { signal } = {}) {
      return send(type, 'GET', 'get', objectPath(type, key), { signal })
    },

    async list<R extends ResourceType>(type: R, { namespace, signal, metadataOnly = false, ...options }: ListOptions = {}) {
      const path = resourcePath(type, { namespace })
      const accept = metadataOnly ? { accept: partialObjects('PartialObjectMetadataList') } : {}
      const list = await send<ObjectList<ObjectOf<R>>>(type, 'GET', 'list', path, { query: selectionQuery(options), signal, ...accept })
      // Lists of built-in types omit apiVersion and kind of the items, and `items` may be null.
      const items = (list.items ?? []).map((item) =>
        metadataOnly ? metadataOf(type, item) : item.kind === undefined ? typed(type, item) : item,
      )
      return { ...list, items }
    },

    async *watch<R extends ResourceType>(type: R, { namespace, signal, onOpen, metadataOnly = false, ...options }: WatchOptions) {
      const path = resourcePath(type, { namespace })
      const stream = await transport.stream({
        type,
        method: 'GET',
        verb: 'watch',
        path,
        query: { ...selectionQuery(options), watch: true },
        signal,
        ...(metadataOnly ? { accept: partialObjects('PartialObjectMetadata') } : {}),
      })
      onOpen?.()
      const events = readEvents<ObjectOf<R>>(stream, { method: 'GET', path })
      if (!metadataOnly) yield* events
      else for await (const event of events) yield { ...event, object: metadataOf(type, event.object) }
    },

    async create(type, object, options = {}) {
      return write(type, 'POST', 'create', collectionPath(type, (object as ObjectInput).metadata.namespace), typed(type, object), options)
    },

    async update(type, object, options = {}) {
      return put(type, object, options)
    },

    async patch(type, key, patch, options) {
      return patchWith(type, key, patch, options ?? {})
    },

    async apply(type, object, options = {}) {
      const { metadata } = object as ApplyInput
      const query = { force: options.force ?? true }
      return write(type, 'PATCH', 'apply', objectPath(type, metadata, options.subresource), typed(type, object), options, {
        query,
        contentType: patchTypes.apply,
      })
    },

    async updateStatus(type, object, options = {}) {
      return put(type, object, options, 'status')
    },

    async patchStatus(type, key, patch, options = {}) {
      return patchWith(type, key, patch, { ...options, subresource: 'status' })
    },

    async delete(type, key, { signal, dryRun, ...options } = {}) {
      // The API server ignores the query parameters if the request has a body, so all options are in the body.
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
      return send(type, 'DELETE', 'delete', objectPath(type, key), { body, signal })
    },

    async raw(path, { body, method = 'GET', ...options } = {}) {
      const answer = await transport.request({ method, path, ...options, ...(body === undefined ? {} : { body: stringifyJson(body)! }) })
      return answer.body
    },

    close: () => transport.close(),
  }
}

/** Returns the options of a list or watch as query parameters. The label selector is formatted as a string. */
function selectionQuery({ labelSelector, ...options }: Omit<WatchOptions, 'namespace' | 'signal' | 'onOpen' | 'metadataOnly'>): Query {
  const text = labelSelector === undefined ? '' : formatLabelSelector(checkedRequirements(labelSelector))
  return { ...options, ...(text === '' ? {} : { labelSelector: text }) }
}

/** Returns the `Accept` header for the metadata of objects. An API server that does not support it sends whole objects. */
function partialObjects(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}

/** Returns the metadata of an object, with the apiVersion and kind of its type instead of those of PartialObjectMetadata. */
function metadataOf<T extends KubernetesObject>(type: ResourceType, { metadata }: T): T {
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata } as T
}

/** Fills in the apiVersion and kind of an object where they are missing. */
function typed<T extends object>(type: ResourceType, object: T): T {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  return { ...object, apiVersion: apiVersion ?? apiVersionOf(type), kind: kind ?? type.kind }
}
