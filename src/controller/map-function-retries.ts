/**
 * `MapFunctionRetries`: calls a map function again after it has thrown for an object. Without a retry, the keys for this object would never
 * be enqueued.
 */
import type { Clock, Timer } from '../runtime/clock.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { Logger } from '../telemetry/logger.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'

/**
 * The pauses between retries are 1 s, 2 s, 4 s, …. The tenth retry is the last one, 17 minutes after the first error. Without a limit, a
 * map function that always throws would be retried forever, even for a deleted object.
 */
const firstPauseMs = 1_000
const maxTries = 10

type ReadonlyObject = DeepReadonly<KubernetesObject>

interface Pending {
  /**
   * The oldest and the newest state of the object for which the map function has thrown. Both states are retried. The states between them
   * are not retried. The map function has usually thrown for these states too, so they have not enqueued any keys.
   *
   * `oldest` may be the old state of an update. The map function may have succeeded for this state in an earlier call. The keys of that
   * call must be enqueued again, because the object has changed since.
   */
  oldest: ReadonlyObject
  newest: ReadonlyObject
  tries: number
  timer: Timer
}

export interface MapFunctionRetriesOptions {
  /** The type of the objects that the map function maps. */
  readonly type: ResourceType
  /** Maps the object, and enqueues the keys. Rejects when the map function throws. */
  readonly map: (object: ReadonlyObject) => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

export class MapFunctionRetries {
  readonly #options: MapFunctionRetriesOptions
  /** The pending retries, by the keys of the mapped objects. */
  readonly #pending = new Map<string, Pending>()

  constructor(options: MapFunctionRetriesOptions) {
    this.#options = options
  }

  /** Schedules a retry for an object. The map function has thrown for the states `oldest` and `newest`, which may be the same. */
  add(oldest: ReadonlyObject, newest: ReadonlyObject, error: unknown): void {
    const key = formatKey(newest.metadata)
    const known = this.#pending.get(key)
    if (known !== undefined) {
      known.newest = newest
      return
    }
    this.#log('error', error, key, 'threw: it is called again, and its keys are enqueued when it succeeds')
    this.#pending.set(key, { oldest, newest, tries: 0, timer: this.#arm(key, 0) })
  }

  /** Cancels all pending retries. */
  stop(): void {
    for (const { timer } of this.#pending.values()) timer.cancel()
    this.#pending.clear()
  }

  #arm(key: string, tries: number): Timer {
    return this.#options.clock.after(firstPauseMs * 2 ** tries, () => void this.#retry(key))
  }

  async #retry(key: string): Promise<void> {
    const pending = this.#pending.get(key)
    if (pending === undefined) return
    const { oldest, newest } = pending
    try {
      for (const object of new Set([newest, oldest])) await this.#options.map(object)
    } catch (error) {
      if (this.#pending.get(key) === pending) this.#retryAgain(key, pending, error)
      return
    }
    if (this.#pending.get(key) !== pending) return
    this.#pending.delete(key)
    // `add` was called during the retry: the map function has also thrown for a state that is newer than `newest`.
    if (pending.newest !== newest) this.#pending.set(key, { ...pending, oldest: newest, tries: 0, timer: this.#arm(key, 0) })
  }

  #retryAgain(key: string, pending: Pending, error: unknown): void {
    pending.tries += 1
    if (pending.tries < maxTries) {
      this.#log('debug', error, key, 'threw again')
      pending.timer = this.#arm(key, pending.tries)
    } else {
      this.#pending.delete(key)
      this.#log('error', error, key, `has thrown ${maxTries} times more and is not called again for this change`)
    }
  }

  #log(level: 'debug' | 'error', err: unknown, object: string, what: string): void {
    const text = `the map function for ${groupResourceOf(this.#options.type)} ${what}${permissionAdvice(err, 'controller')}`
    this.#options.logger[level]({ err: loggedError(err), object }, text)
  }
}
