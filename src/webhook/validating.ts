/** The handlers' part of a validating webhook: their own rules and what only the cluster can tell, about the final object. */
import { isEmpty } from '../api/error-list.ts'
import type { CombinedWebhook } from './combine.ts'
import type { AdmissionHandler, BegunEvaluation, Call, Judgement } from './handler.ts'
import { handlersWith, respond } from './handler.ts'
import { RequestContext } from './request-context.ts'
import type { AdmissionResponse } from './review.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from './verdict.ts'

export function validatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const ofDeletion = handlersWith(webhook.handlers, 'validateDelete')
  const asked = { ...handlersWith(webhook.handlers, 'validate', 'validateInCluster'), DELETE: ofDeletion.DELETE }
  const withAsked = { ...webhook, handlers: asked }

  return (evaluation, { errors }, call) => {
    const { request } = evaluation
    if (!isEmpty(errors) || asked[request.operation].length === 0) return respond(request, errors)
    return askHandlers(withAsked, evaluation, call)
  }
}

async function askHandlers(webhook: CombinedWebhook, evaluation: BegunEvaluation, call: Call): Promise<AdmissionResponse> {
  const { request } = evaluation
  const { object, oldObject } = await evaluation.objects()
  evaluation.close()
  const context = new RequestContext(request, oldObject, call)
  const handlers = webhook.handlers[request.operation]
  const cacheIsFilled = async (): Promise<void> => {
    if (webhook.reads.length > 0) await call.cache.whenFilled(webhook.reads, call.signal)
  }
  let judgement: Judgement
  if (request.operation === 'DELETE') {
    await cacheIsFilled()
    judgement = await deletionVerdict(handlers, oldObject!, context)
  } else {
    const own = await ownErrors(handlers, object!, context)
    await cacheIsFilled()
    judgement = await admissionVerdict(handlers, object!, context, own)
  }
  return respond(request, judgement, context.said())
}
