/** Combines the verdicts of several handlers: errors are collected, and a rejection is final. */
import type { ErrorList } from '../api/error-list.ts'
import { addErrors, isEmpty, noErrors } from '../api/error-list.ts'
import { messageOf } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import type { Handlers, OperatorWebhook } from './combine.ts'
import type { ReviewContext } from './context.ts'
import type { Verdict } from './definition.ts'
import type { CombinedVerdict } from './handler.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Returns the errors of all `validate` handlers. When there are `known` errors, of the schema or of an earlier handler, an exception of a
 * handler may be a consequence of them, and is ignored.
 */
export async function ownErrors(
  handlers: Handlers,
  object: JsonObject,
  context: ReviewContext<JsonObject>,
  known: ErrorList = noErrors,
): Promise<ErrorList> {
  let own = noErrors
  for (const { handlers: one } of handlers) {
    if (one.validate === undefined) continue
    try {
      own = addErrors(own, await one.validate(freeze(object), frozenOld(context), context))
    } catch (error) {
      if (isEmpty(known) && isEmpty(own)) throw error
      context.logger.debug({ err: error }, `validate() failed on an object that is refused anyway: ${messageOf(error)}`)
    }
  }
  return own
}

/** Returns the verdict of all `validateInCluster` handlers, after `errors`. */
export function admissionVerdict(
  handlers: Handlers,
  object: JsonObject,
  request: RequestContext,
  errors: ErrorList,
): Promise<CombinedVerdict> {
  return collect(handlers, request, errors, (webhook) =>
    webhook.handlers.validateInCluster?.(freeze(object), frozenOld(request), request.of(webhook)),
  )
}

/** Returns the verdict of all `validateDelete` handlers. */
export function deletionVerdict(handlers: Handlers, object: JsonObject, request: RequestContext): Promise<CombinedVerdict> {
  return collect(handlers, request, noErrors, (webhook) => webhook.handlers.validateDelete?.(freeze(object), request.of(webhook)))
}

/** A `Status` is final: it becomes the response unchanged. */
async function collect(
  handlers: Handlers,
  request: RequestContext,
  known: ErrorList,
  ask: (webhook: OperatorWebhook) => Verdict | Promise<Verdict> | undefined,
): Promise<CombinedVerdict> {
  let errors = known
  for (const webhook of handlers) {
    try {
      const verdict = (await ask(webhook)) ?? []
      if (!isErrorList(verdict)) return verdict
      errors = addErrors(errors, verdict)
    } catch (error) {
      // A failure could be ignored by `failurePolicy: Ignore`, so a rejection must not turn into one.
      if (isEmpty(errors)) throw error
      request.logger.debug({ err: error }, `a handler failed on an object that is refused anyway: ${messageOf(error)}`)
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
