/**
 * Calls the handlers of a validating webhook. For a deletion, `validateDelete` receives the object to be deleted. For other operations,
 * `validate` and `validateInCluster` receive the object with the changes of all mutating webhooks.
 */
import { isEmpty } from '../../api/error-list.ts'
import type { CombinedWebhook } from '../definition/combine.ts'
import type { Evaluation } from '../evaluation/evaluation.ts'
import type { AdmissionHandler, Call } from './call.ts'
import type { CombinedVerdict } from './verdict.ts'
import { webhooksWith } from '../definition/combine.ts'
import { respond } from './verdict.ts'
import { HandlerContext } from './handler-context.ts'
import type { AdmissionRequest, AdmissionResponse } from '../review/admission-review.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from './verdict.ts'

export function validatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const ofDeletion = webhooksWith(webhook.webhooks, 'validateDelete')
  const called = { ...webhooksWith(webhook.webhooks, 'validate', 'validateInCluster'), DELETE: ofDeletion.DELETE }
  const withCalled = { ...webhook, webhooks: called }

  return (evaluation, { request, errors }, call) => {
    if (!isEmpty(errors) || called[request.operation].length === 0) return respond(request, errors)
    return callHandlers(withCalled, request, evaluation, call)
  }
}

async function callHandlers(
  webhook: CombinedWebhook,
  request: AdmissionRequest,
  evaluation: Evaluation,
  call: Call,
): Promise<AdmissionResponse> {
  const { object, oldObject } = await evaluation.objects()
  evaluation.close()
  const context = new HandlerContext(request, oldObject, call)
  const webhooks = webhook.webhooks[request.operation]
  const cacheIsFilled = async (): Promise<void> => {
    if (webhook.reads.length > 0) await call.cache.whenFilled(webhook.reads, call.signal)
  }
  let verdict: CombinedVerdict
  if (request.operation === 'DELETE') {
    await cacheIsFilled()
    verdict = await deletionVerdict(webhooks, oldObject!, context)
  } else {
    const own = await ownErrors(webhooks, object!, context)
    await cacheIsFilled()
    verdict = await admissionVerdict(webhooks, object!, context, own)
  }
  return respond(request, verdict, context.collected())
}
