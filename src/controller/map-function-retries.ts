/**
 * `MapFunctionRetries`: calls a map function again for each object for which the map function has thrown. Without these retries, the keys
 * for such an object would never be enqueued.
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
 * The first retry follows 1 s after the error. Each further delay is twice as long as the previous delay. The tenth retry, 17 minutes after
 * the first error, is the last retry. Without a limit, a map function that always throws would be retried forever, even for a deleted
 * object.
 */
const firstPauseMs = 1_000
const maxTries = 10

type ReadonlyObject = DeepReadonly<KubernetesObject>

interface Pending {
  /**
   * The oldest and the newest of the states for which the map function has thrown. A retry calls the map function only for these two
   * states.
   *
   * - `oldest` can be the state before an update. An earlier call of the map function may have succeeded for this state, and the keys of
   *   this state may have been reconciled. These keys must be enqueued again, because the object has changed since those reconciles.
   * - A state between `oldest` and `newest` is outdated. Usually, the map function has thrown for this state, too. The state has then
   *   caused no reconcile, so no reconcile must be repeated because of this state.
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
  /** The pending retries. Each retry is stored under the key of the object for which the map function has thrown. */
  readonly #pending = new Map<string, Pending>()

  constructor(options: MapFunctionRetriesOptions) {
    this.#options = options
  }

  /**
   * Schedules a retry for an object. `oldest` and `newest` are the states for which the map function has thrown. They may be the same
   * state.
   */
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
    // If `add` was called during this retry, the map function has also thrown for a later state of the object. The retry has not mapped the
    // later state, so another retry is scheduled.
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
