/** Evaluates a review in the thread of the caller. */
import type { ErrorList } from '../../api/error-list.ts'
import { addErrors, noErrors } from '../../api/error-list.ts'
import type { JsonObject } from '../../api/json.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import { schemaOf } from '../../schema/kind-schema.ts'
import type { CombinedWebhook } from '../definition/combine.ts'
import { isExempt } from '../review/exempt.ts'
import { createPatch } from '../review/patch.ts'
import type { AdmissionRequest, AdmissionResponse, DecodedReview, WrittenAnswer } from '../review/admission-review.ts'
import { encodeReview, maxWarningLength } from '../review/admission-review.ts'
import type { Evaluation, Found, ReviewedObjects, Verb } from './evaluation.ts'

/** The properties of a webhook that an evaluation uses. */
interface EvaluationRules {
  readonly verb: Verb
  readonly schema: CompiledSchema | undefined
  /** True when the webhook is for the objects of a type, false when it is for a subresource. */
  readonly isAboutObject: boolean
}

export function rulesOf(
  { schemaKind, version, subresource }: Pick<CombinedWebhook, 'schemaKind' | 'version' | 'subresource'>,
  verb: Verb,
): EvaluationRules {
  return { verb, schema: schemaKind && schemaOf(schemaKind, version), isAboutObject: subresource === '' }
}

const noWarnings: readonly string[] = Object.freeze([])
/** The object that the handlers receive for a CONNECT request without options. Only aggregated API servers send such requests. */
const noOptions: JsonObject = Object.freeze({})
/** Maximum number of warnings about unknown fields in one response. */
const maxUnknownFields = 32

export class InlineEvaluation implements Evaluation {
  readonly request: AdmissionRequest
  readonly #rules: EvaluationRules
  readonly #review: DecodedReview
  /** The current object; undefined when the review has no object, or when the webhook does not apply to the object. */
  #object: JsonObject | undefined

  constructor(rules: EvaluationRules, review: DecodedReview) {
    this.request = review.request
    this.#rules = rules
    this.#review = review
  }

  begin(): Found {
    const { verb, schema, isAboutObject } = this.#rules
    const { request, object, oldObject } = this.#review
    const found = { request, errors: noErrors, warnings: noWarnings }
    if (isAboutObject && isExempt(this.#review)) return { ...found, applies: false }
    if (request.operation === 'DELETE') return { ...found, applies: verb === 'validate' && oldObject !== undefined }
    const raw = object ?? (request.operation === 'CONNECT' && verb === 'validate' ? noOptions : undefined)
    this.#object = raw
    if (raw === undefined || schema === undefined) return { ...found, applies: raw !== undefined }
    // The API server calls a validating webhook only for objects that the schema accepts. Another client of this server may send an invalid
    // object. Therefore, the schema validates the object here, and the handlers receive only valid objects.
    if (verb === 'validate') return { ...found, applies: true, errors: this.#validate(raw) }
    const warnings = schema.unknownFields(raw, maxUnknownFields).map((path) => `unknown field "${path}"`.slice(0, maxWarningLength))
    this.#object = schema.default(raw)
    return { request, applies: true, errors: this.#validate(this.#object), warnings }
  }

  objects(): ReviewedObjects {
    return { object: this.#object, oldObject: this.#review.oldObject }
  }

  change(object: JsonObject): ErrorList {
    this.#object = object
    return this.#validate(object)
  }

  answer(response: AdmissionResponse): WrittenAnswer {
    const { object: raw } = this.#review
    const object = this.#object
    if (!response.allowed || this.#rules.verb === 'validate' || raw === undefined || object === undefined) {
      return encodeReview(this.request.uid, response)
    }
    return encodeReview(this.request.uid, response, createPatch(raw, object, this.#rules.schema?.schema))
  }

  close(): void {
    // The objects are on the heap of this thread, so there is nothing to release.
  }

  #validate(object: JsonObject): ErrorList {
    const { schema } = this.#rules
    return schema === undefined ? noErrors : addErrors(noErrors, schema.validate(object, this.#review.oldObject))
  }
}
