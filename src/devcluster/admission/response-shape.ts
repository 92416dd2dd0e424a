/** The fields that kube-apiserver decodes from a webhook's response. All other fields are ignored. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { ObjectShape, Shape } from '../types/check-json-types.ts'
import { checkShape } from '../types/check-json-types.ts'

/** The fields of `Status` in `meta/v1`. */
const statusShape: ObjectShape = {
  type: 'Status',
  fields: {
    kind: 'string',
    apiVersion: 'string',
    metadata: {
      type: 'ListMeta',
      fields: { selfLink: 'string', resourceVersion: 'string', continue: 'string', remainingItemCount: 'int64' },
    },
    status: 'string',
    message: 'string',
    reason: 'string',
    details: {
      type: 'StatusDetails',
      fields: {
        name: 'string',
        group: 'string',
        kind: 'string',
        uid: 'string',
        causes: [{ type: 'StatusCause', fields: { reason: 'string', message: 'string', field: 'string' } }],
        retryAfterSeconds: 'int32',
      },
    },
    code: 'int32',
  },
}

/** The decoded fields of an AdmissionReview of `admission/v1`. Other fields of a webhook's response are ignored. */
const reviewShape: ObjectShape = {
  type: 'AdmissionReview',
  fields: {
    kind: 'string',
    apiVersion: 'string',
    request: 'any',
    response: {
      type: 'AdmissionResponse',
      fields: {
        uid: 'string',
        allowed: 'bool',
        status: statusShape,
        patch: 'any',
        patchType: 'string',
        auditAnnotations: { mapOf: 'string' },
        warnings: ['string'],
      },
    },
  },
}

/** Returns Go's message for the first field whose type is wrong; undefined if all types are correct. */
export function reviewProblem(review: JsonObject): string | undefined {
  return checkShape(reviewShape, review).error
}

/** Returns the `Status` of a webhook's response. Unknown fields and empty fields are removed. */
export function knownStatus(status: JsonObject): JsonObject {
  return known(statusShape, status) as JsonObject
}

function known(shape: Shape, value: JsonValue): JsonValue {
  if (Array.isArray(shape)) return Array.isArray(value) ? value.map((item) => known((shape as readonly [Shape])[0], item ?? {})) : value
  if (!isStruct(shape) || !isObject(value)) return value
  const kept: JsonObject = {}
  for (const [name, field] of Object.entries(shape.fields)) {
    const given = getOwn(value, name)
    if (given === undefined || given === null || given === '' || given === 0 || (Array.isArray(given) && given.length === 0)) continue
    kept[name] = known(field, given)
  }
  return kept
}

function isStruct(shape: Shape): shape is ObjectShape {
  return typeof shape === 'object' && 'fields' in shape
}
