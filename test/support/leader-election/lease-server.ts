/**
 * Serves one Lease from memory, and refuses an update with an old resourceVersion, as the API server does. A test can interrupt the network
 * of each client.
 */
import { ApiError } from '../../../src/client/api-error.ts'
import type { coordination } from '../../../src/api/kubernetes/coordination.ts'
import { failure } from '../../../src/api/status.ts'
import type { Client, WatchEvent } from '../../../src/client/client.ts'
import type { LeaderElectorOptions } from '../../../src/leader-election/leader-elector.ts'

export type LeaseClient = LeaderElectorOptions['client']
type Lease = coordination.Lease

/** The network of one client. */
export interface Network {
  /** Called for each request. `action` handles the request in the server. By default, `carry` calls `action` at once. */
  carry<T>(action: () => T, verb: string): Promise<T>
  /** If false, the events of watches do not arrive. */
  watches: boolean
}

export const direct = (): Network => ({ carry: async (action) => action(), watches: true })

export class LeaseServer {
  lease: Lease | undefined
  /** The verbs of the requests that arrived. */
  readonly received: string[] = []
  #version = 0
  readonly #watchers = new Set<(event: WatchEvent<Lease>) => void>()

  /** Stores a Lease, as another client would. */
  put(spec: Lease['spec'], metadata: Partial<Lease['metadata']> = {}): void {
    const known = this.lease !== undefined
    this.lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'it',
        namespace: 'ns',
        uid: 'u',
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...this.lease?.metadata,
        ...metadata,
        resourceVersion: String(++this.#version),
      },
      ...(spec && { spec }),
    }
    this.#emit({ type: known ? 'MODIFIED' : 'ADDED', object: this.lease })
  }

  delete(): void {
    const object = this.lease
    this.lease = undefined
    if (object !== undefined) this.#emit({ type: 'DELETED', object })
  }

  client(network: Network = direct()): LeaseClient {
    const carry = <T>(verb: string, action: () => T): Promise<T> =>
      network.carry(() => {
        this.received.push(verb)
        return structuredClone(action())
      }, verb)
    const client = {
      get: () => carry('get', () => this.#found()),
      create: (_: unknown, { spec, metadata }: Lease) =>
        carry('create', () => {
          if (this.lease !== undefined) throw new ApiError(failure(409, 'AlreadyExists', 'it is there'))
          this.put(spec, metadata)
          return this.lease
        }),
      update: (_: unknown, { spec, metadata }: Lease) =>
        carry('update', () => {
          if (metadata.resourceVersion !== this.#found().metadata.resourceVersion)
            throw new ApiError(failure(409, 'Conflict', 'it has changed'))
          this.put(spec)
          return this.lease
        }),
      watch: (_: unknown, options: Parameters<Client['watch']>[1]) => this.#watch(network, options),
    }
    return client as unknown as LeaseClient
  }

  #found(): Lease {
    if (this.lease === undefined) throw new ApiError(failure(404, 'NotFound', 'no such lease'))
    return this.lease
  }

  #emit(event: WatchEvent<Lease>): void {
    for (const watcher of this.#watchers) watcher(structuredClone(event))
  }

  async *#watch(network: Network, { signal, onOpen }: Parameters<Client['watch']>[1]): AsyncGenerator<WatchEvent<Lease>> {
    await network.carry(() => this.received.push('watch'), 'watch')
    onOpen?.()
    const queue: WatchEvent<Lease>[] = this.lease === undefined ? [] : [{ type: 'ADDED', object: structuredClone(this.lease) }]
    let more = Promise.withResolvers<void>()
    const watcher = (event: WatchEvent<Lease>): void => {
      if (!network.watches) return
      queue.push(event)
      more.resolve()
    }
    const onAbort = (): void => more.resolve()
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#watchers.add(watcher)
    try {
      for (;;) {
        if (signal?.aborted === true) throw signal.reason
        const event = queue.shift()
        if (event !== undefined) yield event
        else {
          await more.promise
          more = Promise.withResolvers()
        }
      }
    } finally {
      this.#watchers.delete(watcher)
      signal?.removeEventListener('abort', onAbort)
    }
  }
}
