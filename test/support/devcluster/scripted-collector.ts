/** A garbage collector in a scripted cluster: the test sends the watch events, and sees the requests. */
import type { Test } from 'tap'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client, WatchEvent, WatchOptions } from '../../../src/client/client.ts'
import { runGarbageCollector } from '../../../src/devcluster/controllers/garbage-collector.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { ScriptedWatch } from '../client/fake-cluster.ts'
import { recordingLogger } from '../recording-logger.ts'
import { until } from '../../../src/testing/until.ts'

export const typeOf = (kind: string, namespaced = true): ResourceType =>
  resourceType({ group: 'g.io', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced })
export const [owners, parts, nodes] = [typeOf('Owner'), typeOf('Part'), typeOf('Node', false)]
const time = '2026-01-01T00:00:00Z'
export const conflict = new ApiError(failure(409, 'Conflict', 'conflict'))
export const notFound = new ApiError(failure(404, 'NotFound', 'not found'))

export interface Metadata {
  readonly namespace?: string | undefined
  readonly uid?: string
  readonly ownerReferences?: object[]
  readonly finalizers?: string[]
  readonly deletionTimestamp?: string
}
let version = 0
export function objectOf(type: ResourceType, name: string, metadata: Metadata = {}): KubernetesObject {
  const own = {
    name,
    ...(type.namespaced ? { namespace: 'ns' } : {}),
    uid: name,
    resourceVersion: String(++version),
    creationTimestamp: time,
  }
  return { apiVersion: 'g.io/v1', kind: type.kind, metadata: { ...own, ...metadata } } as unknown as KubernetesObject
}
export const newer = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(++version) },
})
export const by = (type: ResourceType, name: string, more: object = {}): object => ({
  apiVersion: 'g.io/v1',
  kind: type.kind,
  name,
  uid: name,
  ...more,
})
export const deleted = (...finalizers: string[]): Metadata => ({ deletionTimestamp: time, finalizers })

export interface World {
  readonly clock: FakeClock
  readonly log: string[]
  readonly events: string[]
  /** The objects that the garbage collector has read, as `TYPE NAME`. */
  readonly reads: string[]
  readonly stop: AbortController
  readonly ended: Promise<void>
  /** Returns all watches that were opened for a type, the oldest first. */
  watches(type: ResourceType): ScriptedWatch[]
  /**
   * Waits until the garbage collector has sent at least `count` writes since the last call of `written`. Returns all writes since that
   * call, as `patch TYPE NAME: JSON` or `delete TYPE NAME: JSON`.
   */
  written(count: number): Promise<string[]>
  /**
   * Waits until the garbage collector has no more work at the current time of the clock. Resolves with true if there are no new writes
   * since the last call of `written`.
   */
  isQuiet(): Promise<boolean>
  /** Returns the number of listeners for changes of the served types. */
  listeners(): number
  /** Sends an event on the watch of the type. Later reads return the object of the event. After a DELETED event, they find no object. */
  send(event: WatchEvent['type'], type: ResourceType, object: KubernetesObject): void
  /** Stores an object, but sends no event on the watch of the type. */
  store(type: ResourceType, object: KubernetesObject): void
  /** Removes an object without an event of the watch. */
  remove(type: ResourceType, object: KubernetesObject): void
  serve(...types: ResourceType[]): void
  /** Notifies the garbage collector that the cluster is about to restore a snapshot. */
  beforeRestore(): void
}

export interface CollectorOptions {
  readonly objects?: [ResourceType, KubernetesObject][]
  readonly types?: ResourceType[]
  /** Returns the error of a write or list request; undefined if the request succeeds. */
  readonly failing?: (method: string, type: ResourceType, name: string) => Error | undefined
}

export function collect(
  t: Test,
  { objects = [], types = [owners, parts, nodes], failing = () => undefined }: CollectorOptions = {},
): World {
  const stop = new AbortController()
  const stored = new Map<string, KubernetesObject>()
  const keyOf = (type: ResourceType, { name, namespace = '' }: { name: string; namespace?: string | undefined }): string =>
    `${type.plural} ${namespace}/${name}`
  for (const [type, object] of objects) stored.set(keyOf(type, object.metadata), object)
  const watches = new Map<string, ScriptedWatch[]>()
  const [written, events, reads]: string[][] = [[], [], []]
  let served = types
  const listeners = new Set<() => void>()
  const restores: (() => void)[] = []
  const write = (method: string, type: ResourceType, name: string, body: object): void => {
    written!.push(`${method} ${type.plural} ${name}: ${JSON.stringify(body)}`)
    const error = failing(method, type, name)
    if (error !== undefined) throw error
  }
  const client = {
    list: async (type: ResourceType) => {
      const error = failing('list', type, '')
      if (error !== undefined) throw error
      const items = [...stored].filter(([key]) => key.startsWith(`${type.plural} `)).map(([, object]) => object)
      return { metadata: { resourceVersion: '1' }, items }
    },
    async *watch(type: ResourceType, options: WatchOptions) {
      const watch = new ScriptedWatch(options)
      watches.set(type.plural, [...(watches.get(type.plural) ?? []), watch])
      options.onOpen?.()
      yield* watch.events()
    },
    get: async (type: ResourceType, key: { name: string }, { signal }: { signal?: AbortSignal }) => {
      t.equal(signal, stop.signal)
      reads!.push(`${type.plural} ${key.name}`)
      const object = stored.get(keyOf(type, key))
      if (object === undefined) throw notFound
      return object
    },
    patch: async (type: ResourceType, key: { name: string }, body: object, { signal }: { signal?: AbortSignal }) => {
      t.equal(signal, stop.signal)
      write('patch', type, key.name, body)
      return stored.get(keyOf(type, key))
    },
    delete: async (type: ResourceType, key: { name: string }, { signal, ...options }: { signal?: AbortSignal }) => {
      t.equal(signal, stop.signal)
      write('delete', type, key.name, options)
    },
  } as unknown as Client
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger('debug')
  const ended = runGarbageCollector(
    {
      client,
      clock,
      logger,
      source: {
        types: () => served,
        byKind: (group, kind) => served.find((type) => type.group === group && type.kind === kind),
        onChange: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      onRestore: (listener) => void restores.push(listener),
      events: {
        event: (object, type, reason, message) => void events!.push(`${object.metadata.name} ${type} ${reason}: ${message}`),
      },
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await ended
  })
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    clock,
    log: lines,
    events: events!,
    reads: reads!,
    stop,
    ended,
    listeners: () => listeners.size,
    watches: (type) => watches.get(type.plural) ?? [],
    written: async (count) => {
      await until(`${count} writes`, () => written!.length >= count)
      await settle()
      return written!.splice(0)
    },
    isQuiet: async () => {
      await settle()
      return written!.length === 0
    },
    send(event, type, object) {
      if (event === 'DELETED') stored.delete(keyOf(type, object.metadata))
      else stored.set(keyOf(type, object.metadata), object)
      watches.get(type.plural)!.at(-1)!.send(event, object)
    },
    store: (type, object) => void stored.set(keyOf(type, object.metadata), object),
    remove: (type, object) => void stored.delete(keyOf(type, object.metadata)),
    beforeRestore() {
      for (const listener of restores) listener()
    },
    serve(...now) {
      served = now
      for (const listener of listeners) listener()
    },
  }
}
