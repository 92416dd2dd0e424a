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
import type { AdmissionHandler } from './handler.ts'
import { isAllowed, isExempt, respond } from './handler.ts'
import type { Verdict } from './definition.ts'
import { createPatch } from './patch.ts'
import { RequestContext } from './request-context.ts'
import type { Judged } from './review.ts'
import { admissionVerdict, ownErrors } from './verdict.ts'

/** An object with its defaults, and what the schema has against it. */
export interface Completed {
  readonly object: JsonObject
  readonly errors: readonly FieldError[]
}

/** Of more, nobody reads the rest. */
const maxUnknownFields = 32

export function mutatingHandler(webhook: CombinedWebhook): AdmissionHandler {
  const { schemaKind, version, refuseInvalidEarly, reads } = webhook
  const schema = schemaKind && schemaOf(schemaKind, version)
  const structure = schemaKind?.versions.find(({ name }) => name === version)?.schema
  const isAboutObject = webhook.subresource === ''

  return async (request, call) => {
    const raw = request.object
    if (raw === undefined || request.operation === 'DELETE' || (isAboutObject && isExempt(request))) return { allowed: true }
    const handlers = webhook.handlers[request.operation]
    const context = new RequestContext(request, call)
    if (schema !== undefined) for (const path of schema.unknownFields(raw, maxUnknownFields)) context.warn(`unknown field "${path}"`)
    const first = request.judged && schema && judged(schema, request.judged)
    const completed = await complete(first ?? schema, handlers, raw, request.oldObject, context)
    if (refuseInvalidEarly) {
      const verdict = await judgeEarly(handlers, completed, request.oldObject, context, () => call.cache.whenFilled(reads, call.signal))
      if (!isAllowed(verdict)) return respond(request, verdict, context)
    }
    const said = context.said()
    if (completed.object === first?.defaulted && said === undefined) return { allowed: true, written: first.written }
    return { allowed: true, patch: createPatch(raw, completed.object, structure), ...said }
  }
}

/** The schema for one object that it has nothing against; what a handler makes of the object is looked at like any other. */
function judged(
  schema: CompiledSchema,
  { written, patched }: Judged,
): Schema & { readonly defaulted: JsonObject | undefined; readonly written: string } {
  let defaulted: JsonObject | undefined
  return {
    written,
    default: (object) => (defaulted = patched ? schema.default(object) : object),
    validate: (object, old) => (object === defaulted ? noErrors : schema.validate(object, old)),
    get defaulted() {
      return defaulted
    },
  }
}

type Schema = Pick<CompiledSchema, 'default' | 'validate'>

/** Fills in the schema's defaults, then those of the handlers, one after the other, as long as they can be trusted with the object. */
export async function complete(
  schema: Schema | undefined,
  handlers: Handlers,
  raw: JsonObject,
  old: JsonObject | undefined,
  context: ReviewContext<JsonObject>,
): Promise<Completed> {
  let object = schema === undefined ? raw : schema.default(raw)
  let errors = schema === undefined ? noErrors : schema.validate(object, old)
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
    if (object !== before && schema !== undefined) errors = schema.validate(object, old)
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
  old: JsonObject | undefined,
  context: AdmissionContext<JsonObject>,
  cacheIsFilled: () => Promise<void>,
): Promise<Verdict> {
  const own = await ownErrors(handlers, object, old, context, errors)
  if (errors.length > 0) return [...errors, ...own]
  if (own.length === 0) return own
  await cacheIsFilled()
  return admissionVerdict(handlers, object, old, context, own)
}
