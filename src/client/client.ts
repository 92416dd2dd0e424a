/** `Client`: the verbs of the Kubernetes API, typed by resource type, on plain JSON. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import type { DeepReadonly } from '../api/json.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import type { KubernetesObject, ObjectInput, ObjectKey, ObjectList, ObjectMeta } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Connection } from './connection.ts'
import { collectionPath, objectPath, resourcePath } from './resource-path.ts'
import type { Query } from './resource-path.ts'
import type { Transport, TransportOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import type { WatchEvent } from './watch.ts'
import { readEvents } from './watch.ts'

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
  readonly labelSelector?: string
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
  /** Default `merge`. Custom resources know no `strategic`. */
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  /** Default true: takes fields over from other managers. */
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

type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { [Key in keyof T]?: DeepPartial<T[Key]> } : T

/** The fields that a manager wants to own, and the name of the object. */
export type ApplyInput<T extends KubernetesObject = KubernetesObject> = DeepPartial<Omit<T, 'metadata' | 'apiVersion' | 'kind'>> & {
  apiVersion?: string
  kind?: string
  metadata: Partial<ObjectMeta> & { name: string }
}

/** What is written may come out of a cache: frozen objects are welcome everywhere. */
type Writable<T> = T | DeepReadonly<T>

/**
 * What is read is plain JSON, in which an integer beyond 2^53 is a `bigint`; written again, it has the same digits.
 *
 * All methods reject with `ApiError` when the server refuses, `PRO_API_UNREACHABLE` when it gives no answer, and the signal's reason
 * when aborted.
 */
export interface Client {
  get<R extends ResourceType>(type: R, key: ObjectKey, options?: { readonly signal?: AbortSignal | undefined }): Promise<ObjectOf<R>>
  list<R extends ResourceType>(type: R, options?: ListOptions): Promise<ObjectList<ObjectOf<R>>>
  /** One watch, until the server ends it. An ERROR event is thrown as `ApiError`; to leave the loop closes the watch. */
  watch<R extends ResourceType>(type: R, options: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<R>>>
  create<R extends ResourceType>(type: R, object: Writable<ObjectInput<ObjectOf<R>>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Replaces the object; its resourceVersion makes that fail with a conflict when it was changed in between. */
  update<R extends ResourceType>(type: R, object: Writable<ObjectInput<ObjectOf<R>>>, options?: WriteOptions): Promise<ObjectOf<R>>
  patch<R extends ResourceType>(type: R, key: ObjectKey, patch: object, options?: PatchOptions): Promise<ObjectOf<R>>
  /** Server-side apply. */
  apply<R extends ResourceType>(type: R, object: Writable<ApplyInput<ObjectOf<R>>>, options?: ApplyOptions): Promise<ObjectOf<R>>
  /** Replaces the status. */
  updateStatus<R extends ResourceType>(type: R, object: Writable<ObjectInput<ObjectOf<R>>>, options?: WriteOptions): Promise<ObjectOf<R>>
  /** Merges into the status. */
  patchStatus<R extends ResourceType>(
    type: R,
    key: ObjectKey,
    patch: { readonly status: object; readonly metadata?: { readonly resourceVersion?: string } },
    options?: WriteOptions,
  ): Promise<ObjectOf<R>>
  /** The object where it lives on for now (finalizers, a grace period), otherwise usually a `Status`. */
  delete<R extends ResourceType>(type: R, key: ObjectKey, options?: DeleteOptions): Promise<Status | ObjectOf<R>>
  /** Any path, e.g. `/version` or `/readyz`, as JSON or text. */
  raw(path: string, options?: RawOptions): Promise<unknown>
  close(): Promise<void>
}

export interface ClientOptions extends TransportOptions {
  /** The name that our fields carry in `managedFields`. Default `proreus`. */
  readonly fieldManager?: string
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** A client over a connection of its own; `close` it when it is no longer needed. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  return clientOver(createTransport(connection, options), options)
}

/** A client over any transport. */
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
    object: Writable<ObjectInput<ObjectOf<R>>>,
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

    async list<R extends ResourceType>(type: R, { namespace, signal, ...query }: ListOptions = {}) {
      const list = await send<ObjectList<ObjectOf<R>>>('GET', 'list', resourcePath(type, { namespace }), { query: { ...query }, signal })
      // Lists of Kubernetes' own types leave out what is the same in all items; an empty one may be null.
      return { ...list, items: (list.items ?? []).map((item) => (item.kind === undefined ? typed(type, item) : item)) }
    },

    async *watch<R extends ResourceType>(type: R, { namespace, signal, onOpen, ...query }: WatchOptions) {
      const path = resourcePath(type, { namespace })
      const stream = await transport.stream({ method: 'GET', verb: 'watch', path, query: { ...query, watch: true }, signal })
      onOpen?.()
      yield* readEvents<ObjectOf<R>>(stream, { method: 'GET', path })
    },

    async create(type, object, options = {}) {
      return write('POST', 'create', collectionPath(type, (object as ObjectInput).metadata.namespace), typed(type, object), options)
    },

    async update(type, object, options = {}) {
      return put(type, object, options)
    },

    async patch(type, key, patch, options = {}) {
      return patchWith(type, key, patch, options)
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
      // Options of a DELETE are read from the body or from the query, never from both.
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

/** The object with the apiVersion and kind of its type, unless it names its own. */
function typed<T extends object>(type: ResourceType, object: T): T {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  return { ...object, apiVersion: apiVersion ?? apiVersionOf(type), kind: kind ?? type.kind }
}
