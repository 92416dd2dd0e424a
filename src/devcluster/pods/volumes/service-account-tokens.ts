/**
 * `ServiceAccountTokens`: the tokens of a Pod. The tokens are renewed before they expire (k8s.io/kubernetes/pkg/kubelet/token: Manager).
 */
import type { Clock } from '../../../runtime/clock.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import { messageOf } from './combined-error.ts'

/** A request for a token that is bound to a Pod (k8s.io/api/authentication/v1: TokenRequestSpec). */
export interface TokenRequest {
  readonly namespace: string
  readonly serviceAccount: string
  /** Empty when the token is for the audience of the API server. */
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly pod: { readonly name: string; readonly uid: string }
}

export interface IssuedToken {
  readonly token: string
  /** The lifetime that the API server has granted. */
  readonly expirationSeconds: number
  /** The end of the lifetime, in milliseconds since 1970. */
  readonly expiresAt: number
}

export type CreateToken = (request: TokenRequest) => Promise<IssuedToken>

export interface TokenOptions {
  readonly createToken: CreateToken
  readonly clock: Clock
  readonly random: () => number
  /** Called with the error of a renewal that failed while the old token is still valid. */
  readonly onProblem: (error: Error) => void
}

/** The default of `expirationSeconds` in the API (k8s.io/kubernetes/pkg/apis/core/v1: SetDefaults_ServiceAccountTokenProjection). */
const defaultExpirationSeconds = 3600
/**
 * A token is renewed at the age of `maxAgeMs`, or when `leftPercent` of its lifetime is left, whichever is earlier. Each renewal is earlier
 * by a random time of at most `maxJitterMs` (token_manager.go: maxTTL, maxJitter).
 */
const [maxAgeMs, leftPercent, maxJitterMs] = [24 * 3600 * 1000, 20, 10_000]
/**
 * The time in milliseconds from a failed renewal to the next attempt. The kubelet renews tokens when it syncs a Pod, about once a minute.
 */
const retryMs = 60_000

interface CachedToken extends IssuedToken {
  readonly refreshAt: number
}

export class ServiceAccountTokens {
  readonly #pod: ReadonlyPod
  readonly #options: TokenOptions
  readonly #tokens = new Map<string, CachedToken>()

  constructor(pod: ReadonlyPod, options: TokenOptions) {
    this.#pod = pod
    this.#options = options
  }

  /** The time at which the next token should be renewed, in milliseconds since 1970. Infinity when there is no token. */
  get refreshAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#tokens.values()].map(({ refreshAt }) => refreshAt))
  }

  /**
   * Resolves with a token for an audience. If a renewal fails and the old token is still valid, resolves with the old token. The next
   * renewal is then due in one minute.
   *
   * @throws {Error} with the message of the kubelet when there is no valid token.
   */
  async get({
    audience = '',
    expirationSeconds = defaultExpirationSeconds,
  }: {
    audience?: string
    expirationSeconds?: number
  }): Promise<string> {
    const { clock, createToken, onProblem } = this.#options
    const { namespace, name, uid = '' } = this.#pod.metadata
    const serviceAccount = this.#pod.spec?.serviceAccountName ?? ''
    const key = `${serviceAccount}/${namespace}/${JSON.stringify(audience)}/${expirationSeconds}`
    const known = this.#tokens.get(key)
    // After a failed renewal, a token may expire before its next renewal is due.
    if (known !== undefined && clock.now() < known.refreshAt && clock.now() <= known.expiresAt) return known.token
    try {
      const audiences = audience === '' ? [] : [audience]
      const issued = await createToken({ namespace, serviceAccount, audiences, expirationSeconds, pod: { name, uid } })
      this.#tokens.set(key, { ...issued, refreshAt: this.#refreshAt(issued) })
      return issued.token
    } catch (error) {
      if (known === undefined) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error })
      this.#tokens.set(key, { ...known, refreshAt: clock.now() + retryMs })
      if (clock.now() > known.expiresAt) throw new Error(`token ${key} expired and refresh failed: ${messageOf(error)}`, { cause: error })
      onProblem(new Error(`Couldn't update token ${key}: ${messageOf(error)}`, { cause: error }))
      return known.token
    }
  }

  /** Returns the time of the renewal (k8s.io/kubernetes/pkg/kubelet/token: requiresRefresh). */
  #refreshAt({ expirationSeconds, expiresAt }: IssuedToken): number {
    const issuedAt = expiresAt - expirationSeconds * 1000
    const left = Math.floor((expirationSeconds * leftPercent) / 100) * 1000
    return Math.min(issuedAt + maxAgeMs, expiresAt - left) - this.#options.random() * maxJitterMs
  }
}
