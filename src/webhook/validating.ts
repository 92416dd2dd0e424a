/** The validating webhook: the schema, the handlers' own rules and what only the cluster can tell, about the final object. */
import type { FieldError } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { CombinedWebhook, Handlers } from './combine.ts'
import type { AdmissionHandler, Call } from './handler.ts'
import { handlersWith, isExempt, respond } from './handler.ts'
import { RequestContext } from './request-context.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from './verdict.ts'

/** An aggregated API may have connections without options; their handlers are asked all the same. */
const noOptions: JsonObject = Object.freeze({})
const noErrors: readonly FieldError[] = Object.freeze([])

export function validatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const { schemaKind, version } = webhook
  const schema = schemaKind && schemaOf(schemaKind, version)
  const isAboutObject = webhook.subresource === ''
  const ofDeletion = webhook.handlers.DELETE.filter(({ validateDelete }) => validateDelete !== undefined)
  const ofObject = handlersWith(webhook.handlers, 'validate', 'validateInCluster')

  return (request, call) => {
    if (isAboutObject && isExempt(request)) return { allowed: true }
    const { oldObject, operation } = request
    if (operation === 'DELETE') {
      if (oldObject === undefined || ofDeletion.length === 0) return { allowed: true }
      return judgeDeletion(webhook, ofDeletion, oldObject, request, call)
    }
    const object = request.object ?? (operation === 'CONNECT' ? noOptions : undefined)
    if (object === undefined) return { allowed: true }
    // The API server has run the schema before; a caller that has not must not get a handler to trip over a missing field.
    const errors = schema === undefined || request.judged !== undefined ? noErrors : schema.validate(object, oldObject)
    const handlers = ofObject[operation]
    if (errors.length > 0 || handlers.length === 0) return respond(request, errors)
    return judge(webhook, handlers, object, request, call)
  }
}

async function judge(
  { reads }: CombinedWebhook,
  handlers: Handlers,
  object: JsonObject,
  request: AdmissionRequest,
  call: Call,
): Promise<AdmissionResponse> {
  const context = new RequestContext(request, call)
  const own = await ownErrors(handlers, object, context)
  if (reads.length > 0) await call.cache.whenFilled(reads, call.signal)
  return respond(request, await admissionVerdict(handlers, object, context, own), context)
}

async function judgeDeletion(
  { reads }: CombinedWebhook,
  handlers: Handlers,
  oldObject: JsonObject,
  request: AdmissionRequest,
  call: Call,
): Promise<AdmissionResponse> {
  await call.cache.whenFilled(reads, call.signal)
  const context = new RequestContext(request, call)
  return respond(request, await deletionVerdict(handlers, oldObject, context), context)
}
