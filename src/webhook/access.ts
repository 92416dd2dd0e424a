/** "May the requester do this?": SubjectAccessReviews, whose answers are remembered for some seconds. */
import { createHash } from 'node:crypto'
import { subjectAccessReview } from '../api/builtin.ts'
import type { Clock } from '../api/clock.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isForbidden } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import type { UserInfo } from './context.ts'

/** What somebody would do. */
export interface AccessAttributes {
  /** `get`, `list`, `create`, `update`, `patch`, `delete`, … or one that only your own rules know, such as `use`. */
  readonly verb: string
  /** To what: a kind of yours, one like `core.secret`, or what `resourceType({ … })` gives. */
  readonly type: ResourceType
  readonly subresource?: string
  /** Default: that of the request; empty: all namespaces. Of no meaning for cluster-scoped types: what a namespace allows is not asked about these. */
  readonly namespace?: string
  /** Default: any. */
  readonly name?: string
}

/** The `resourceAttributes` of a SubjectAccessReview. */
interface ResourceAttributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace: string
  readonly name?: string
}

/** What `context.requesterCan` needs to be allowed; goes into the `rbac` of the webhook. */
export const accessReviewRule: PolicyRule = Object.freeze({
  apiGroups: Object.freeze(['authorization.k8s.io']),
  resources: Object.freeze(['subjectaccessreviews']),
  verbs: Object.freeze(['create']),
})

/** Long enough for one `kubectl apply` of many objects. */
const allowedMs = 5_000
/** Who was refused asks somebody for the right, and tries again. */
const deniedMs = 1_000
/** A digest and an answer each: about 200 KiB. */
const maxEntries = 1_000

interface Answer {
  readonly allowed: boolean
  readonly until: number
}

/** The answers of one process. */
export class AccessReviews {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #answers = new Map<string, Answer>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Whether the user may do that, where no namespace is named in `namespace`.
   *
   * @throws {ProreusError} `PRO_API` or `PRO_PERMISSION` when the API server does not say.
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
    const allowed = await ask(client, user, attributes)
    this.#remember(key, { allowed, until: this.#clock.monotonicNow() + (allowed ? allowedMs : deniedMs) })
    return allowed
  }

  #remember(key: string, answer: Answer): void {
    // Behind all others, also when it was there.
    this.#answers.delete(key)
    if (this.#answers.size >= maxEntries) this.#answers.delete(this.#answers.keys().next().value!)
    this.#answers.set(key, answer)
  }
}

/** A digest: users have as many groups and extra values as their identity provider likes. */
function keyOf({ username, uid, groups, extra }: UserInfo, attributes: ResourceAttributes): string {
  const { verb, group, resource, subresource, namespace, name } = attributes
  return createHash('sha256')
    .update(JSON.stringify([username, uid, groups, extra, verb, group, resource, subresource, namespace, name]))
    .digest('base64')
}

async function ask(client: Pick<Client, 'create'>, user: UserInfo, attributes: ResourceAttributes): Promise<boolean> {
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
      const advice = 'name accessReviewRule in the `rbac` of the webhook, and apply the role that "proreus generate" writes'
      throw new ProreusError('PRO_PERMISSION', `This process may not ask the API server ${question}: ${advice}.`, { cause })
    }
    throw new ProreusError('PRO_API', `The API server does not say ${question}.`, { cause })
  }
}
