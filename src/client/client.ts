/** `Client`: sends the verbs of the Kubernetes API. Objects are plain JSON, and their static types follow from the resource type. */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import { checkedRequirements, formatLabelSelector } from '../api/label-selector.ts'
import type { ObjectInput, ObjectKey, ObjectList } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Connection } from './connection.ts'
import type { Impersonation } from './impersonation.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import { collectionPath, objectPath, resourcePath } from './resource-path.ts'
import type { Query } from './resource-path.ts'
import type { Transport, TransportOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import type { WatchEvent } from './watch.ts'
import { readEvents } from './watch.ts'
import type { ApplyInput, PatchOf, StatusPatch, Writable } from './write-types.ts'

export type { WatchEvent }

export type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'

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
  get<R extends ResourceType>(type: R, key: ObjectKey, options?: RequestOptions): Promise<ObjectOf<R>>
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
  /** The user in whose name the client sends its requests. It replaces the impersonation of a kubeconfig. */
  readonly impersonate?: Impersonation | undefined
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
export function clientOver(
  transport: Transport,
  { fieldManager: defaultManager = 'proreus', impersonate }: Pick<ClientOptions, 'fieldManager' | 'impersonate'> = {},
): Client {
  const asUser = impersonate && { impersonate }

  async function send<T>(
    type: ResourceType,
    method: string,
    verb: string,
    path: string,
    rest: { query?: Query; body?: object; contentType?: string } & RequestOptions,
  ): Promise<T> {
    const { body, ...others } = rest
    const sent = body === undefined ? {} : { body: stringifyJson(body)! }
    const answer = await transport.request({ type, method, verb, path, ...others, ...sent, ...asUser })
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
    const { dryRun, fieldManager = defaultManager, fieldValidation } = options
    const query = { fieldManager, fieldValidation, ...(dryRun === true ? { dryRun: 'All' } : {}), ...more.query }
    return send<T>(type, method, verb, path, { ...more, ...limitsOf(options), query, body })
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
    async get(type, key, options = {}) {
      return send(type, 'GET', 'get', objectPath(type, key), limitsOf(options))
    },

    async list<R extends ResourceType>(type: R, options: ListOptions = {}) {
      const path = resourcePath(type, { namespace: options.namespace })
      const list = await send<ObjectList<ObjectOf<R>>>(type, 'GET', 'list', path, { query: selectionQuery(options), ...limitsOf(options) })
      // Lists of built-in types omit apiVersion and kind of the items, and `items` may be null.
      return { ...list, items: (list.items ?? []).map((item) => (item.kind === undefined ? typed(type, item) : item)) }
    },

    async *watch<R extends ResourceType>(type: R, { onOpen, ...options }: WatchOptions) {
      const path = resourcePath(type, { namespace: options.namespace })
      const stream = await transport.stream({
        type,
        method: 'GET',
        verb: 'watch',
        path,
        query: { ...selectionQuery(options), watch: true },
        ...limitsOf(options),
        ...asUser,
      })
      onOpen?.()
      yield* readEvents<ObjectOf<R>>(stream, { method: 'GET', path })
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

    async delete(type, key, { signal, timeoutMs, dryRun, ...options } = {}) {
      // The API server ignores the query parameters if the request has a body, so all options are in the body.
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
      return send(type, 'DELETE', 'delete', objectPath(type, key), { body, ...limitsOf({ signal, timeoutMs }) })
    },

    async raw(path, { body, method = 'GET', ...options } = {}) {
      const answer = await transport.request({
        method,
        path,
        ...options,
        ...(body === undefined ? {} : { body: stringifyJson(body)! }),
        ...asUser,
      })
      return answer.body
    },

    close: () => transport.close(),
  }
}

/** Returns the options that a request has beside its query and body. */
function limitsOf({ signal, timeoutMs }: RequestOptions): RequestOptions {
  return { signal, ...(timeoutMs !== undefined && { timeoutMs }) }
}

/** Returns the options of a list or watch as query parameters. The label selector is formatted as a string. */
function selectionQuery(options: Omit<WatchOptions, 'onOpen'>): Query {
  const { namespace: _namespace, signal: _signal, timeoutMs: _timeoutMs, labelSelector, ...parameters } = options
  const text = labelSelector === undefined ? '' : formatLabelSelector(checkedRequirements(labelSelector))
  return { ...parameters, ...(text === '' ? {} : { labelSelector: text }) }
}

/** Fills in the apiVersion and kind of an object where they are missing. */
function typed<T extends object>(type: ResourceType, object: T): T {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  return { ...object, apiVersion: apiVersion ?? apiVersionOf(type), kind: kind ?? type.kind }
}
