/** `CachedCredentials`: caches credentials that change over time. Concurrent callers share one load. */
import type { Clock } from '../runtime/clock.ts'

export interface Credentials {
  /** The value of the `Authorization` header. */
  readonly authorization?: string
  /** The client certificate as PEM; `key` is its private key. */
  readonly cert?: string
  readonly key?: string
}

/** Minimum time between two loads that bypass the cache. It limits how often an exec plugin runs when the server rejects every request. */
const refreshIntervalMs = 10_000

/**
 * Caches credentials, and loads them again when they are older than `maxAgeMs` or the server has rejected them. Concurrent callers share
 * one call of `load`.
 */
export class CachedCredentials {
  readonly #load: (refresh: boolean) => Promise<Credentials>
  readonly #clock: Clock
  readonly #maxAgeMs: number
  #current: { readonly value: Credentials; readonly at: number } | undefined
  #pending: Promise<Credentials> | undefined
  #refreshedAt = -Infinity

  /**
   * @param load loads the credentials. `refresh` is true when the server has rejected the previous credentials. `load` must then bypass any
   * cache of its own.
   */
  constructor(load: (refresh: boolean) => Promise<Credentials>, options: { clock: Clock; maxAgeMs: number }) {
    this.#load = load
    this.#clock = options.clock
    this.#maxAgeMs = options.maxAgeMs
  }

  /**
   * Returns the current credentials. `refused` is the `Authorization` header that the server has just rejected; undefined if there is none.
   */
  get(refused?: string): Promise<Credentials> {
    if (this.#pending !== undefined) return this.#pending
    const now = this.#clock.now()
    const current = this.#current
    const refresh = refused !== undefined && current?.value.authorization === refused && now - this.#refreshedAt >= refreshIntervalMs
    if (current !== undefined && !refresh && now - current.at < this.#maxAgeMs) return Promise.resolve(current.value)
    if (refresh) this.#refreshedAt = now
    this.#pending = this.#reload(refresh)
    return this.#pending
  }

  async #reload(refresh: boolean): Promise<Credentials> {
    try {
      const value = await this.#load(refresh)
      this.#current = { value, at: this.#clock.now() }
      return value
    } finally {
      this.#pending = undefined
    }
  }
}
