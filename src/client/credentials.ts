/** `CachedCredentials`: credentials that change over time, loaded by one caller at a time and kept for a short while. */
import type { Clock } from '../api/clock.ts'

export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization?: string
  /** Client certificate and key, PEM. */
  readonly cert?: string
  readonly key?: string
}

/** A server that refuses everything must not make us start an exec plugin for each request. */
const refreshIntervalMs = 10_000

/** Calls `load` when what it gave last is older than `maxAgeMs`; all who ask meanwhile share the one call. */
export class CachedCredentials {
  readonly #load: (refresh: boolean) => Promise<Credentials>
  readonly #clock: Clock
  readonly #maxAgeMs: number
  #current: { readonly value: Credentials; readonly at: number } | undefined
  #pending: Promise<Credentials> | undefined
  #refreshedAt = -Infinity

  /** `load(true)` must not answer from a cache of its own: the last credentials were refused. */
  constructor(load: (refresh: boolean) => Promise<Credentials>, options: { clock: Clock; maxAgeMs: number }) {
    this.#load = load
    this.#clock = options.clock
    this.#maxAgeMs = options.maxAgeMs
  }

  /** The credentials of now; `refused` is the header of the last ones, when the server did not take it. */
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
