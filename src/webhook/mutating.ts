/**
 * The mutating webhook of a kind: the schema's defaults, then the kind's own, as a patch;
 * and the place where an invalid object is refused with everything that is wrong with it.
 */
import type { FieldError } from '../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import { deepFreeze, isObject } from '../api/json.ts'
import { messageOf } from '../api/errors.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { AdmissionContext, ReviewContext, Verdict, WebhookDefinition, WebhookHandlers } from './definition.ts'
import type { AdmissionHandler } from './handler.ts'
import { createContext, isExempt, joinVerdicts, respond } from './handler.ts'
import { createPatch } from './patch.ts'
import type { Judged } from './review.ts'

/** An object with its defaults, and what the schema has against it. */
export interface Completed {
  readonly object: JsonObject
  readonly errors: readonly FieldError[]
}

export function mutatingHandler(definition: WebhookDefinition, version: string): AdmissionHandler {
  const { kind, refuseInvalidEarly } = definition
  const schema = schemaOf(kind, version)
  const handlers = definition.handlersOf(version)
  const structure = kind.versions.find(({ name }) => name === version)?.schema

  return async (request, call) => {
    const raw = request.object
    if (raw === undefined || request.operation === 'DELETE' || isExempt(request)) return { allowed: true }
    const { context, warnings } = createContext(request, call)
    const first = request.judged && judged(schema, request.judged)
    const { object, errors } = await complete(first ?? schema, handlers, raw, request.oldObject, context)
    if (refuseInvalidEarly) {
      const verdict = await judgeEarly(handlers, { object, errors }, request.oldObject, context)
      const response = respond(kind, request, verdict, warnings)
      if (!response.allowed) return response
    }
    if (object === first?.defaulted && warnings.size === 0) return { allowed: true, written: first.written }
    return { allowed: true, patch: createPatch(raw, object, structure), ...(warnings.size === 0 ? {} : { warnings: [...warnings] }) }
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
    validate: (object, old) => (object === defaulted ? [] : schema.validate(object, old)),
    get defaulted() {
      return defaulted
    },
  }
}

type Schema = Pick<CompiledSchema, 'default' | 'validate'>

/** Fills in the schema's defaults, then the kind's own where its handler can be trusted with the object. */
export async function complete(
  schema: Schema,
  handlers: WebhookHandlers<JsonObject>,
  raw: JsonObject,
  old: JsonObject | undefined,
  context: ReviewContext<JsonObject>,
): Promise<Completed> {
  const defaulted = schema.default(raw)
  const errors = schema.validate(defaulted, old)
  if (handlers.default === undefined || errors.some(({ reason }) => reason === 'FieldValueTypeInvalid'))
    return { object: defaulted, errors }
  let object: JsonObject
  try {
    object = asObject(await handlers.default(deepFreeze(defaulted) as DeepReadonly<JsonObject>, context))
  } catch (error) {
    // A handler that stumbles over what the schema requires has nothing better to say than the schema.
    if (errors.length === 0) throw error
    context.logger.debug({ err: error }, `default() failed on an object that the schema refuses: ${messageOf(error)}`)
    return { object: defaulted, errors }
  }
  return object === defaulted ? { object, errors } : { object, errors: schema.validate(object, old) }
}

function asObject(result: unknown): JsonObject {
  if (isObject(result)) return result
  throw new TypeError('default() must return the object, changed or not')
}

/**
 * All that is known to be wrong with an object: the schema's errors and the kind's own.
 * Where `validate` refuses, the cluster is asked too, so that the user gets everything at once; about an object that the schema refuses it is not.
 */
async function judgeEarly(
  handlers: WebhookHandlers<JsonObject>,
  { object, errors }: Completed,
  old: JsonObject | undefined,
  context: AdmissionContext<JsonObject>,
): Promise<Verdict> {
  const own = await ownErrors(handlers, { object, errors }, old, context)
  if (errors.length > 0 || own.length === 0 || handlers.admit === undefined) return [...errors, ...own]
  try {
    return joinVerdicts(own, await handlers.admit(deepFreeze(object) as DeepReadonly<JsonObject>, old, context))
  } catch (error) {
    context.logger.debug({ err: error }, `admit() failed on an object that validate() refuses: ${messageOf(error)}`)
    return own
  }
}

/** What the kind's own `validate` has against an object. On one that the schema refuses it may stumble; then the schema's errors are enough. */
export async function ownErrors(
  handlers: WebhookHandlers<JsonObject>,
  { object, errors }: Completed,
  old: JsonObject | undefined,
  context: ReviewContext<JsonObject>,
): Promise<readonly FieldError[]> {
  if (handlers.validate === undefined) return []
  try {
    return await handlers.validate(deepFreeze(object) as DeepReadonly<JsonObject>, old, context)
  } catch (error) {
    if (errors.length === 0) throw error
    context.logger.debug({ err: error }, `validate() failed on an object that the schema refuses: ${messageOf(error)}`)
    return []
  }
}
