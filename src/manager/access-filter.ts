/**
 * Authenticates and authorizes requests to the metrics and debug endpoints, with a TokenReview and a SubjectAccessReview. The reviews, the
 * lifetimes of cached results, and the status codes 401, 403 and 500 are those of controller-runtime's
 * `filters.WithAuthenticationAndAuthorization`.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { authentication } from '../api/kubernetes/authentication.ts'
import { authorization } from '../api/kubernetes/authorization.ts'
import { messageOf } from '../api/errors.ts'
import { isForbidden } from '../client/api-error.ts'
import { loggedError } from '../client/missing-rule.ts'
import type { Client } from '../client/client.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AccessFilter, Answer } from './http-endpoint.ts'
import { ExpiringCache } from './expiring-cache.ts'

/** Lifetimes of cache entries in milliseconds: for reviewed tokens, for allowed requests, and for denied requests. */
const tokenMs = 60_000
const allowedMs = 300_000
const deniedMs = 30_000
/** Maximum number of entries of each cache. In the cache of users, 1000 entries take about 1 MiB. */
const maxEntries = 1000
/**
 * Maximum number of cached decisions about one user. For each value of the user's field `extra`, there are at most 27 decisions: one for
 * each combination of 9 paths with the verbs `get`, `head` and `put`. The tokens of a user may have many different values of `extra`.
 * Without a limit, one user could therefore cause any number of cached decisions.
 */
const maxDecisions = 50
/** Time limit of a review in milliseconds. Prometheus waits ten seconds for a scrape by default. */
const reviewMs = 8_000
/**
 * Maximum number of reviews at the same time. Without a limit, many requests with different tokens would overload the API server with
 * reviews.
 */
const maxReviews = 8
/**
 * Maximum number of reviews at the same time for requests from one remote address. This number is half of `maxReviews`, so that the other
 * half remains available for requests from other addresses.
 */
const maxReviewsOfAddress = maxReviews / 2
/**
 * Maximum number of rejected tokens from one remote address within `tokenMs`. When this number is reached, further tokens from the address
 * are refused without a TokenReview, except for cached tokens.
 * A scraper does not reach the limit, because its only token changes once an hour.
 */
const maxRejected = 10

/** The advice for a missing permission of this process. */
const advice =
  '; it needs the verb create on tokenreviews and subjectaccessreviews: apply config/rbac/role.yaml and role_binding.yaml, which "proreus generate" writes'

interface Pending {
  /** The remote address of the request that caused the review. */
  readonly address: string
  readonly result: Promise<unknown>
}

type User = NonNullable<NonNullable<authentication.TokenReview['status']>['user']>

/** An error that ends the checks of a request. `answer` is the response to the request. */
class Refusal extends Error {
  readonly answer: Answer

  constructor(code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.answer = { code, body: `${message}\n`, headers }
  }
}

export interface AccessFilterOptions {
  readonly client: Pick<Client, 'create'>
  /** The paths that exist. A request for any other path gets the response 404, without a SubjectAccessReview. */
  readonly paths: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Returns a filter that permits a request if its bearer token is valid and the user of the token has the permission for the request, such
 * as `get /metrics`. The verb is the HTTP method in lower case. The filter refuses other requests with these status codes:
 *
 * - 401: the request has no valid token,
 * - 404: the path does not exist,
 * - 403: the user lacks the permission,
 * - 429: too many reviews are in progress, or the remote address has sent too many rejected tokens,
 * - 500: a review has failed.
 */
export function accessFilter({ client, paths, clock, logger }: AccessFilterOptions): AccessFilter {
  const users = new ExpiringCache<User>(clock, maxEntries)
  // Rejected tokens have a separate cache. If they were in the cache `users`, many rejected tokens could displace valid tokens.
  const rejectedTokens = new ExpiringCache<true>(clock, maxEntries)
  const rejections = new ExpiringCache<{ count: number }>(clock, maxEntries)
  /** The cached results of SubjectAccessReviews, first by user and then by request. A result is true if the user may send the request. */
  const decisions = new ExpiringCache<ExpiringCache<boolean>>(clock, maxEntries)
  const pending = new Map<string, Pending>()

  /** Returns true when no further review may start for a request from this address. */
  function isBusy(address: string): boolean {
    if (pending.size >= maxReviews) return true
    return [...pending.values()].filter((each) => each.address === address).length >= maxReviewsOfAddress
  }

  /**
   * Calls `review`, and returns its result. If a review with the same key is already in progress, returns the result of that review
   * instead.
   */
  function once<T>(key: string, address: string, review: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const known = pending.get(key)
    if (known !== undefined) return known.result as Promise<T>
    if (isBusy(address)) throw tooMany()
    const controller = new AbortController()
    const timer = clock.after(reviewMs, () => controller.abort(new Error(`the API server did not answer within ${reviewMs} ms`)))
    const result = review(controller.signal).finally(() => {
      timer.cancel()
      pending.delete(key)
    })
    pending.set(key, { address, result })
    return result
  }

  async function authenticate(token: string, address: string): Promise<User> {
    const key = digest('token', token)
    const known = users.get(key)
    if (known !== undefined) return known
    if (rejectedTokens.get(key) !== undefined) throw unauthorized()
    if (pending.has(key)) return once(key, address, () => Promise.reject(unauthorized()))
    // An attempt counts as rejected until its result is known, so that concurrent requests cannot exceed `maxRejected`.
    const rejected = rejections.get(address) ?? { count: 0 }
    if (rejected.count >= maxRejected || isBusy(address)) throw tooMany()
    if (rejected.count === 0) rejections.set(address, rejected, tokenMs)
    rejected.count += 1
    return once(key, address, async (signal) => {
      const user = await reviewToken(token, signal).catch((error: unknown) => {
        rejected.count -= 1
        throw error
      })
      if (user === undefined) {
        rejectedTokens.set(key, true, tokenMs)
        throw unauthorized()
      }
      rejected.count -= 1
      users.set(key, user, tokenMs)
      return user
    })
  }

  /** Returns the user of a valid token; undefined for any other token. */
  async function reviewToken(token: string, signal: AbortSignal): Promise<User | undefined> {
    const { status } = await client.create(authentication.tokenReview, { metadata: {}, spec: { token } }, { signal })
    return status?.authenticated === true ? status.user : undefined
  }

  async function isAllowed(user: User, path: string, verb: string, address: string): Promise<boolean> {
    const { username, uid, groups, extra } = user
    const person = digest('user', JSON.stringify([username, uid, groups]))
    const key = digest('access', JSON.stringify([user, path, verb]))
    const known = decisions.get(person)?.get(key)
    if (known !== undefined) return known
    return once(key, address, async (signal) => {
      const spec = {
        ...(username !== undefined && { user: username }),
        ...(uid !== undefined && { uid }),
        ...(groups !== undefined && { groups }),
        ...(extra !== undefined && { extra }),
        nonResourceAttributes: { path, verb },
      }
      const { status } = await client.create(authorization.subjectAccessReview, { metadata: {}, spec }, { signal })
      const allowed = status?.allowed === true
      const own = decisions.get(person) ?? new ExpiringCache<boolean>(clock, maxDecisions)
      own.set(key, allowed, allowed ? allowedMs : deniedMs)
      decisions.set(person, own, allowedMs)
      return allowed
    })
  }

  /** The last failure; empty after a success. */
  let problem = ''
  return async (request, url) => {
    let step = 'authentication'
    try {
      const token = tokenOf(request)
      if (token === undefined) throw unauthorized()
      const address = request.socket.remoteAddress ?? ''
      const user = await authenticate(token, address)
      // The path is checked after the token, so a client without a valid token does not learn which paths exist.
      if (!paths.includes(url.pathname)) return { code: 404, body: 'not found\n' }
      step = 'authorization'
      const verb = (request.method ?? '').toLowerCase()
      const allowed = await isAllowed(user, url.pathname, verb, address)
      problem = ''
      if (allowed) return undefined
      logger.debug({ user: user.username, path: url.pathname, verb }, 'a request was denied')
      return { code: 403, body: `the user may not ${verb} ${url.pathname}\n` }
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      // Prometheus sends a request every few seconds, so a repeated failure is logged only at level `debug`.
      const cause = `${step}: ${messageOf(error)}`
      const level = cause === problem ? 'debug' : 'error'
      problem = cause
      logger[level]({ err: loggedError(error) }, `the ${step} of a request to ${url.pathname} failed${isForbidden(error) ? advice : ''}`)
      // The API server's message is logged. The response does not contain the message, because the client is possibly not authenticated.
      return { code: 500, body: `the ${step} failed\n` }
    }
  }
}

function unauthorized(): Refusal {
  return new Refusal(401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' })
}

function tooMany(): Refusal {
  return new Refusal(429, 'too many requests are being reviewed', { 'retry-after': '60' })
}

/** Returns the bearer token of a request. Returns undefined when the request has no token with the syntax of RFC 6750. */
function tokenOf({ headers: { authorization: header = '' } }: IncomingMessage): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}

/** Returns a digest as the key of a cached result, so that no token is kept in memory. */
function digest(what: string, text: string): string {
  return createHash('sha256').update(`${what}\0${text}`).digest('base64')
}
