/** `MapCalls`: calls the map function of a watched type for changed objects, and enqueues the returned keys. */
import type { Clock } from '../runtime/clock.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { Cause } from '../cache/origin.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ProreusError } from '../api/errors.ts'
import { formatKey } from '../api/object.ts'
import { MapFunctionRetries } from './map-function-retries.ts'

type ReadonlyObject = DeepReadonly<KubernetesObject>

/** A function that returns the keys to enqueue for an object. The signal aborts when the controller stops. */
export type KeysOf = (object: ReadonlyObject, signal: AbortSignal) => readonly ObjectKey[] | Promise<readonly ObjectKey[]>

/** A change of an object. For an update, the map function is called for both states. For any other change, both states are the same. */
export interface Change {
  readonly oldest: ReadonlyObject
  readonly newest: ReadonlyObject
  readonly priority: number
  readonly cause: Cause
}

/** Enqueues a key that a map function has returned for a change. */
export type Enqueue = (key: string, change: Change) => void

export interface MapCallsOptions {
  /** The type of the objects that the map function maps. */
  readonly type: ResourceType
  readonly map: KeysOf
  readonly enqueue: Enqueue
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The outcome of one call of the map function. If the call succeeds: the keys that the map function returns. If the call fails: the object
 * that was mapped, and the error.
 */
type Outcome = { readonly keys: readonly string[] } | { readonly object: ReadonlyObject; readonly error: unknown }

/**
 * Calls the map function. If the function is asynchronous, calls for one object run one after the other, and calls for different objects
 * run at the same time. If the function is synchronous, its keys are enqueued synchronously.
 */
export class MapCalls {
  readonly #options: MapCallsOptions
  readonly #retries: MapFunctionRetries
  readonly #abort = new AbortController()
  /** The calls that have not settled, keyed by the mapped object. The promises do not reject. */
  readonly #running = new Map<string, Promise<void>>()
  /** The changes that arrived while a call for the same object was running. */
  readonly #waiting = new Map<string, Change>()

  constructor(options: MapCallsOptions) {
    const { type, clock, logger } = options
    this.#options = options
    this.#retries = new MapFunctionRetries({ type, clock, logger, map: (object) => this.#retry(object) })
  }

  /**
   * Maps a changed object, and enqueues the keys. If a call for this object is running, the change is mapped when that call has settled.
   */
  map(change: Change): void {
    const key = formatKey(change.newest.metadata)
    if (this.#running.has(key)) this.#waiting.set(key, merged(this.#waiting.get(key), change))
    else this.#start(key, change)
  }

  /**
   * Aborts the signal of the running calls, and cancels the retries. Afterwards, nothing is enqueued. Resolves when the last call has
   * settled.
   */
  async stop(): Promise<void> {
    this.#abort.abort(new ProreusError('PRO_ABORTED', 'The controller stops.'))
    this.#retries.stop()
    this.#waiting.clear()
    await Promise.all(this.#running.values())
  }

  #start(key: string, change: Change): void {
    const newest = this.#attempt(change.newest)
    const oldest = change.oldest === change.newest ? newest : this.#attempt(change.oldest)
    if (isPromise(newest) || isPromise(oldest)) {
      this.#track(
        key,
        Promise.all([newest, oldest]).then((settled) => this.#settle(change, ...settled)),
      )
    } else this.#settle(change, newest, oldest)
  }

  /**
   * Registers a running call for an object. If the same object changes while the call is running, the change is mapped when the call has
   * settled.
   */
  #track(key: string, call: Promise<void>): void {
    const end = (): void => {
      this.#running.delete(key)
      const next = this.#waiting.get(key)
      this.#waiting.delete(key)
      if (next !== undefined) this.#start(key, next)
    }
    this.#running.set(key, call.then(end, end))
  }

  #attempt(object: ReadonlyObject): Outcome | Promise<Outcome> {
    try {
      const keys = this.#options.map(object, this.#abort.signal)
      return isPromise(keys) ? keys.then(outcomeOf).catch((error: unknown) => ({ object, error })) : outcomeOf(keys)
    } catch (error) {
      return { object, error }
    }
  }

  #settle(change: Change, newest: Outcome, oldest: Outcome): void {
    if (this.#abort.signal.aborted) return
    for (const key of distinctKeys(newest, oldest)) this.#options.enqueue(key, change)
    const first = 'error' in oldest ? oldest : newest
    const last = 'error' in newest ? newest : oldest
    if ('error' in first && 'error' in last) this.#retries.add(first.object, last.object, first.error)
  }

  /**
   * Calls the map function again with a state of an object, because an earlier call with this state has failed. Enqueues the returned keys.
   * If another call for the object is running, the new call begins when the running call has settled.
   */
  async #retry(object: ReadonlyObject): Promise<void> {
    const objectKey = formatKey(object.metadata)
    for (let call = this.#running.get(objectKey); call !== undefined; call = this.#running.get(objectKey)) await call
    const { signal } = this.#abort
    if (signal.aborted) return
    const change: Change = { newest: object, oldest: object, priority: 0, cause: undefined }
    const enqueue = (keys: readonly ObjectKey[]): void => {
      if (!signal.aborted) for (const key of keys) this.#options.enqueue(formatKey(key), change)
    }
    const keys = this.#options.map(object, signal)
    if (!isPromise(keys)) {
      enqueue(keys)
      return
    }
    const call = keys.then(enqueue)
    this.#track(objectKey, call)
    await call
  }
}

/**
 * Combines two changes of an object that arrived while the map function was running for this object. The map function is called only for
 * the oldest and the newest state, and not for the states between them. The `cause` of the combined change is undefined. Therefore, the
 * combined change enqueues all keys that the map function returns, even the key of a reconcile that has made one of the changes.
 */
function merged(waiting: Change | undefined, change: Change): Change {
  if (waiting === undefined) return change
  return { oldest: waiting.oldest, newest: change.newest, priority: Math.max(waiting.priority, change.priority), cause: undefined }
}

const noKeys: readonly string[] = []

/**
 * Returns the keys of both states without duplicates. If a key were enqueued twice, a waiting worker would take the key after the first
 * call of `enqueue`, and the second call would cause another reconcile.
 */
function distinctKeys(newest: Outcome, oldest: Outcome): Iterable<string> {
  const keys = 'keys' in newest ? newest.keys : noKeys
  if (oldest === newest && keys.length < 2) return keys
  return new Set('keys' in oldest ? [...keys, ...oldest.keys] : keys)
}

function outcomeOf(keys: readonly ObjectKey[]): Outcome {
  return { keys: keys.map(formatKey) }
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function'
}
