/** Builds the ConversionReview for a conversion webhook, and validates the webhook's response. */
import { quote } from '../../api/field-error.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import { newUuid } from '../../runtime/random.ts'
import { describeKind, reviewTypeProblem } from '../admission/check-response-type.ts'
import { checkShape } from '../types/check-json-types.ts'
import { goKindOf } from '../types/go-json.ts'
import { shapeOf } from '../types/go-shape.ts'
import { kindType } from '../types/go-types.ts'
import { convertedMetadata } from './converted-metadata.ts'

const group = 'apiextensions.k8s.io'
const knownVersions = ['v1', 'v1beta1']

export interface ConversionRequest {
  readonly uid: string
  /** The apiVersion of the ConversionReview. */
  readonly apiVersion: string
  readonly body: JsonObject
}

/** The error of a failed conversion, with the message of kube-apiserver. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError'
}

/**
 * Returns the ConversionReview that requests the conversion of an object.
 *
 * @throws {ConversionError} when kube-apiserver supports none of the webhook's `conversionReviewVersions`.
 */
export function conversionRequest(
  object: JsonObject,
  desiredAPIVersion: string,
  reviewVersions: readonly string[],
  random: () => number,
): ConversionRequest {
  const version = reviewVersions.find((candidate) => knownVersions.includes(candidate))
  if (version === undefined) throw new ConversionError('no supported conversion review versions')
  const uid = newUuid(random)
  const apiVersion = `${group}/${version}`
  const request = { uid, desiredAPIVersion, objects: [object] }
  // kube-apiserver's ConversionReview contains an empty `response` next to the `request`
  // (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion: createConversionReviewObjects).
  const response = { uid: '', convertedObjects: null, result: { metadata: {} } }
  return { uid, apiVersion, body: { kind: 'ConversionReview', apiVersion, request, response } }
}

/**
 * Returns the converted object in the response of a webhook (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion:
 * validateConvertedObject).
 *
 * @throws {ConversionError} when the response is invalid.
 */
export function readConversion(answer: JsonValue, request: ConversionRequest, object: JsonObject, desiredAPIVersion: string): JsonObject {
  const refuse = (detail: string): ConversionError => new ConversionError(`conversion webhook for ${describeKind(object)} ${detail}`)
  const objects = convertedObjects(answer, request, (detail) => refuse(`failed: ${detail}`))
  if (objects.length !== 1) throw refuse(`returned ${objects.length} objects, expected 1`)
  const converted = asObject(objects[0] ?? null)
  const { apiVersion, kind } = converted
  const found = typeof apiVersion === 'string' ? apiVersion : ''
  const invalid = (detail: string): ConversionError => refuse(`returned invalid object${detail}`)
  if (found !== desiredAPIVersion) throw invalid(` at index 0: invalid groupVersion (expected ${desiredAPIVersion}, received ${found})`)
  if (kind !== object.kind) throw invalid(` at index 0: invalid kind (expected ${String(object.kind)}, received ${String(kind)})`)
  for (const [field, name] of Object.entries(unchangeable)) {
    const [before, after] = [textIn(object, field), textIn(converted, field)]
    if (before !== after) throw invalid(`: must have the same ${name}: ${before} != ${after}`)
  }
  const result = convertedMetadata(object, converted)
  if ('problem' in result) throw refuse(`returned invalid metadata: ${result.problem}`)
  return { ...converted, metadata: result.metadata }
}

/** The fields of `metadata` that the webhook must not change. Each value is the name of the field in error messages. */
const unchangeable = { name: 'name', namespace: 'namespace', uid: 'UID' } as const

function convertedObjects(
  answer: JsonValue,
  request: ConversionRequest,
  failed: (detail: string) => ConversionError,
): readonly JsonValue[] {
  const review = isObject(answer) ? answer : {}
  const otherType = reviewTypeProblem(review, { kind: 'ConversionReview', apiVersion: request.apiVersion, knownVersions })
  if (otherType !== undefined) throw failed(otherType)
  // v1beta1 has the same fields as v1. For v1beta1, the apiVersion, kind and uid of the response are not checked.
  const isBeta = parseApiVersion(request.apiVersion).version === 'v1beta1'
  const { error } = checkShape(shapeOf(kindType({ group, version: 'v1', kind: 'ConversionReview' })!), review)
  if (error !== undefined) throw failed(error.replace(/\[\]any$/, '[]runtime.RawExtension'))
  if (!isBeta && (review.apiVersion !== request.apiVersion || review.kind !== 'ConversionReview'))
    throw failed(`expected webhook response of ${request.apiVersion}, Kind=ConversionReview, got ${describeKind(review)}`)
  const { response } = review
  if (!isObject(response)) throw failed('no response provided')
  const uid = typeof response.uid === 'string' ? response.uid : ''
  if (!isBeta && uid !== request.uid) throw failed(`expected response.uid=${quote(request.uid)}, got ${quote(uid)}`)
  const { status = '', message } = isObject(response.result) ? response.result : {}
  if (status !== 'Success')
    throw failed(typeof message === 'string' && message !== '' ? message : `response.result.status was '${String(status)}', not 'Success'`)
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

function asObject(value: JsonValue): JsonObject {
  if (value === null) throw new ConversionError('unexpected end of JSON input')
  if (!isObject(value)) throw new ConversionError(`json: cannot unmarshal ${goKindOf(value)} into Go value of type map[string]interface {}`)
  if (typeof value.kind !== 'string' || value.kind === '')
    throw new ConversionError(`Object 'Kind' is missing in '${stringifyJson(value)}'`)
  return value
}

function textIn({ metadata }: JsonObject, field: string): string {
  const value = isObject(metadata) ? metadata[field] : undefined
  return typeof value === 'string' ? value : ''
}
