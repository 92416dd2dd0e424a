/** `CachedCredentials`: credentials that change over time, loaded by one caller at a time and cached for a short time. */
import type { Clock } from '../runtime/clock.ts'

export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization?: string
  /** Client certificate and key, PEM. */
  readonly cert?: string
  readonly key?: string
}

/** Minimum time between two refreshes, which limits how often an exec plugin runs when the server rejects every request. */
const refreshIntervalMs = 10_000

/** Calls `load` when the cached credentials are older than `maxAgeMs`; concurrent callers share one call. */
export class CachedCredentials {
  readonly #load: (refresh: boolean) => Promise<Credentials>
  readonly #clock: Clock
  readonly #maxAgeMs: number
  #current: { readonly value: Credentials; readonly at: number } | undefined
  #pending: Promise<Credentials> | undefined
  #refreshedAt = -Infinity

  /**
   * @param load loads the credentials. When `refresh` is true, it must bypass its own cache, because the server has rejected the last
   * credentials.
   */
  constructor(load: (refresh: boolean) => Promise<Credentials>, options: { clock: Clock; maxAgeMs: number }) {
    this.#load = load
    this.#clock = options.clock
    this.#maxAgeMs = options.maxAgeMs
  }

  /** Returns the current credentials; `refused` is the `Authorization` header that the server has rejected, if any. */
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
