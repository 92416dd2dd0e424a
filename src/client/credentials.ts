/** `CachedCredentials`: caches credentials that change over time. Concurrent callers share one load. */
import type { Clock } from '../runtime/clock.ts'
import { timedOut, within } from '../runtime/waiting.ts'
import { ProreusError } from '../api/errors.ts'
import type { TlsFiles } from './connection.ts'

export interface Credentials extends TlsFiles {
  /** The value of the `Authorization` header. */
  readonly authorization?: string
}

/**
 * Minimum time in milliseconds between two loads that bypass the cache. When the server rejects every request, this time limits how often
 * an exec plugin runs.
 */
const refreshIntervalMs = 10_000
/**
 * Time limit of one load in milliseconds. Concurrent requests share one load. Without a limit, a load that hangs would block all later
 * requests.
 */
const loadLimitMs = 60_000

interface Options {
  readonly clock: Clock
  /** Time in milliseconds after which the credentials are loaded again. */
  readonly maxAgeMs: number
  /**
   * True when the previous credentials remain in use after a failed load. client-go does the same for token files. A load can fail while
   * the kubelet replaces the files. The previous token then remains valid for some time. Default: false.
   */
  readonly keepsPrevious?: boolean
}

/**
 * Caches credentials, and loads them again when they are older than `maxAgeMs` or the server has rejected them. Concurrent callers share
 * one call of `load`.
 */
export class CachedCredentials {
  readonly #load: (refresh: boolean) => Promise<Credentials>
  readonly #options: Options
  #current: { readonly value: Credentials; readonly at: number } | undefined
  #pending: Promise<Credentials> | undefined
  #refreshedAt = -Infinity

  /**
   * @param load loads the credentials. `refresh` is true when the server has rejected the previous credentials. If `refresh` is true,
   *   `load` must not return credentials from a cache.
   */
  constructor(load: (refresh: boolean) => Promise<Credentials>, options: Options) {
    this.#load = load
    this.#options = options
  }

  /**
   * Returns the current credentials.
   *
   * @param refused the credentials that the server has just rejected: the header, the client certificate or both.
   * @throws the error of `load`; `PRO_KUBECONFIG` when a load takes longer than a minute. With `keepsPrevious`, these errors are thrown
   *   only if no load has succeeded before.
   */
  get(refused: Credentials = {}): Promise<Credentials> {
    if (this.#pending !== undefined) return this.#pending
    const now = this.#options.clock.monotonicNow()
    const current = this.#current
    const refresh = current !== undefined && isSame(refused, current.value) && now - this.#refreshedAt >= refreshIntervalMs
    if (current !== undefined && !refresh && now - current.at < this.#options.maxAgeMs) return Promise.resolve(current.value)
    if (refresh) this.#refreshedAt = now
    this.#pending = this.#reload(refresh)
    return this.#pending
  }

  /** Returns the current `Authorization` header. `refused` is a header that the server has just rejected. */
  async header(refused?: string): Promise<string | undefined> {
    return (await this.get(refused === undefined ? {} : { authorization: refused })).authorization
  }

  async #reload(refresh: boolean): Promise<Credentials> {
    const { clock, keepsPrevious = false } = this.#options
    try {
      const value = await within(clock, loadLimitMs, this.#load(refresh))
      if (value === timedOut) throw new ProreusError('PRO_KUBECONFIG', `The credentials were not loaded within ${loadLimitMs / 1000} s.`)
      this.#current = { value, at: clock.monotonicNow() }
      return value
    } catch (error) {
      if (keepsPrevious && this.#current !== undefined) return this.#current.value
      throw error
    } finally {
      this.#pending = undefined
    }
  }
}

/**
 * Returns true if `refused` and `current` have the same `Authorization` header. If `refused` has no such header, the function compares the
 * client certificates instead.
 */
function isSame(refused: Credentials, current: Credentials): boolean {
  const { authorization, cert } = refused
  return authorization === undefined ? cert !== undefined && cert === current.cert : authorization === current.authorization
}
