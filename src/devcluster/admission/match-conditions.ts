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
 * Returns true when all conditions match.
 *
 * @throws {StatusError} 403 when a condition cannot be evaluated and the failure policy is `Fail`.
 */
export function meetsConditions(hook: Hook, write: VersionedWrite, authorizer: Authorizer): boolean {
  if (hook.matchConditions.length === 0) return true
  const { info, name, namespace = '', subresource, context } = write.attributes
  // RBAC rules do not distinguish versions.
  const decide: Decide = (question) => authorizer.authorize({ ...question, version: '*' })
  const requester = new AuthorizerValue(context.user, decide)
  const { object, oldObject, ...request } = requestOf(write)
  const mismatch = evaluateMatchConditions(hook.matchConditions, {
    object,
    oldObject,
    // The conditions see the kind of the matched rule, but the resource of the request, as in kube-apiserver.
    request: { ...request, resource: request.requestResource },
    authorizer: requester,
    requestResource: new ResourceCheck(requester, { group: info.group, resource: info.plural, subresource, namespace, name }),
  })
  if (mismatch?.error !== undefined && hook.failurePolicy === 'Fail') throw forbidden(info, name, mismatch.error)
  return mismatch === undefined
}
