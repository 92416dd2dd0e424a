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
import type { AdmissionResponse } from './review.ts'
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
    ? handlersWith(webhook.handlers, 'default', 'validate', 'validateInCluster')
    : handlersWith(webhook.handlers, 'default')

  return (request, call) => {
    const { object: raw, oldObject, operation, judged } = request
    if (raw === undefined || operation === 'DELETE' || (isAboutObject && isExempt(request))) return { allowed: true }
    const context = new RequestContext(request, call)
    if (judged !== undefined) for (const warning of judged.warnings) context.warn(warning)
    else if (schema !== undefined) for (const path of schema.unknownFields(raw, maxUnknownFields)) context.warn(`unknown field "${path}"`)
    const bySchema = judged === undefined ? completeBySchema(schema, raw, oldObject) : { object: raw, errors: judged.errors }
    const answer = ({ object }: Completed, verdict: Verdict): AdmissionResponse => {
      if (!isAllowed(verdict)) return respond(request, verdict, context)
      const said = context.said()
      if (judged === undefined) return { allowed: true, patch: createPatch(raw, object, structure), ...said }
      const saidMore = said !== undefined && (said.auditAnnotations !== undefined || said.warnings?.length !== judged.warnings.length)
      if (object === raw && !saidMore) return { allowed: true, written: judged.written }
      return { allowed: true, patch: createPatch(raw, object, structure), patchBefore: judged.patch, ...said }
    }
    const handlers = asked[operation]
    if (handlers.length === 0) return answer(bySchema, refuseInvalidEarly ? bySchema.errors : noErrors)
    // What handlers make of a large object is judged by the other thread, too.
    const validate: Validate | undefined =
      judged === undefined
        ? schema && ((object) => schema.validate(object, oldObject))
        : (object) => judged.validate(createPatch(raw, object, structure))
    return askHandlers(webhook, validate, handlers, bySchema, context, call, answer)
  }
}

/** What the schema has against an object. */
type Validate = (object: JsonObject) => readonly FieldError[] | Promise<readonly FieldError[]>

async function askHandlers(
  { refuseInvalidEarly, reads }: CombinedWebhook,
  validate: Validate | undefined,
  handlers: Handlers,
  bySchema: Completed,
  context: RequestContext,
  call: Call,
  answer: (completed: Completed, verdict: Verdict) => AdmissionResponse,
): Promise<AdmissionResponse> {
  const completed = await completeByHandlers(validate, handlers, bySchema, context)
  if (!refuseInvalidEarly) return answer(completed, noErrors)
  return answer(completed, await judgeEarly(handlers, completed, context, () => call.cache.whenFilled(reads, call.signal)))
}

/** An object as its schema completes it. */
export function completeBySchema(schema: CompiledSchema | undefined, raw: JsonObject, old: JsonObject | undefined): Completed {
  if (schema === undefined) return { object: raw, errors: noErrors }
  const object = schema.default(raw)
  return { object, errors: schema.validate(object, old) }
}

/** Fills in what the handlers do, one after the other, as long as they can be trusted with the object. */
export async function completeByHandlers(
  validate: Validate | undefined,
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
    if (object !== before && validate !== undefined) errors = await validate(object)
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
