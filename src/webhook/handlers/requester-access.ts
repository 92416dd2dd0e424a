/** Caches the results of SubjectAccessReviews for a few seconds. `context.requesterCan` uses this cache. */
import { createHash } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import type { UserInfo } from '../../api/user-info.ts'
import type { Client } from '../../client/client.ts'
import type { ResourceAccess } from '../../client/is-allowed.ts'
import { isAllowed } from '../../client/is-allowed.ts'
import type { AccessAttributes } from '../definition/context.ts'

/** Milliseconds for which a granted permission is cached. The time is sufficient for one `kubectl apply` of many objects. */
const allowedMs = 5_000
/**
 * Milliseconds for which a denied permission is cached. The time is short, so that a new permission takes effect when the user tries again.
 */
const deniedMs = 1_000
/** Maximum number of cached results. Each result consists of a digest, a boolean and a time. All results together take about 200 KiB. */
const maxEntries = 1_000

interface Answer {
  readonly allowed: boolean
  readonly until: number
}

/** The cache of SubjectAccessReview results of one process. */
export class AccessReviews {
  readonly #clock: Clock
  /** The cached results, keyed by the digest of the user and the attributes. They are in insertion order, the oldest first. */
  readonly #answers = new Map<string, Answer>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns whether the user has the permission. `namespace` is the default for `attributes.namespace`.
   *
   * @throws {ProreusError} `PRO_API` or `PRO_PERMISSION` when the SubjectAccessReview fails.
   */
  async allows(client: Pick<Client, 'create'>, user: UserInfo, attributes: AccessAttributes, namespace: string): Promise<boolean> {
    const access = { ...attributes, namespace: attributes.type.namespaced ? (attributes.namespace ?? namespace) : '' }
    const key = keyOf(user, access)
    const now = this.#clock.monotonicNow()
    const known = this.#answers.get(key)
    if (known !== undefined && known.until > now) return known.allowed
    const allowed = await isAllowed(client, user, access)
    this.#remember(key, { allowed, until: this.#clock.monotonicNow() + (allowed ? allowedMs : deniedMs) })
    return allowed
  }

  #remember(key: string, answer: Answer): void {
    // The old entry is deleted first, so that the new entry is the last entry in the order of insertion.
    this.#answers.delete(key)
    if (this.#answers.size >= maxEntries) this.#answers.delete(this.#answers.keys().next().value!)
    this.#answers.set(key, answer)
  }
}

/** Returns a digest as the key of a cached result, because the groups and extra values of a user may be arbitrarily long. */
function keyOf({ username, uid, groups, extra }: UserInfo, access: ResourceAccess): string {
  const { verb, type, subresource, namespace, name } = access
  return createHash('sha256')
    .update(JSON.stringify([username, uid, groups, extra, verb, type.group, type.plural, subresource, namespace, name]))
    .digest('base64')
}
