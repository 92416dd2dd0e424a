/** `isAllowed`: checks with a SubjectAccessReview whether a user has a permission. */
import { subjectAccessReview } from '../api/builtin.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isResourceType, isText, refuseOptions } from '../api/option-checks.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { UserInfo } from '../api/user-info.ts'
import { isForbidden } from './api-error.ts'
import type { Client } from './client.ts'

/** The RBAC rule that `isAllowed` and `context.requesterCan` require. Add it to the `rbac` of the controller or webhook. */
export const accessReviewRule: PolicyRule = Object.freeze({
  apiGroups: Object.freeze(['authorization.k8s.io']),
  resources: Object.freeze(['subjectaccessreviews']),
  verbs: Object.freeze(['create']),
})

/** A permission for a resource. The fields are those of `resourceAttributes` in a SubjectAccessReview. */
export interface ResourceAccess {
  /** The verb: `get`, `list`, `create`, `update`, `patch`, `delete`, …, or a custom verb of your RBAC rules, such as `use`. */
  readonly verb: string
  /** The type of the resource: a kind that you define, a built-in type such as `core.secret`, or the result of `resourceType({ … })`. */
  readonly type: ResourceType
  readonly subresource?: string
  /** The namespace. Default: all namespaces. Ignored for cluster-scoped types. */
  readonly namespace?: string
  /** The name of the object. Default: any name. */
  readonly name?: string
}

/** A permission for a path that is not a resource, e.g. `{ verb: 'get', path: '/metrics' }`. */
export interface PathAccess {
  /** The HTTP method in lower case. */
  readonly verb: string
  readonly path: string
}

const resourceChecks = {
  verb: isText,
  type: isResourceType,
  subresource: isText,
  namespace: isText,
  name: isText,
} satisfies Record<keyof ResourceAccess, OptionCheck>
const checkResource = hasOptions(resourceChecks, ['verb', 'type'])
const checkPath = hasOptions({ verb: isText, path: isText } satisfies Record<keyof PathAccess, OptionCheck>, ['verb', 'path'])

/**
 * Returns true when a user has the permission `access`, otherwise false. The authorizers of the API server, e.g. RBAC, decide. Each call
 * sends a SubjectAccessReview. The result is not cached. The authorizers themselves use caches, which contain a new RoleBinding within a
 * second.
 *
 * The API server does not look up the groups of the user, so `user.groups` must contain all of them, even `system:authenticated`. The
 * `userInfo` of a TokenReview and the `context.user` of a webhook contain all groups. In a webhook, `context.requesterCan` checks the
 * requester.
 *
 * The controller or webhook needs `accessReviewRule` in its `rbac`.
 *
 * Rejects with the signal's reason when the signal aborts.
 *
 * @throws {ProreusError} one of these errors:
 *
 * - `PRO_PERMISSION` when this process may not create SubjectAccessReviews
 * - `PRO_ABORTED` when the client is closed
 * - `PRO_CONFIG_INVALID` for an invalid or unknown field of `access`
 * - `PRO_API` when the request fails for another reason
 *
 * @example
 * const user = { username: `system:serviceaccount:${namespace}:${name}`, groups: ['system:serviceaccounts', 'system:authenticated'] }
 * if (!(await isAllowed(client, user, { verb: 'get', type: core.secret, namespace, name: 'token' }))) …
 */
export async function isAllowed(
  client: Pick<Client, 'create'>,
  user: UserInfo,
  access: ResourceAccess | PathAccess,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  // Without this check, a misspelled `namespace` would be ignored, and the review would apply to all namespaces.
  refuseOptions('isAllowed', ('path' in access ? checkPath : checkResource)(access, ''))
  const { username, uid, groups, extra } = user
  const spec = {
    user: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups: [...groups] }),
    ...(extra === undefined ? {} : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
    ...('path' in access ? { nonResourceAttributes: { verb: access.verb, path: access.path } } : resourceAccess(access)),
  }
  try {
    const { status } = await client.create(subjectAccessReview, { metadata: {}, spec }, options)
    return status?.allowed === true
  } catch (cause) {
    // If the request was aborted, `cause` is thrown unchanged. `cause` is then a `PRO_ABORTED` error or the reason of a signal, which can
    // be any value.
    if (!(cause instanceof ProreusError) || cause === options.signal?.reason || cause.code === 'PRO_ABORTED') throw cause
    const target = 'path' in access ? access.path : groupResourceOf(access.type)
    const question = `whether the user ${quote(username)} may ${access.verb} ${target}`
    if (isForbidden(cause)) {
      const advice = 'add accessReviewRule to the `rbac` of the controller or webhook, and apply the role that "proreus generate" writes'
      throw new ProreusError('PRO_PERMISSION', `This process may not check ${question}: ${advice}.`, { cause })
    }
    throw new ProreusError('PRO_API', `The API server did not answer ${question}.`, { cause })
  }
}

function resourceAccess({ verb, type, subresource, namespace = '', name }: ResourceAccess) {
  const { group, plural: resource, namespaced } = type
  return {
    resourceAttributes: {
      verb,
      group,
      resource,
      namespace: namespaced ? namespace : '',
      ...(subresource === undefined ? {} : { subresource }),
      ...(name === undefined ? {} : { name }),
    },
  }
}
