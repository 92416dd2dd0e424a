/** The validating webhook of a kind: the schema, the kind's own rules and what only the cluster can tell, about the final object. */
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { AdmissionContext, Verdict, WebhookDefinition, WebhookHandlers } from './definition.ts'
import type { AdmissionHandler } from './handler.ts'
import { createContext, isExempt, joinVerdicts, respond } from './handler.ts'

export function validatingHandler(definition: WebhookDefinition, version: string): AdmissionHandler {
  const { kind } = definition
  const schema = schemaOf(kind, version)
  const handlers = definition.handlersOf(version)

  return async (request, call) => {
    if (isExempt(request)) return { allowed: true }
    const { object, oldObject } = request
    const { context, warnings } = createContext(request, call)
    if (request.operation === 'DELETE') {
      const verdict = oldObject === undefined ? [] : await handlers.validateDelete?.(freeze(oldObject), context)
      return respond(kind, request, verdict ?? [], warnings)
    }
    if (object === undefined) return { allowed: true }
    // The API server has run the schema before; a caller that has not must not get a handler to trip over a missing field.
    const errors = request.judged !== undefined ? [] : schema.validate(object, oldObject)
    const verdict = errors.length > 0 ? errors : await judge(handlers, object, oldObject, context)
    return respond(kind, request, verdict, warnings)
  }
}

async function judge(
  handlers: WebhookHandlers<JsonObject>,
  object: JsonObject,
  old: JsonObject | undefined,
  context: AdmissionContext<JsonObject>,
): Promise<Verdict> {
  if (handlers.validate === undefined && handlers.admit === undefined) return []
  const frozen = freeze(object)
  const frozenOld = old && freeze(old)
  const errors = (await handlers.validate?.(frozen, frozenOld, context)) ?? []
  const verdict = (await handlers.admit?.(frozen, frozenOld, context)) ?? []
  return joinVerdicts(errors, verdict)
}

function freeze(object: JsonObject): DeepReadonly<JsonObject> {
  return deepFreeze(object) as DeepReadonly<JsonObject>
}
