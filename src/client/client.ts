/**
 * `Client`: sends requests with the verbs of the Kubernetes API. Objects are plain JSON, and their static types follow from the resource
 * type.
 */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import { checkedRequirements, formatLabelSelector } from '../api/label-selector.ts'
import { pod } from '../api/builtin.ts'
import { describeFound } from '../api/option-checks.ts'
import type { KubernetesObject, ObjectInput, ObjectKey, ObjectList } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { Connection } from './connection.ts'
import type { Impersonation } from './impersonation.ts'
import { readLines } from './logs.ts'
import { acceptOf, isMetadataOnly, withKindOf } from './metadata-only.ts'
import type {
  ApplyOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import { checkClientOptions, checkVerbOptions } from './option-checks.ts'
import { collectionPath, newObjectPath, objectPath, resourcePath } from './resource-path.ts'
import type { Query } from './resource-path.ts'
import type { AppliedOf, ResultOf, WrittenOf } from './subresource-types.ts'
import type { Transport, TransportOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import type { WatchEvent } from './watch.ts'
import { readEvents } from './watch.ts'
import type { PatchOf, StatusPatch, Writable } from './write-types.ts'

export type { WatchEvent }

export type * from './options.ts'

/**
 * A client of the Kubernetes API. Objects are plain JSON. An integer between 2^53 and 2^63 is a `bigint`, so all digits are preserved.
 *
 * The option `subresource` selects a subresource, and determines the static types:
 *
 *     await client.get(apps.deployment, key, { subresource: 'scale' })
 *     await client.patch(apps.deployment, key, { spec: { replicas: 3 } }, { subresource: 'scale' })
 *     await client.create(core.pod, { metadata: key }, { subresource: 'eviction' })
 *     await client.create(core.serviceAccount, { metadata: key, spec: { audiences: [] } }, { subresource: 'token' })
 *
 * The status has separate, shorter methods, because every reconciler needs the status. Logs have a separate method, because logs are text.
 *
 * Methods reject with one of these errors:
 *
 * - `ApiError` when the API server sends a failure response
 * - `PRO_API` when a successful response is too large, not valid JSON or not a Kubernetes object
 * - `PRO_API_UNREACHABLE` when the API server sends no response
 * - `PRO_KUBECONFIG` when the credentials cannot be loaded
 * - `PRO_INPUT` when an argument is invalid, e.g. a name, a namespace or a label selector
 * - `PRO_CONFIG_INVALID` when an option is unknown or invalid
 * - `PRO_ABORTED` when the client is closed
 * - the signal's reason when the signal aborts
 */
export interface Client {
  /** The default field manager of write requests. The options of a request can name another field manager. */
  readonly fieldManager: string
  /** Reads an object. With `options.subresource`, reads a subresource of the object, e.g. the `Scale` of a Deployment. */
  get<R extends ResourceType, const Options extends GetOptions = GetOptions>(
    type: R,
    key: ObjectKey,
    options?: Options,
  ): Promise<ResultOf<R, Options>>
  /** Lists objects. For types with many objects, see `listInPages` and `metadataOnly`. */
  list<R extends ResourceType>(type: R, options?: ListOptions): Promise<ObjectList<ObjectOf<R>>>
  /**
   * Yields events until the server ends the watch. An ERROR event is thrown as `ApiError`. When the caller stops iterating, the watch is
   * closed.
   */
  watch<R extends ResourceType>(type: R, options: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<R>>>
  /**
   * Creates an object. With `options.subresource`, sends `object` to a subresource of an existing object, e.g. to the subresource
   * `eviction` of a Pod. `object.metadata` contains the name and the namespace of the existing object.
   */
  create<R extends ResourceType, const Options extends CreateOptions = CreateOptions>(
    type: R,
    object: Writable<WrittenOf<R, Options>>,
    options?: Options,
  ): Promise<ResultOf<R, Options>>
  /**
   * Replaces the object. With `options.subresource`, replaces a subresource of the object. Rejects with a conflict when the resourceVersion
   * of `object` differs from the resourceVersion of the stored object.
   */
  update<R extends ResourceType, const Options extends UpdateOptions = UpdateOptions>(
    type: R,
    object: Writable<WrittenOf<R, Options>>,
    options?: Options,
  ): Promise<ResultOf<R, Options>>
  /**
   * Patches the object. The patch is a merge patch if `options.type` is absent. In a merge patch, `null` removes a field. With
   * `options.subresource`, patches the subresource, e.g. with `{ spec: { replicas: 3 } }` for `scale`.
   */
  patch<R extends ResourceType, const Options extends PatchOptions = PatchOptions>(
    type: R,
    key: ObjectKey,
    patch: PatchOf<R, Options>,
    options?: Options,
  ): Promise<ResultOf<R, Options>>
  /** Sends a server-side apply request. The API server creates the object if it does not exist. */
  apply<R extends ResourceType, const Options extends ApplyOptions = ApplyOptions>(
    type: R,
    object: Writable<AppliedOf<R, Options>>,
    options?: Options,
  ): Promise<ResultOf<R, Options>>
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
   * Deletes an object. If finalizers or a grace period delay the removal, the promise resolves to the object. Otherwise, it usually
   * resolves to a `Status`.
   */
  delete<R extends ResourceType>(type: R, key: ObjectKey, options?: DeleteOptions): Promise<Status | ObjectOf<R>>
  /**
   * Deletes all objects that the options select. A namespaced type requires `options.namespace`. Resolves to the list of the objects as
   * they were before the deletion.
   */
  deleteCollection<R extends ResourceType>(type: R, options: DeleteCollectionOptions): Promise<Status | ObjectList<ObjectOf<R>>>
  /**
   * Yields the lines of a container's logs, without newlines. With `follow`, new lines are yielded until the container ends. When the
   * caller stops iterating, the connection is closed.
   */
  logs(pod: ObjectKey, options?: LogOptions): AsyncIterable<string>
  /**
   * Sends a request to any path, e.g. `/version` or `/readyz`. Resolves to the parsed JSON. If the content type is not JSON, resolves to a
   * string.
   */
  raw(path: string, options?: RawOptions): Promise<unknown>
  close(): Promise<void>
}

export interface ClientOptions extends TransportOptions {
  /** The field manager in `managedFields` for the writes of this client. Default `proreus`. */
  readonly fieldManager?: string
  /** The user that the client impersonates in its requests. This user replaces the impersonated user of the kubeconfig. */
  readonly impersonate?: Impersonation | undefined
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/**
 * Creates a client that opens its own connections. The caller must `close` the client.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown. The message names each of these options.
 */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  checkClientOptions(options)
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
    rest: Pick<ListOptions, 'maxResponseBytes'> & {
      query?: Query
      body?: object
      contentType?: string
      accept?: string | undefined
    } & RequestOptions,
  ): Promise<T> {
    const { body, accept, ...others } = rest
    const sent = { ...(body && { body: stringifyJson(body)! }), ...(accept !== undefined && { accept }) }
    const answer = await transport.request({ type, method, verb, path, ...others, ...sent, ...asUser })
    if (!isObject(answer.body)) {
      throw new ProreusError(
        'PRO_API',
        `${method} ${path} was answered with something that is not a Kubernetes object: is this address really that of an API server?`,
      )
    }
    return answer.body as T
  }

  /** Sends a request whose response is one object. */
  async function sendOne<T extends KubernetesObject>(...request: Parameters<typeof send>): Promise<T> {
    const [type, method, verb, path, rest] = request
    const object = await send<T>(type, method, verb, path, { ...rest, accept: acceptOf(type, verb) })
    return isMetadataOnly(type) ? withKindOf(type, object) : object
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
    return sendOne<T & KubernetesObject>(type, method, verb, path, { ...more, ...limitsOf(options), query, body })
  }

  async function put<T>(type: ResourceType, object: object, options: UpdateOptions): Promise<T> {
    requireAllFields(type, 'update')
    const path = objectPath(type, metadataOf(type, object), options.subresource)
    return write<T>(type, 'PUT', 'update', path, typed(type, object, options.subresource), options)
  }

  async function patchWith<T>(type: ResourceType, key: ObjectKey, patch: object, options: PatchOptions): Promise<T> {
    return write<T>(type, 'PATCH', 'patch', objectPath(type, key, options.subresource), patch, options, {
      contentType: patchTypes[options.type ?? 'merge'],
    })
  }

  return {
    fieldManager: defaultManager,

    async get(type, key, options) {
      checkVerbOptions('get', options ?? {})
      return sendOne(type, 'GET', 'get', objectPath(type, key, options?.subresource), limitsOf(options)) as never
    },

    async list<R extends ResourceType>(type: R, listOptions: ListOptions = {}) {
      checkVerbOptions('list', listOptions)
      const { maxResponseBytes, ...options } = listOptions
      const path = resourcePath(type, { namespace: options.namespace })
      const query = selectionQuery(options)
      const accept = acceptOf(type, 'list')
      const list = await send<ObjectList<ObjectOf<R>>>(type, 'GET', 'list', path, {
        query,
        accept,
        ...(maxResponseBytes !== undefined && { maxResponseBytes }),
        ...limitsOf(options),
      })
      const items = list.items ?? []
      if (isMetadataOnly(type)) {
        const listType = { apiVersion: apiVersionOf(type), kind: `${type.kind}List` }
        return { ...list, ...listType, items: items.map((item) => withKindOf(type, item)) }
      }
      // In a list of a built-in type, the items have no `apiVersion` and `kind`, and `items` may be null.
      return { ...list, items: items.map((item) => (item.kind === undefined ? typed(type, item) : item)) }
    },

    async *watch<R extends ResourceType>(type: R, watchOptions: WatchOptions) {
      checkVerbOptions('watch', watchOptions)
      const { onOpen, ...options } = watchOptions
      const path = resourcePath(type, { namespace: options.namespace })
      const accept = acceptOf(type, 'watch')
      const stream = await transport.stream({
        type,
        method: 'GET',
        verb: 'watch',
        path,
        query: { ...selectionQuery(options), watch: true },
        ...limitsOf(options),
        ...(accept !== undefined && { accept }),
        ...asUser,
      })
      onOpen?.()
      const events = readEvents<ObjectOf<R>>(stream, { method: 'GET', path })
      if (!isMetadataOnly(type)) yield* events
      else for await (const event of events) yield { ...event, object: withKindOf(type, event.object) }
    },

    async create(type, object, options) {
      checkVerbOptions('create', options ?? {})
      requireAllFields(type, 'create')
      const { subresource } = options ?? {}
      const metadata = metadataOf(type, object)
      const path = subresource === undefined ? newObjectPath(type, metadata) : objectPath(type, metadata, subresource)
      return write(type, 'POST', 'create', path, typed(type, object, subresource), options ?? {})
    },

    async update(type, object, options) {
      checkVerbOptions('update', options ?? {})
      return put(type, object, options ?? {})
    },

    async patch(type, key, patch, options) {
      checkVerbOptions('patch', options ?? {})
      return patchWith(type, key, patch, options ?? {})
    },

    async apply(type, object, options) {
      checkVerbOptions('apply', options ?? {})
      const { force = true, subresource } = options ?? {}
      const path = objectPath(type, metadataOf(type, object), subresource)
      return write(type, 'PATCH', 'apply', path, typed(type, object, subresource), options ?? {}, {
        query: { force },
        contentType: patchTypes.apply,
      })
    },

    async updateStatus(type, object, options = {}) {
      checkVerbOptions('updateStatus', options)
      return put(type, object, { ...options, subresource: 'status' })
    },

    async patchStatus(type, key, patch, options = {}) {
      checkVerbOptions('patchStatus', options)
      return patchWith(type, key, patch, { ...options, subresource: 'status' })
    },

    async delete(type, key, options = {}) {
      checkVerbOptions('delete', options)
      return send(type, 'DELETE', 'delete', objectPath(type, key), { body: deletionBody(options), ...limitsOf(options) })
    },

    async deleteCollection(type, options) {
      checkVerbOptions('deleteCollection', options)
      const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun, ...selection } = options
      const body = deletionBody({ propagationPolicy, gracePeriodSeconds, preconditions, dryRun })
      const path = collectionPath(type, selection.namespace)
      return send(type, 'DELETE', 'deletecollection', path, { body, query: selectionQuery(selection), ...limitsOf(selection) })
    },

    async *logs(key, options = {}) {
      checkVerbOptions('logs', options)
      const { signal: _signal, timeoutMs: _timeoutMs, ...query } = options
      // With `follow`, there is no default time limit. The API server sends the response headers only with the first line, and the
      // container may write the first line at any time.
      const limits = options.follow === true ? { timeoutMs: Infinity, ...limitsOf(options) } : limitsOf(options)
      const path = objectPath(pod, key, 'log')
      yield* readLines(await transport.stream({ type: pod, method: 'GET', verb: 'get', path, query, accept: '*/*', ...limits, ...asUser }))
    },

    async raw(path, rawOptions = {}) {
      checkVerbOptions('raw', rawOptions)
      const { body, method = 'GET', ...options } = rawOptions
      const sent = body === undefined ? {} : { body: stringifyJson(body)! }
      return (await transport.request({ method, path, ...options, ...sent, ...asUser })).body
    },

    close: () => transport.close(),
  }
}

/**
 * Returns the signal and the time limit from the options of a request. The client uses these two options itself, and does not send them to
 * the API server.
 */
function limitsOf({ signal, timeoutMs }: RequestOptions = {}): RequestOptions {
  return { signal, ...(timeoutMs !== undefined && { timeoutMs }) }
}

/** Returns the options of a list or watch as query parameters. The label selector is formatted as a string. */
function selectionQuery(options: Omit<WatchOptions, 'onOpen'>): Query {
  const { namespace: _namespace, signal: _signal, timeoutMs: _timeoutMs, labelSelector, ...parameters } = options
  const text = labelSelector === undefined ? '' : formatLabelSelector(checkedRequirements(labelSelector))
  return { ...parameters, ...(text === '' ? {} : { labelSelector: text }) }
}

/**
 * Returns the body of a deletion. The body contains all options, because the API server ignores the query parameters of a request with a
 * body.
 */
function deletionBody({ signal: _signal, timeoutMs: _timeoutMs, dryRun, ...options }: DeletionOptions): object {
  return { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
}

type DeletionOptions = { readonly [Option in keyof DeleteOptions]: DeleteOptions[Option] | undefined }

function metadataOf(type: ResourceType, object: object): ObjectInput['metadata'] {
  const metadata: unknown = (object as Partial<ObjectInput> | undefined)?.metadata
  if (isObject(metadata)) return metadata
  throw new ProreusError('PRO_INPUT', `The metadata of a ${type.kind} must be an object, found ${describeFound(metadata)}.`)
}

function requireAllFields(type: ResourceType, verb: string): void {
  if (!isMetadataOnly(type)) return
  throw new ProreusError(
    'PRO_INPUT',
    `The ${verb} of a ${type.kind} would remove all of its fields but the metadata, because its type is metadata-only: use the full type, patch or apply.`,
  )
}

/** The apiVersion and kind of the subresources whose kind differs from the kind of the object. */
const subresourceTypes: ReadonlyMap<string, { readonly apiVersion: string; readonly kind: string }> = new Map([
  ['scale', { apiVersion: 'autoscaling/v1', kind: 'Scale' }],
  ['eviction', { apiVersion: 'policy/v1', kind: 'Eviction' }],
  ['binding', { apiVersion: 'v1', kind: 'Binding' }],
  ['token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }],
])

/** Fills in the apiVersion and kind of an object where they are missing. */
function typed<T extends object>(type: ResourceType, object: T, subresource = ''): T {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  const own = subresourceTypes.get(subresource) ?? { apiVersion: apiVersionOf(type), kind: type.kind }
  return { ...object, apiVersion: apiVersion ?? own.apiVersion, kind: kind ?? own.kind }
}
