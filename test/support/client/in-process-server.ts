/** A small API server without sockets, validation and defaults. Its clock and its responses are the same in each run of a test. */
import { isObject, type JsonObject } from '../../../src/api/json.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { ApiRequest } from '../../../src/client/api-request.ts'
import { formatQuery } from '../../../src/client/resource-path.ts'
import type { Transport } from '../../../src/client/transport.ts'
import type { Clock } from '../../../src/runtime/clock.ts'

interface Change {
  readonly collection: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubernetesObject
}

interface Target {
  /** The URL path of the type, such as `/api/v1/configmaps`. The path never contains a namespace. */
  readonly collection: string
  readonly namespace: string | undefined
  readonly name: string | undefined
}

export class InProcessServer {
  /** The received requests: the time in milliseconds since the start, method, path with query, and body. */
  readonly requests: string[] = []
  /** Returns the status code with which a request fails; undefined when it succeeds. */
  fault: (request: ApiRequest) => number | undefined = () => undefined
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #changes: Change[] = []
  /** Functions that are called after each change. */
  readonly #watches = new Set<() => void>()
  #uids = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  /** The transport of a client of this server. */
  get transport(): Transport {
    return {
      request: async (request) => {
        this.#receive(request)
        return { statusCode: 200, headers: {}, body: structuredClone(this.#answer(request)) }
      },
      stream: async (request) => {
        this.#receive(request)
        return this.#watch(request)
      },
      close: async () => undefined,
    }
  }

  /** Returns the object with this path, such as `/api/v1/configmaps/default/a`. */
  get(path: string): KubernetesObject | undefined {
    return this.#objects.get(path)
  }

  /** Stores an object without a request. */
  put(collection: string, object: KubernetesObject): void {
    this.#store(collection, object)
  }

  #receive(request: ApiRequest): void {
    request.signal?.throwIfAborted()
    request.guard?.()
    const { method, path, query, body = '' } = request
    this.requests.push(`${this.#clock.now() - this.#startedAt} ${method} ${path}${formatQuery(query)} ${body}`)
    const code = this.fault(request)
    if (code !== undefined) throw new ApiError(failure(code, '', 'a fault of the test'), request)
  }

  #answer(request: ApiRequest): object {
    const target = targetOf(request.path)
    const { collection, namespace, name } = target
    const sent = request.body === undefined ? {} : (JSON.parse(request.body) as JsonObject)
    if (request.path.endsWith('/selfsubjectaccessreviews')) return { ...sent, status: { allowed: true } }
    if (request.method === 'POST') {
      const object = sent as unknown as KubernetesObject
      if (this.#objects.has(keyOf(collection, object.metadata))) throw failed(409, request)
      const metadata = { ...object.metadata, uid: `uid-${(this.#uids += 1)}`, creationTimestamp: new Date(this.#clock.now()).toISOString() }
      return this.#store(collection, { ...object, metadata })
    }
    if (name === undefined) {
      const items = [...this.#objects].filter(([key]) => key.startsWith(`${collection}/${namespace ?? ''}`)).map(([, object]) => object)
      return { metadata: { resourceVersion: String(this.#changes.length) }, items }
    }
    const stored = this.#objects.get(keyOf(collection, { namespace, name }))
    if (stored === undefined) throw failed(404, request)
    if (request.method === 'GET') return stored
    const { resourceVersion } = (sent['metadata'] ?? {}) as { resourceVersion?: string }
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) throw failed(409, request)
    if (request.method === 'DELETE') return this.#delete(collection, stored)
    const object = request.method === 'PUT' ? sent : merged(stored as unknown as JsonObject, sent)
    return this.#store(collection, object as unknown as KubernetesObject)
  }

  #store(collection: string, object: KubernetesObject): KubernetesObject {
    const key = keyOf(collection, object.metadata)
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#changes.length + 1) } }
    const { deletionTimestamp, finalizers = [] } = stored.metadata
    if (deletionTimestamp !== undefined && finalizers.length === 0) return this.#delete(collection, stored)
    const type = this.#objects.has(key) ? 'MODIFIED' : 'ADDED'
    this.#objects.set(key, stored)
    this.#changed({ collection, type, object: stored })
    return stored
  }

  #delete(collection: string, stored: KubernetesObject): KubernetesObject {
    const { finalizers = [], deletionTimestamp } = stored.metadata
    if (finalizers.length > 0 && deletionTimestamp === undefined) {
      const metadata = { ...stored.metadata, deletionTimestamp: new Date(this.#clock.now()).toISOString() }
      return this.#store(collection, { ...stored, metadata })
    }
    this.#objects.delete(keyOf(collection, stored.metadata))
    const gone = { ...stored, metadata: { ...stored.metadata, resourceVersion: String(this.#changes.length + 1) } }
    this.#changed({ collection, type: 'DELETED', object: gone })
    return gone
  }

  #changed(change: Change): void {
    this.#changes.push(change)
    for (const wake of this.#watches) wake()
  }

  /** Yields the changes after the resourceVersion, until the timeout of the watch has passed or its signal aborts. */
  async *#watch({ path, query = {}, signal }: ApiRequest): AsyncGenerator<Buffer, void, undefined> {
    const { collection } = targetOf(path)
    let ended = false
    let wake = (): void => undefined
    const end = (): void => {
      ended = true
      wake()
    }
    const notify = (): void => wake()
    const timer = this.#clock.after(Number(query['timeoutSeconds']) * 1000, end)
    signal?.addEventListener('abort', end, { once: true })
    this.#watches.add(notify)
    try {
      for (let next = Number(query['resourceVersion']); !ended;) {
        const change = this.#changes[next]
        if (change === undefined) {
          await new Promise<void>((resolve) => (wake = resolve))
          continue
        }
        next += 1
        const { type, object } = change
        if (change.collection === collection) yield Buffer.from(`${JSON.stringify({ type, object })}\n`)
      }
      signal?.throwIfAborted()
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      this.#watches.delete(notify)
    }
  }
}

/** Splits a path such as `/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME/SUBRESOURCE`. */
function targetOf(path: string): Target {
  const { prefix, namespace, plural, name } =
    /^(?<prefix>\/api\/v1|\/apis\/[^/]+\/[^/]+)(\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(\/(?<name>[^/]+))?/.exec(
      path,
    )!.groups!
  return { collection: `${prefix}/${plural}`, namespace, name }
}

function keyOf(collection: string, { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string }): string {
  return `${collection}/${namespace ?? ''}/${name}`
}

function failed(code: number, request: ApiRequest): ApiError {
  return new ApiError(failure(code, '', `${request.path} fails with ${code}`), request)
}

/** Applies a merge patch. */
function merged(old: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...old }
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name]
    if (value === null) delete result[name]
    else result[name] = isObject(value) && isObject(before) ? merged(before as JsonObject, value as JsonObject) : value
  }
  return result
}
