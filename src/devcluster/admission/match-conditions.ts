/** Whether a webhook's match conditions let it be called. */
import { evaluateMatchConditions } from '../../schema/cel/match-conditions.ts'
import type { Decide } from '../../schema/cel/library/authorization.ts'
import { AuthorizerValue, ResourceCheck } from '../../schema/cel/library/authorization.ts'
import type { Authorizer } from '../http/authorizer.ts'
import { forbidden } from '../registry/status-error.ts'
import type { Hook } from './hook.ts'
import { requestOf } from './review.ts'
import type { VersionedWrite } from './versioned-write.ts'

/** @throws {StatusError} 403 when they cannot be evaluated and the failure policy is `Fail`. */
export function meetsConditions(hook: Hook, write: VersionedWrite, authorizer: Authorizer): boolean {
  if (hook.matchConditions.length === 0) return true
  const { info, name, namespace = '', subresource, context } = write.attributes
  // Rules of roles know no versions.
  const decide: Decide = (question) => authorizer.authorize({ ...question, version: '*' })
  const requester = new AuthorizerValue(context.user, decide)
  const { object, oldObject, ...request } = requestOf(write)
  const mismatch = evaluateMatchConditions(hook.matchConditions, {
    object,
    oldObject,
    // The kind is that of the rules, the resource that of the request: so the API server has it.
    request: { ...request, resource: request.requestResource },
    authorizer: requester,
    requestResource: new ResourceCheck(requester, { group: info.group, resource: info.plural, subresource, namespace, name }),
  })
  if (mismatch?.error !== undefined && hook.failurePolicy === 'Fail') throw forbidden(info, name, mismatch.error)
  return mismatch === undefined
}
