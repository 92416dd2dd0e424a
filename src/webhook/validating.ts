/** The validating webhook: the schema, the handlers' own rules and what only the cluster can tell, about the final object. */
import type { FieldError } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { CombinedWebhook } from './combine.ts'
import type { AdmissionHandler } from './handler.ts'
import { isExempt, respond } from './handler.ts'
import { RequestContext } from './request-context.ts'
import { admissionVerdict, deletionVerdict, ownErrors } from './verdict.ts'

/** An aggregated API may have connections without options; their handlers are asked all the same. */
const noOptions: JsonObject = Object.freeze({})
const noErrors: readonly FieldError[] = Object.freeze([])

export function validatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const { schemaKind, version, reads } = webhook
  const schema = schemaKind && schemaOf(schemaKind, version)
  const isAboutObject = webhook.subresource === ''

  return async (request, call) => {
    if (isAboutObject && isExempt(request)) return { allowed: true }
    const { oldObject, operation } = request
    const object = request.object ?? (operation === 'CONNECT' ? noOptions : undefined)
    const handlers = webhook.handlers[operation]
    if (operation === 'DELETE') {
      if (oldObject === undefined || handlers.length === 0) return { allowed: true }
      await call.cache.whenFilled(reads, call.signal)
      const context = new RequestContext(request, call)
      return respond(request, await deletionVerdict(handlers, oldObject, context), context)
    }
    if (object === undefined) return { allowed: true }
    const context = new RequestContext(request, call)
    // The API server has run the schema before; a caller that has not must not get a handler to trip over a missing field.
    const errors = schema === undefined || request.judged !== undefined ? noErrors : schema.validate(object, oldObject)
    if (errors.length > 0 || handlers.length === 0) return respond(request, errors, context)
    const own = await ownErrors(handlers, object, oldObject, context)
    if (reads.length > 0) await call.cache.whenFilled(reads, call.signal)
    return respond(request, await admissionVerdict(handlers, object, oldObject, context, own), context)
  }
}
