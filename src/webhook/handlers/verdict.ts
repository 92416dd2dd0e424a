/**
 * Combines the results of several validation handlers. Errors are collected. When a handler returns a failure `Status`, no further handler
 * is called.
 */
import type { ErrorList } from '../../api/error-list.ts'
import { addErrors, isEmpty, noErrors, omission } from '../../api/error-list.ts'
import { messageOf } from '../../api/errors.ts'
import type { Status } from '../../api/status.ts'
import type { FieldError } from '../../api/field-error.ts'
import { invalidStatus, sortFieldErrors } from '../../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { OrderedWebhooks, OperatorWebhook } from '../definition/combine.ts'
import type { ReviewContext } from '../definition/context.ts'
import type { Verdict } from '../definition/definition.ts'
import type { AdmissionRequest, AdmissionResponse } from '../review/admission-review.ts'
import type { HandlerContext } from './handler-context.ts'

/**
 * Calls all `validate` handlers, and returns their errors. If a handler throws an exception, the result depends on the errors in `known`
 * and the errors of the earlier handlers:
 *
 * - If there is at least one such error, the exception is only logged, because the invalid object has probably caused the exception.
 * - If there is no such error, the function rejects with the exception.
 *
 * @param known the errors of the schema. The result does not contain these errors. Default: no errors.
 */
export async function ownErrors(
  webhooks: OrderedWebhooks,
  object: JsonObject,
  context: ReviewContext<JsonObject>,
  known: ErrorList = noErrors,
): Promise<ErrorList> {
  let own = noErrors
  for (const { handlers } of webhooks) {
    if (handlers.validate === undefined) continue
    try {
      own = addErrors(own, await handlers.validate(freeze(object), frozenOld(context), context))
    } catch (error) {
      if (isEmpty(known) && isEmpty(own)) throw error
      context.logger.debug({ err: error }, `validate() failed on an object that is refused anyway: ${messageOf(error)}`)
    }
  }
  return own
}

/**
 * Returns `errors` and the errors of all `validateInCluster` handlers. If a handler returns a failure `Status`, the result is only this
 * `Status`.
 */
export function admissionVerdict(
  webhooks: OrderedWebhooks,
  object: JsonObject,
  context: HandlerContext,
  errors: ErrorList,
): Promise<CombinedVerdict> {
  return collect(webhooks, context, errors, (webhook) =>
    webhook.handlers.validateInCluster?.(freeze(object), frozenOld(context), context.of(webhook)),
  )
}

/** Returns the errors of all `validateDelete` handlers. If a handler returns a failure `Status`, returns this `Status`. */
export function deletionVerdict(webhooks: OrderedWebhooks, object: JsonObject, context: HandlerContext): Promise<CombinedVerdict> {
  return collect(webhooks, context, noErrors, (webhook) => webhook.handlers.validateDelete?.(freeze(object), context.of(webhook)))
}

/**
 * Calls the handlers and collects their errors. When a handler returns a failure `Status`, no further handler is called, and the `Status`
 * is the result.
 */
async function collect(
  webhooks: OrderedWebhooks,
  context: HandlerContext,
  known: ErrorList,
  call: (webhook: OperatorWebhook) => Verdict | Promise<Verdict> | undefined,
): Promise<CombinedVerdict> {
  let errors = known
  for (const webhook of webhooks) {
    try {
      const verdict = (await call(webhook)) ?? []
      if (!isErrorList(verdict)) return verdict
      errors = addErrors(errors, verdict)
    } catch (error) {
      // An exception makes the webhook call fail. With `failurePolicy: Ignore`, the API server would then allow the request. Therefore, if
      // errors have already been found, the exception is ignored, and the request is denied.
      if (isEmpty(errors)) throw error
      context.logger.debug({ err: error }, `a handler failed on an object that is refused anyway: ${messageOf(error)}`)
    }
  }
  return errors
}

function isErrorList(verdict: Verdict): verdict is readonly FieldError[] {
  return Array.isArray(verdict)
}

function frozenOld({ oldObject }: ReviewContext<JsonObject>): DeepReadonly<JsonObject> | undefined {
  return oldObject === undefined ? undefined : freeze(oldObject as JsonObject)
}

function freeze(object: JsonObject): DeepReadonly<JsonObject> {
  return deepFreeze(object) as DeepReadonly<JsonObject>
}

/** All errors of a review, or the failure `Status` that a handler returned. */
export type CombinedVerdict = ErrorList | Status

/** Creates the response for a verdict. Errors are sorted by field, and have the format of the API server's own validation errors. */
export function respond(
  { kind, name }: AdmissionRequest,
  verdict: CombinedVerdict,
  collected?: Pick<AdmissionResponse, 'warnings' | 'auditAnnotations'>,
): AdmissionResponse {
  if (!('listed' in verdict)) return { allowed: false, status: verdict, ...collected }
  if (isEmpty(verdict)) return { allowed: true, ...collected }
  const more = omission(verdict)
  const errors = sortFieldErrors(verdict.listed)
  const status = invalidStatus(kind, name, more === undefined ? errors : [...errors, more], { keepOrder: true })
  return { allowed: false, status, ...collected }
}
