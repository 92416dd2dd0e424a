/**
 * The mutating webhook: the schema's defaults, then those of the handlers, as a patch;
 * and the place where an invalid object is refused with everything that is wrong with it.
 */
import { messageOf } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import { deepFreeze, isObject } from '../api/json.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { CombinedWebhook, Handlers } from './combine.ts'
import type { AdmissionContext, ReviewContext } from './context.ts'
import type { AdmissionHandler, Call } from './handler.ts'
import { handlersWith, isAllowed, isExempt, respond } from './handler.ts'
import type { Verdict } from './definition.ts'
import { createPatch } from './patch.ts'
import { RequestContext } from './request-context.ts'
import type { AdmissionResponse, Judged } from './review.ts'
import { admissionVerdict, ownErrors } from './verdict.ts'

/** An object with its defaults, and what the schema has against it. */
export interface Completed {
  readonly object: JsonObject
  readonly errors: readonly FieldError[]
}

/** Of more, nobody reads the rest. */
const maxUnknownFields = 32

export function mutatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const { schemaKind, version, refuseInvalidEarly } = webhook
  const schema = schemaKind && schemaOf(schemaKind, version)
  const structure = schemaKind?.versions.find(({ name }) => name === version)?.schema
  const isAboutObject = webhook.subresource === ''
  const asked = refuseInvalidEarly
    ? handlersWith(webhook.handlers, 'default', 'validate', 'admit')
    : handlersWith(webhook.handlers, 'default')

  return (request, call) => {
    const { object: raw, oldObject, operation, judged } = request
    if (raw === undefined || operation === 'DELETE' || (isAboutObject && isExempt(request))) return { allowed: true }
    const context = new RequestContext(request, call)
    if (schema !== undefined) for (const path of schema.unknownFields(raw, maxUnknownFields)) context.warn(`unknown field "${path}"`)
    const bySchema = judged === undefined ? completeBySchema(schema, raw, oldObject) : completeJudged(schema, raw, judged)
    const answer = ({ object }: Completed, verdict: Verdict): AdmissionResponse => {
      if (!isAllowed(verdict)) return respond(request, verdict, context)
      const said = context.said()
      if (judged !== undefined && object === bySchema.object && said === undefined) return { allowed: true, written: judged.written }
      return { allowed: true, patch: createPatch(raw, object, structure), ...said }
    }
    const handlers = asked[operation]
    if (handlers.length === 0) return answer(bySchema, refuseInvalidEarly ? bySchema.errors : noErrors)
    return askHandlers(webhook, schema, handlers, bySchema, context, call, answer)
  }
}

async function askHandlers(
  { refuseInvalidEarly, reads }: CombinedWebhook,
  schema: CompiledSchema | undefined,
  handlers: Handlers,
  bySchema: Completed,
  context: RequestContext,
  call: Call,
  answer: (completed: Completed, verdict: Verdict) => AdmissionResponse,
): Promise<AdmissionResponse> {
  const completed = await completeByHandlers(schema, handlers, bySchema, context)
  if (!refuseInvalidEarly) return answer(completed, noErrors)
  return answer(completed, await judgeEarly(handlers, completed, context, () => call.cache.whenFilled(reads, call.signal)))
}

/** An object as its schema completes it. */
export function completeBySchema(schema: CompiledSchema | undefined, raw: JsonObject, old: JsonObject | undefined): Completed {
  if (schema === undefined) return { object: raw, errors: noErrors }
  const object = schema.default(raw)
  return { object, errors: schema.validate(object, old) }
}

/** The same for an object that the schema has nothing against, as another thread has found. */
function completeJudged(schema: CompiledSchema | undefined, raw: JsonObject, { patched }: Judged): Completed {
  return { object: patched && schema !== undefined ? schema.default(raw) : raw, errors: noErrors }
}

/** Fills in what the handlers do, one after the other, as long as they can be trusted with the object. */
export async function completeByHandlers(
  schema: CompiledSchema | undefined,
  handlers: Handlers,
  { object, errors }: Completed,
  context: ReviewContext<JsonObject>,
): Promise<Completed> {
  for (const handler of handlers) {
    if (handler.default === undefined) continue
    if (errors.some(({ reason }) => reason === 'FieldValueTypeInvalid')) break
    const before = object
    try {
      object = asObject(await handler.default(deepFreeze(before) as DeepReadonly<JsonObject>, context))
    } catch (error) {
      // A handler that stumbles over what the schema requires has nothing better to say than the schema.
      if (errors.length === 0) throw error
      context.logger.debug({ err: error }, `default() failed on an object that the schema refuses: ${messageOf(error)}`)
      break
    }
    if (object !== before && schema !== undefined) errors = schema.validate(object, context.oldObject as JsonObject | undefined)
  }
  return { object, errors }
}

const noErrors: readonly FieldError[] = Object.freeze([])

function asObject(result: unknown): JsonObject {
  if (isObject(result)) return result
  throw new TypeError('default() must return the object, changed or not')
}

/**
 * All that is known to be wrong with an object: the schema's errors and the handlers' own.
 * Where `validate` refuses, the cluster is asked too, so that the user gets everything at once; about an object that the schema refuses it is not.
 */
async function judgeEarly(
  handlers: Handlers,
  { object, errors }: Completed,
  context: AdmissionContext<JsonObject>,
  cacheIsFilled: () => Promise<void>,
): Promise<Verdict> {
  const own = await ownErrors(handlers, object, context, errors)
  if (errors.length > 0) return [...errors, ...own]
  if (own.length === 0) return own
  await cacheIsFilled()
  return admissionVerdict(handlers, object, context, own)
}
