/** From a request's body to an object of the type: names of type and object, JSON types, unknown and duplicate fields, defaults. */
import { formatFieldError, invalid } from '../../api/field-error.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { canonicalJson, isObject } from '../../api/json.ts'
import { decodeObjectMeta } from '../../api/object-meta-json.ts'
import { checkObjectMetaShape, checkShape, objectMetaShape, withoutUnknown } from '../resources/shape.ts'
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
  return normalize(info, completeTypeMeta(info, object), duplicates, context, (detail) => refusePatch(quoted(info, object), detail))
}

/** A body for a subresource that takes something else than the object, such as a Scale. */
export function decodeSubresource(info: ResourceInfo, subresource: string, object: JsonObject): JsonObject {
  const { kind, group = info.group, version = info.version, shape } = info.subresources[subresource]!
  if (shape === undefined) return object
  const expected = apiVersionOf({ group, version })
  const { apiVersion = expected } = object
  if (apiVersion !== expected || (object.kind ?? kind) !== kind) {
    throw badRequest(
      `no kind is registered for the type ${String(apiVersion)}.${String(object.kind)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  const { error } = checkShape(shape, object)
  if (error !== undefined) throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error}`)
  return object
}

/** The same for the result of a patch. */
export function decodePatchedSubresource(info: ResourceInfo, subresource: string, object: JsonObject): JsonObject {
  const { shape } = info.subresources[subresource]!
  const error = shape === undefined ? undefined : checkShape(shape, object).error
  if (error !== undefined) throw refusePatch(canonicalJson(object), error)
  return object
}

/** A patched object as it is quoted: custom resources are maps in Go, whose keys come sorted. */
function quoted(info: ResourceInfo, object: JsonObject): string {
  return info.custom ? canonicalJson(object) : JSON.stringify(object)
}

/** 422, as the API server answers a patch that does not fit. */
export function refusePatch(patch: string, detail: string): StatusError {
  return invalidObject({ group: '', kind: '' }, '', [invalid('patch', patch, detail)])
}

/** Defaults an object again that a webhook has changed. */
export function redefault(info: ResourceInfo, object: JsonObject): JsonObject {
  return withDefaults(info, object)
}

/** The object as it is kept: validating webhooks have still seen what a mutating one added and the schema does not know. */
export function pruned(info: ResourceInfo, object: JsonObject): JsonObject {
  return info.schema === undefined ? object : info.schema.prune(object).object
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
  const { schema } = info
  if (schema === undefined) {
    const shape = info.strategy.shape
    const shapeResult = shape === undefined ? checkObjectMetaShape(metadataOf(object), 'metadata') : checkShape(shape, object)
    if (shapeResult.error !== undefined) throw refuse(shapeResult.error)
    const known = shapeResult.unknown.length === 0 ? object : withoutUnknownFields(info, object)
    reportFields(inOrder(object, duplicates, shapeResult.unknown), context, refuse)
    return withDefaults(info, known)
  }
  const metadata = decodeObjectMeta(metadataOf(object))
  if (metadata.error !== undefined) throw refuse(metadata.error)
  const pruned = schema.prune({ ...object, metadata: metadata.metadata })
  if (pruned.malformed !== undefined) throw refuse(formatFieldError(pruned.malformed))
  const unknown = [...metadata.unknown.map((field) => `metadata.${field}`), ...pruned.unknown]
  reportFields([...duplicates.map(duplicateText), ...unknown.map(unknownText)], context, refuse)
  return withDefaults(info, pruned.object)
}

/** What Go's structs have no field for is gone once it is decoded, whatever `fieldValidation` says. */
function withoutUnknownFields(info: ResourceInfo, object: JsonObject): JsonObject {
  const { shape } = info.strategy
  if (shape !== undefined) return withoutUnknown(shape, object)
  return { ...object, metadata: withoutUnknown(objectMetaShape, metadataOf(object)) }
}

function unknownText(path: string): string {
  return `unknown field "${path}"`
}

/** A key that stood twice: in YAML it is told with its line, in JSON by its path, of which only a JSON patch's begins with an index. */
function duplicateText(duplicate: string): string {
  if (yamlDuplicate.test(duplicate)) return duplicate
  return `${duplicate.startsWith('[') ? 'json patch ' : ''}duplicate field "${duplicate}"`
}

const yamlDuplicate = /^line \d+: key /

/** Built-in types are decoded in one go: their duplicate and unknown fields are told in the order in which they stand. */
function inOrder(object: JsonObject, duplicates: readonly string[], unknown: readonly string[]): string[] {
  const [lines, paths] = [duplicates.filter((text) => yamlDuplicate.test(text)), duplicates.filter((text) => !yamlDuplicate.test(text))]
  if (paths.length === 0 || unknown.length === 0) return [...lines, ...paths.map(duplicateText), ...unknown.map(unknownText)]
  const places = new Map<string, number>()
  const visit = (value: JsonValue | undefined, path: string): void => {
    places.set(path, places.size)
    if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`))
    else if (isObject(value)) for (const [key, field] of Object.entries(value)) visit(field, path === '' ? key : `${path}.${key}`)
  }
  visit(object, '')
  const told = [
    ...paths.map((path) => ({ path, text: duplicateText(path) })),
    ...unknown.map((path) => ({ path, text: unknownText(path) })),
  ]
  const place = ({ path }: { readonly path: string }): number => places.get(path) ?? places.size
  return [...lines, ...told.sort((a, b) => place(a) - place(b)).map(({ text }) => text)]
}

function withDefaults(info: ResourceInfo, object: JsonObject): JsonObject {
  if (info.schema !== undefined) return info.schema.default(object)
  return info.strategy.default?.(object) ?? object
}

function reportFields(texts: readonly string[], context: RequestContext, refuse: Refuse): void {
  if (context.fieldValidation === 'Ignore' || texts.length === 0) return
  if (context.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${strictTexts(texts).join(', ')}`)
  for (const text of texts) context.warn(text)
}

/** All duplicate keys of a YAML body are one error. */
function strictTexts(texts: readonly string[]): string[] {
  const lines = texts.filter((text) => yamlDuplicate.test(text))
  const others = texts.filter((text) => !yamlDuplicate.test(text))
  return lines.length === 0 ? others : [['yaml: unmarshal errors:', ...lines].join('\n  '), ...others]
}

/** The keys that stood twice in an apply patch, which is always read as YAML. */
export function reportYamlDuplicates(duplicates: readonly string[], context: RequestContext): void {
  const refuse = (detail: string): StatusError =>
    badRequest(`error strict decoding YAML: error converting YAML to JSON: ${detail.replace(/^strict decoding error: /, '')}`)
  reportFields(duplicates.map(duplicateText), context, refuse)
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
