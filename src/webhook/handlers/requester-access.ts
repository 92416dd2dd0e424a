/** Creates the SubjectAccessReviews for `context.requesterCan`, and caches their results for a few seconds. */
import { createHash } from 'node:crypto'
import { subjectAccessReview } from '../../api/builtin.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ProreusError } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { isForbidden } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'
import type { AccessAttributes, UserInfo } from '../definition/context.ts'

/** The `resourceAttributes` in the spec of a SubjectAccessReview. */
interface ResourceAttributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace: string
  readonly name?: string
}

/** The RBAC rule that `context.requesterCan` requires. The webhook must have it in its `rbac`. */
export const accessReviewRule: PolicyRule = Object.freeze({
  apiGroups: Object.freeze(['authorization.k8s.io']),
  resources: Object.freeze(['subjectaccessreviews']),
  verbs: Object.freeze(['create']),
})

/** Milliseconds for which a granted permission is cached: long enough for one `kubectl apply` of many objects. */
const allowedMs = 5_000
/**
 * Milliseconds for which a denied permission is cached. The time is short, so that a new permission takes effect when the user tries again.
 */
const deniedMs = 1_000
/** Maximum number of cached results. Each of them consists of a digest, a boolean and a time; all together take about 200 KiB. */
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
  async allows(
    client: Pick<Client, 'create'>,
    user: UserInfo,
    { type, namespace: named, ...what }: AccessAttributes,
    namespace: string,
  ): Promise<boolean> {
    const { group, plural: resource, namespaced } = type
    const attributes = { ...what, group, resource, namespace: namespaced ? (named ?? namespace) : '' }
    const key = keyOf(user, attributes)
    const now = this.#clock.monotonicNow()
    const known = this.#answers.get(key)
    if (known !== undefined && known.until > now) return known.allowed
    const allowed = await reviewAccess(client, user, attributes)
    this.#remember(key, { allowed, until: this.#clock.monotonicNow() + (allowed ? allowedMs : deniedMs) })
    return allowed
  }

  #remember(key: string, answer: Answer): void {
    // Deleting the old entry first moves the renewed entry to the end of the insertion order.
    this.#answers.delete(key)
    if (this.#answers.size >= maxEntries) this.#answers.delete(this.#answers.keys().next().value!)
    this.#answers.set(key, answer)
  }
}

/** Returns a digest as the key of a cached result, because the groups and extra values of a user may be arbitrarily long. */
function keyOf({ username, uid, groups, extra }: UserInfo, attributes: ResourceAttributes): string {
  const { verb, group, resource, subresource, namespace, name } = attributes
  return createHash('sha256')
    .update(JSON.stringify([username, uid, groups, extra, verb, group, resource, subresource, namespace, name]))
    .digest('base64')
}

async function reviewAccess(client: Pick<Client, 'create'>, user: UserInfo, attributes: ResourceAttributes): Promise<boolean> {
  const { username, uid, groups, extra } = user
  const spec = {
    user: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups: [...groups] }),
    ...(extra === undefined ? {} : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
    resourceAttributes: { ...attributes },
  }
  try {
    const { status } = await client.create(subjectAccessReview, { metadata: {}, spec })
    return status?.allowed === true
  } catch (cause) {
    const { verb, group, resource } = attributes
    const question = `whether the user ${quote(username)} may ${verb} ${groupResourceOf({ group, plural: resource })}`
    if (isForbidden(cause)) {
      const advice = 'add accessReviewRule to the `rbac` of the webhook, and apply the role that "proreus generate" writes'
      throw new ProreusError('PRO_PERMISSION', `This process may not check ${question}: ${advice}.`, { cause })
    }
    throw new ProreusError('PRO_API', `The API server did not answer ${question}.`, { cause })
  }
}
