/**
 * Calls the handlers of a mutating webhook: `default`, and the validation handlers if the webhook rejects invalid objects early
 * (`refuseInvalidEarly`).
 */
import type { ErrorList } from '../../api/error-list.ts'
import { isEmpty, joinErrors, noErrors } from '../../api/error-list.ts'
import { messageOf } from '../../api/errors.ts'
import type { DeepReadonly, JsonObject } from '../../api/json.ts'
import { deepFreeze, isObject } from '../../api/json.ts'
import type { CombinedWebhook, OrderedWebhooks } from '../definition/combine.ts'
import type { ReviewContext } from '../definition/context.ts'
import type { Awaitable, Evaluation, Found } from '../evaluation/evaluation.ts'
import type { AdmissionHandler, Call } from './call.ts'
import type { CombinedVerdict } from './verdict.ts'
import { webhooksWith } from '../definition/combine.ts'
import { respond } from './verdict.ts'
import { HandlerContext } from './handler-context.ts'
import type { AdmissionResponse } from '../review/admission-review.ts'
import { admissionVerdict, ownErrors } from './verdict.ts'

/** An object after its defaults have been applied, and the errors that the schema found in it. */
export interface Defaulted {
  readonly object: JsonObject
  readonly errors: ErrorList
}

export function mutatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const { refuseInvalidEarly } = webhook
  // For each operation, the webhooks with a `default` handler. If `refuseInvalidEarly` is true, the webhooks with a `validate` handler are
  // also included. If an operation has no such webhook, no handler is called for this operation. A webhook that has only a
  // `validateInCluster` handler is not included, because a mutating webhook calls `validateInCluster` handlers only after a `validate`
  // handler has rejected the object.
  const called = webhooksWith(webhook.webhooks, 'default', ...(refuseInvalidEarly ? (['validate'] as const) : []))

  return (evaluation, found, call) => {
    const { request, errors, warnings } = found
    if (called[request.operation].length > 0) return callHandlers(webhook, evaluation, found, call)
    return respond(request, refuseInvalidEarly ? errors : noErrors, warnings.length === 0 ? undefined : { warnings })
  }
}

async function callHandlers(
  webhook: CombinedWebhook,
  evaluation: Evaluation,
  { request, errors, warnings }: Found,
  call: Call,
): Promise<AdmissionResponse> {
  const webhooks = webhook.webhooks[request.operation]
  const { object, oldObject } = await evaluation.objects()
  const context = new HandlerContext(request, oldObject, call)
  for (const warning of warnings) context.warn(warning)
  const defaulted = await applyDefaultHandlers(webhooks, { object: object!, errors }, context, (changed) => evaluation.change(changed))
  const verdict = webhook.refuseInvalidEarly ? await validateEarly(webhook, evaluation, defaulted, context, call) : noErrors
  return respond(request, verdict, context.collected())
}

/**
 * Calls the `default` handlers one after another. Returns the resulting object with its schema errors. When a field of the object has a
 * value of the wrong type, no further handler is called.
 */
export async function applyDefaultHandlers(
  webhooks: OrderedWebhooks,
  { object, errors }: Defaulted,
  context: ReviewContext<JsonObject>,
  change: (object: JsonObject) => Awaitable<ErrorList>,
): Promise<Defaulted> {
  for (const { handlers } of webhooks) {
    if (handlers.default === undefined) continue
    if (errors.listed.some(({ reason }) => reason === 'FieldValueTypeInvalid')) break
    const before = object
    try {
      object = asObject(await handlers.default(deepFreeze(before) as DeepReadonly<JsonObject>, context))
    } catch (error) {
      // If the object has schema errors, these errors have probably caused the exception. Therefore, the exception is only logged.
      if (isEmpty(errors)) throw error
      context.logger.debug({ err: error }, `default() failed on an object that the schema refuses: ${messageOf(error)}`)
      break
    }
    if (object !== before) errors = await change(object)
  }
  return { object, errors }
}

function asObject(result: unknown): JsonObject {
  if (isObject(result)) return result
  throw new TypeError('default() must return the object, changed or not')
}

/**
 * Returns the errors of the schema and of the `validate` handlers. If the schema accepts the object and a `validate` handler rejects it,
 * the function also calls the `validateInCluster` handlers and returns their errors too, so that the user gets all errors at the same time.
 * Otherwise, the function does not call the `validateInCluster` handlers.
 */
async function validateEarly(
  { webhooks: byOperation, reads }: CombinedWebhook,
  evaluation: Evaluation,
  { object, errors }: Defaulted,
  context: HandlerContext,
  call: Call,
): Promise<CombinedVerdict> {
  const webhooks = byOperation[context.operation]
  const own = await ownErrors(webhooks, object, context, errors)
  if (!isEmpty(errors)) return joinErrors(errors, own)
  if (isEmpty(own)) return own
  // The object is rejected, so the response needs no patch, and the worker thread can release the object.
  evaluation.close()
  await call.cache.whenFilled(reads, call.signal)
  return admissionVerdict(webhooks, object, context, own)
}
