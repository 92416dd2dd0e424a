/** From a request's body to an object of the type: names of type and object, JSON types, unknown and duplicate fields, defaults. */
import { invalid } from '../../api/field-error.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { checkObjectMetaShape, checkShape } from '../resources/shape.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { metadataOf, metadataText } from './metadata.ts'
import type { DecodedObject, RequestContext } from './request-context.ts'
import type { StatusError } from './status-error.ts'
import { badRequest, invalidObject } from './status-error.ts'

/** How a decoding error is answered: a body's with 400, a patch's with 422. */
type Refuse = (detail: string) => Error

/** Checks a body and gives it with apiVersion and kind, without unknown fields, and with defaults. */
export function decodeBody(info: ResourceInfo, decoded: DecodedObject, context: RequestContext): JsonObject {
  const object = completeTypeMeta(info, decoded.object)
  return normalize(info, object, decoded.duplicates, context, (detail) =>
    badRequest(`${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: ${detail}`),
  )
}

/** The same for the result of a patch. */
export function decodePatched(info: ResourceInfo, object: JsonObject, duplicates: readonly string[], context: RequestContext): JsonObject {
  return normalize(info, completeTypeMeta(info, object), duplicates, context, (detail) => refusePatch(JSON.stringify(object), detail))
}

/** 422, as the API server answers a patch that does not fit. */
export function refusePatch(patch: string, detail: string): StatusError {
  return invalidObject({ group: '', kind: '' }, '', [invalid('patch', patch, detail)])
}

/** Prunes and defaults an object that went through admission; what a webhook added and the schema does not know is dropped. */
export function renormalize(info: ResourceInfo, object: JsonObject): JsonObject {
  const pruned = info.schema === undefined ? object : info.schema.prune(object).object
  return withDefaults(info, pruned)
}

function normalize(
  info: ResourceInfo,
  object: JsonObject,
  duplicates: readonly string[],
  context: RequestContext,
  refuse: Refuse,
): JsonObject {
  if (object.metadata !== undefined && object.metadata !== null && !isObject(object.metadata)) {
    const found = Array.isArray(object.metadata) ? 'array' : typeof object.metadata
    throw refuse(`json: cannot unmarshal ${found} into Go struct field ${info.kind}.metadata of type v1.ObjectMeta`)
  }
  const shape = info.strategy.shape
  const shapeResult =
    shape === undefined ? checkObjectMetaShape(metadataOf(object), info.custom ? '' : 'metadata') : checkShape(shape, object)
  if (shapeResult.error !== undefined) throw refuse(shapeResult.error)
  const pruned = info.schema?.prune(object)
  const unknown = [...shapeResult.unknown, ...(pruned?.unknown ?? [])]
  reportFields(unknown, duplicates, context, refuse)
  return withDefaults(info, pruned?.object ?? object)
}

function withDefaults(info: ResourceInfo, object: JsonObject): JsonObject {
  if (info.schema !== undefined) return info.schema.default(object)
  return info.strategy.default?.(object) ?? object
}

function reportFields(unknown: readonly string[], duplicates: readonly string[], context: RequestContext, refuse: Refuse): void {
  if (context.fieldValidation === 'Ignore') return
  const texts = [...duplicates.map((path) => `duplicate field "${path}"`), ...unknown.map((path) => `unknown field "${path}"`)]
  if (texts.length === 0) return
  if (context.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${texts.join(', ')}`)
  for (const text of texts) context.warn(text)
}

/** A built-in type takes a missing apiVersion and kind from the URL; a custom one wants to see them. */
function completeTypeMeta(info: ResourceInfo, object: JsonObject): JsonObject {
  const expected = apiVersionOf(info)
  const { apiVersion, kind } = object
  if (info.custom) {
    if (!isText(kind)) throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(object)}'`)
    if (!isText(apiVersion)) throw badRequest(`Object 'apiVersion' is missing in '${JSON.stringify(object)}'`)
  }
  if (isText(apiVersion) && apiVersion !== expected && (info.custom || kind === undefined || kind === info.kind)) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected})`)
  }
  if (isText(kind) && kind !== info.kind) {
    if (info.custom) throw invalidObject(info, metadataText(object, 'name'), [invalid('kind', kind, `must be ${info.kind}`)])
    const { version } = parseApiVersion(isText(apiVersion) ? apiVersion : expected)
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${info.kind}: the kind of the object does not match the resource on the URL`,
    )
  }
  if (apiVersion === expected && kind === info.kind) return object
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return { apiVersion: expected, kind: info.kind, ...rest }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The namespace in a body must be the one on the URL. */
export function checkNamespace(info: ResourceInfo, object: JsonObject, namespace: string | undefined): void {
  const given = metadataText(object, 'namespace')
  if (info.namespaced && given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** The name in the body of a PUT must be the one on the URL. */
export function checkName(object: JsonObject, name: string): void {
  const given = metadataText(object, 'name')
  if (given === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
}
