/** Evaluates the match conditions of a webhook. */
import { evaluateMatchConditions } from '../../cel/match-conditions.ts'
import type { Decide } from '../../cel/library/authorization.ts'
import { AuthorizerValue, ResourceCheck } from '../../cel/library/authorization.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { forbidden } from '../apimachinery/status-error.ts'
import type { Hook } from './hook.ts'
import { requestOf } from './review.ts'
import type { VersionedWrite } from './versioned-write.ts'

/**
 * Returns true when all match conditions of a webhook are true.
 *
 * @throws {StatusError} 403 when a condition cannot be evaluated and `failurePolicy` is `Fail`.
 */
export function meetsConditions(hook: Hook, write: VersionedWrite, authorizer: Authorizer): boolean {
  if (hook.matchConditions.length === 0) return true
  const { info, name, namespace = '', subresource, context } = write.attributes
  // RBAC rules contain no version, so any version gives the same result.
  const decide: Decide = (question) => authorizer.authorize({ ...question, version: '*' })
  const requester = new AuthorizerValue(context.user, decide)
  const { object, oldObject, ...request } = requestOf(write)
  const mismatch = evaluateMatchConditions(hook.matchConditions, {
    object,
    oldObject,
    // `request.kind` is the kind that the webhook's rule matches, but `request.resource` is the resource of the original API request, as in
    // kube-apiserver.
    request: { ...request, resource: request.requestResource },
    authorizer: requester,
    requestResource: new ResourceCheck(requester, { group: info.group, resource: info.plural, subresource, namespace, name }),
  })
  if (mismatch?.error !== undefined && hook.failurePolicy === 'Fail') throw forbidden(info, name, mismatch.error)
  return mismatch === undefined
}
