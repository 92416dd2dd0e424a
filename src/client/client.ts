/** `Client`: the verbs of the Kubernetes API, typed by resource type, on plain JSON. */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { checkedRequirements, formatLabelSelector } from '../api/label-selector.ts'
import type { ObjectInput, ObjectKey, ObjectList } from '../api/object.ts'
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
  /** Absent or empty: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: LabelSelector
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly signal?: AbortSignal | undefined
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
  /** Called when the server has accepted the watch, before its first event. */
  readonly onOpen?: () => void
}

export interface PatchOptions extends WriteOptions {
  /** Default `merge`. Custom resources do not support `strategic`. */
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  /** Default true: takes ownership of fields from other managers. */
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
 * A client of the Kubernetes API. Objects are plain JSON, in which an integer beyond 2^53 is a `bigint`; it is sent with the same digits.
 *
 * All methods reject with `ApiError` when the server answers with a failure, `PRO_API_UNREACHABLE` when it does not answer, and the
 * signal's reason when aborted.
 */
export interface Client {
  get<R extends ResourceType>(type: R, key: ObjectKey, options?: { readonly signal?: AbortSignal | undefined }): Promise<ObjectOf<R>>
  list<R extends ResourceType>(type: R, options?: ListOptions): Promise<ObjectList<ObjectOf<R>>>
  /** Watches until the server ends the watch. An ERROR event is thrown as `ApiError`; leaving the loop closes the watch. */
  watch<R extends ResourceType>(type: R, options: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<R>>>
  create<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Replaces the object; fails with a conflict when the stored object has another resourceVersion. */
  update<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /**
   * Changes some fields: with a merge patch, unless `options.type` is another type. `null` removes a field. With a `subresource` it patches
   * the subresource, e.g. `{ spec: { replicas: 3 } }` for `scale`.
   */
  patch<R extends ResourceType, const Options extends PatchOptions = PatchOptions>(
    type: R,
    key: ObjectKey,
    patch: PatchOf<R, Options>,
    options?: Options,
  ): Promise<ObjectOf<R>>
  /** Applies fields with server-side apply. */
  apply<R extends ResourceType>(type: R, object: Writable<ApplyInput<R>>, options?: ApplyOptions): Promise<ObjectOf<R>>
  /** Replaces the status. */
  updateStatus<R extends ResourceType>(type: R, object: Writable<InputOf<R>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Merges into the status: absent fields are unchanged, `null` removes a field. */
  patchStatus<R extends ResourceType>(
    type: R,
    key: ObjectKey,
    patch: { readonly status: StatusPatch<R>; readonly metadata?: { readonly resourceVersion?: string } },
    options?: WriteOptions,
  ): Promise<ObjectOf<R>>
  /**
   * Deletes an object. Resolves to the object if it still exists, because of finalizers or a grace period, otherwise usually to a `Status`.
   */
  delete<R extends ResourceType>(type: R, key: ObjectKey, options?: DeleteOptions): Promise<Status | ObjectOf<R>>
  /** Requests any path, e.g. `/version` or `/readyz`; resolves to parsed JSON or, for another content type, to a string. */
  raw(path: string, options?: RawOptions): Promise<unknown>
  close(): Promise<void>
}

export interface ClientOptions extends TransportOptions {
  /** The field manager of this client's writes in `managedFields`. Default `proreus`. */
  readonly fieldManager?: string
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** Creates a client with a connection of its own; `close` it when it is no longer needed. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  return clientOver(createTransport(connection, options), options)
}

/** Creates a client over any transport. */
export function clientOver(transport: Transport, options: { readonly fieldManager?: string } = {}): Client {
  const defaultManager = options.fieldManager ?? 'proreus'

  async function send<T>(
    method: string,
    verb: string,
    path: string,
    rest: { query?: Query; body?: object; contentType?: string; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const { body, ...others } = rest
    const answer = await transport.request({ method, verb, path, ...others, ...(body === undefined ? {} : { body: stringifyJson(body)! }) })
    if (!isObject(answer.body)) {
      throw new ProreusError(
        'PRO_API',
        `${method} ${path} was answered with something that is no Kubernetes object: is this address really that of an API server?`,
      )
    }
    return answer.body as T
  }

  function write<T>(
    method: string,
    verb: string,
    path: string,
    body: object,
    options: WriteOptions,
    more: { query?: Query; contentType?: string } = {},
  ): Promise<T> {
    const { dryRun, fieldManager = defaultManager, fieldValidation, signal } = options
    const query = { fieldManager, fieldValidation, ...(dryRun === true ? { dryRun: 'All' } : {}), ...more.query }
    return send<T>(method, verb, path, { ...more, query, body, signal })
  }

  function put<R extends ResourceType>(
    type: R,
    object: Writable<InputOf<R>>,
    options: WriteOptions,
    subresource?: string,
  ): Promise<ObjectOf<R>> {
    const { metadata } = object as ObjectInput
    return write(
      'PUT',
      'update',
      objectPath(type, { namespace: metadata.namespace, name: metadata.name ?? '' }, subresource),
      typed(type, object),
      options,
    )
  }

  function patchWith<R extends ResourceType>(type: R, key: ObjectKey, patch: object, options: PatchOptions): Promise<ObjectOf<R>> {
    return write('PATCH', 'patch', objectPath(type, key, options.subresource), patch, options, {
      contentType: patchTypes[options.type ?? 'merge'],
    })
  }

  return {
    async get(type, key, { signal } = {}) {
      return send('GET', 'get', objectPath(type, key), { signal })
    },

    async list<R extends ResourceType>(type: R, { namespace, signal, ...options }: ListOptions = {}) {
      const path = resourcePath(type, { namespace })
      const list = await send<ObjectList<ObjectOf<R>>>('GET', 'list', path, { query: selectionQuery(options), signal })
      // Lists of built-in types omit apiVersion and kind of the items; `items` may be null.
      return { ...list, items: (list.items ?? []).map((item) => (item.kind === undefined ? typed(type, item) : item)) }
    },

    async *watch<R extends ResourceType>(type: R, { namespace, signal, onOpen, ...options }: WatchOptions) {
      const path = resourcePath(type, { namespace })
      const stream = await transport.stream({
        method: 'GET',
        verb: 'watch',
        path,
        query: { ...selectionQuery(options), watch: true },
        signal,
      })
      onOpen?.()
      yield* readEvents<ObjectOf<R>>(stream, { method: 'GET', path })
    },

    async create(type, object, options = {}) {
      return write('POST', 'create', collectionPath(type, (object as ObjectInput).metadata.namespace), typed(type, object), options)
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
      return write('PATCH', 'apply', objectPath(type, metadata, options.subresource), typed(type, object), options, {
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
      // The API server reads DeleteOptions from the body or from the query, never from both.
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
      return send('DELETE', 'delete', objectPath(type, key), { body, signal })
    },

    async raw(path, { body, method = 'GET', ...options } = {}) {
      const answer = await transport.request({ method, path, ...options, ...(body === undefined ? {} : { body: stringifyJson(body)! }) })
      return answer.body
    },

    close: () => transport.close(),
  }
}

/** Returns the options of a list or watch as query parameters, with a formatted label selector. */
function selectionQuery({ labelSelector, ...options }: Omit<WatchOptions, 'namespace' | 'signal' | 'onOpen'>): Query {
  const text = labelSelector === undefined ? '' : formatLabelSelector(checkedRequirements(labelSelector))
  return { ...options, ...(text === '' ? {} : { labelSelector: text }) }
}

/** Adds apiVersion and kind of the type to the object, unless it has them. */
function typed<T extends object>(type: ResourceType, object: T): T {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  return { ...object, apiVersion: apiVersion ?? apiVersionOf(type), kind: kind ?? type.kind }
}
