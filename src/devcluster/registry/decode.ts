/**
 * Decodes a request's body into an object of the requested type, and applies defaults. Checks the kind, the name and the namespace of the
 * object, and the JSON types of the object's fields. If `fieldValidation` is `Strict`, unknown and duplicate fields are errors. If
 * `fieldValidation` is `Warn`, unknown and duplicate fields cause warnings.
 */
import { formatFieldError, invalid } from '../../api/field-error.ts'
import type { GroupVersionKind } from '../../api/group-version-kind.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { canonicalJson, isObject, stringifyJson } from '../../api/json.ts'
import { decodeObjectMeta } from '../../api/object-meta-json.ts'
import { noSuchKind } from '../protobuf/decode-object.ts'
import { isRegistered } from '../protobuf/descriptors.ts'
import { checkShape } from '../types/check-json-types.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { conversionError } from '../types/go-convert.ts'
import { goKindOf } from '../types/go-json.ts'
import { shapeOf } from '../types/go-shape.ts'
import { goText } from '../types/go-text.ts'
import type { StructType } from '../types/go-types.ts'
import { kindType } from '../types/go-types.ts'
import { asDecoded, asGo } from '../types/go-value.ts'
import { metadataOf, metadataText, withMetadata } from './metadata.ts'
import type { DecodedObject, RequestContext } from '../apimachinery/request-context.ts'
import type { StatusError } from '../apimachinery/status-error.ts'
import { maxStrictErrors } from '../apimachinery/duplicate-keys.ts'
import { badRequest, invalidObject } from '../apimachinery/status-error.ts'

/** Returns the error for an object that cannot be decoded. The code is 400 for a body, and 422 for a patch. */
type Refuse = (detail: string) => Error
type RefuseType = (detail: string, found: { readonly kind: string; readonly version: string }) => Error

/** Decodes a request body. Returns the object with apiVersion, kind and defaults, without unknown fields. */
export function decodeBody(info: ResourceInfo, decoded: DecodedObject, context: RequestContext): JsonObject {
  const object = completeTypeMeta(info, decoded.object, refuseBody(info))
  return normalize(info, object, decoded.duplicates, context, (detail) => refuseBody(info)(detail, info))
}

/**
 * Returns a function that builds the 400 error for a body that cannot be decoded as `kind` (k8s.io/apiserver/pkg/endpoints/handlers:
 * transformDecodeError).
 */
function refuseBody({ kind }: Pick<ResourceInfo, 'kind'>): RefuseType {
  return (detail, found) => badRequest(`${found.kind} in version "${found.version}" cannot be handled as a ${kind}: ${detail}`)
}

/**
 * Decodes the result of a JSON patch or merge patch in the same way as `decodeBody` decodes a request body. Errors about fields are
 * reported in this order:
 *
 * - the unknown fields of the patch itself (`strictErrors`)
 * - the duplicate fields of the patch (`duplicates`)
 * - the unknown fields of the result
 */
export function decodePatched(
  info: ResourceInfo,
  object: JsonObject,
  patch: { readonly duplicates: readonly string[]; readonly strictErrors: readonly string[] },
  context: RequestContext,
): JsonObject {
  const refuse: Refuse = (detail) => refusePatch(quoted(info, object), detail)
  const strictErrors = [...patch.strictErrors, ...patch.duplicates.map(duplicateText)]
  return normalize(info, completeTypeMeta(info, object, refuse), [], context, refuse, strictErrors)
}

/**
 * Decodes the result of a strategic merge patch. kube-apiserver converts this result from a Go map. It decodes the results of all other
 * patches from JSON. The conversion accepts more values than the JSON decoder (see `types/go-convert.ts`).
 */
export function decodeStrategic(
  info: ResourceInfo,
  type: StructType,
  object: JsonObject,
  patch: { readonly body: JsonValue; readonly duplicates: readonly string[] },
  context: RequestContext,
): JsonObject {
  const refuse: Refuse = (detail) => refusePatch(goText(patch.body), detail)
  const error = conversionError(type, object)
  if (error !== undefined) throw refuse(error)
  const { unknown } = checkShape(shapeOf(type), object)
  reportFields([...patch.duplicates.map(duplicateText), ...unknown.map(unknownText).sort()], context, refuse)
  // kube-apiserver ignores apiVersion and kind of the patched object.
  const converted = { ...object, apiVersion: apiVersionOf(info), kind: info.kind }
  return type === info.goType ? withDefaults(info, converted) : asGo(type, object)
}

/**
 * Decodes the body of a request to a subresource. The type of the subresource, such as Scale, is not the type of the resource. Returns the
 * body with the apiVersion and the kind of the subresource's type.
 */
export function decodeSubresource(info: ResourceInfo, subresource: string, decoded: DecodedObject, context: RequestContext): JsonObject {
  const type = typeOfSubresource(info, subresource)
  const expected = apiVersionOf(type)
  const { object, duplicates } = decoded
  const { otherApiVersion } = info.subresources[subresource]!
  const hasOtherApiVersion = otherApiVersion !== undefined && object.apiVersion === otherApiVersion
  if (!info.custom) checkType(type, hasOtherApiVersion ? { ...object, apiVersion: expected } : object, refuseBody(type))
  else if ((object.apiVersion ?? expected) !== expected || (object.kind ?? type.kind) !== type.kind) throw refuseScale(type)
  const found = hasOtherApiVersion ? { ...parseApiVersion(otherApiVersion), kind: type.kind } : type
  const refuse: Refuse = (detail) => (info.custom ? refuseScale(type) : refuseBody(type)(detail, found))
  const unknown = checkFields(type, object, refuse)
  reportFields(inOrder(object, duplicates, unknown), context, refuse)
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return { apiVersion: expected, kind: type.kind, ...rest }
}

/** Returns the error 400 for an invalid Scale of a custom resource. kube-apiserver does not report which field is invalid. */
export function refuseScale({ version, kind }: GroupVersionKind): StatusError {
  return badRequest(`no kind is registered for the type ${version}.${kind} in scheme "pkg/runtime/scheme.go:111"`)
}

/**
 * Checks `object`, the result of a patch to a subresource whose type differs from the type of the resource, such as Scale. Returns `object`
 * unchanged. Throws a `StatusError` if `object` is invalid.
 */
export function decodePatchedSubresource(info: ResourceInfo, subresource: string, object: JsonObject): JsonObject {
  const type = typeOfSubresource(info, subresource)
  const refuse: Refuse = (detail) => refusePatch(quoted(info, object), detail)
  if (!info.custom) checkType(type, object, refuse)
  checkFields(type, object, refuse)
  return object
}

/** Returns the type of the bodies of requests to the subresource. */
export function typeOfSubresource(info: ResourceInfo, subresource: string): GroupVersionKind {
  const { kind, group = info.group, version = info.version } = info.subresources[subresource]!
  return { group, version, kind }
}

/** Returns the paths of unknown fields. Throws the error of `refuse` for a field with a wrong JSON type. */
function checkFields(type: GroupVersionKind, object: JsonObject, refuse: Refuse): readonly string[] {
  const goType = kindType(type)
  const { error, unknown } = goType === undefined ? { unknown: [] } : checkShape(shapeOf(goType), object)
  if (error !== undefined) throw refuse(error)
  return unknown
}

/**
 * Formats a patched object as in kube-apiserver's messages. For a custom resource, all keys are sorted. For a built-in type, only the
 * top-level keys are sorted.
 */
function quoted(info: ResourceInfo, object: JsonObject): string {
  if (info.custom) return canonicalJson(object)
  return stringifyJson(Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** Returns the error 422 for a patch whose result cannot be decoded. */
export function refusePatch(patch: string, detail: string): StatusError {
  return invalidObject({ group: '', kind: '' }, '', [invalid('patch', patch, detail)])
}

/** Applies defaults again after a webhook has changed the object. */
export function redefault(info: ResourceInfo, object: JsonObject): JsonObject {
  return withDefaults(info, object)
}

/**
 * Returns the object in the form in which it is stored: without unknown fields, and without nulls that the schema does not allow. Mutating
 * webhooks can add such fields, and default values can contain such nulls. Validating webhooks still receive these fields and nulls.
 */
export function pruned(info: ResourceInfo, object: JsonObject): JsonObject {
  return info.schema === undefined ? object : info.schema.convert(object)
}

function normalize(
  info: ResourceInfo,
  object: JsonObject,
  duplicates: readonly string[],
  context: RequestContext,
  refuse: Refuse,
  strictErrors: readonly string[] = [],
): JsonObject {
  if (object.metadata !== undefined && object.metadata !== null && !isObject(object.metadata)) {
    const place = info.custom ? 'value' : `struct field ${info.kind}.metadata`
    throw refuse(`json: cannot unmarshal ${goKindOf(object.metadata)} into Go ${place} of type v1.ObjectMeta`)
  }
  const { schema } = info
  if (schema === undefined) {
    const { error, unknown } = info.goType === undefined ? { unknown: [] } : checkShape(shapeOf(info.goType), object)
    if (error !== undefined) throw refuse(error)
    reportFields([...strictErrors, ...inOrder(object, duplicates, unknown)], context, refuse)
    return withDefaults(info, object)
  }
  const metadata = decodeObjectMeta(metadataOf(object))
  if (metadata.error !== undefined) throw refuse(metadata.error)
  const pruned = schema.prune({ ...object, metadata: metadata.metadata })
  if (pruned.malformed !== undefined) throw refuse(formatFieldError(pruned.malformed))
  const unknown = [...metadata.unknown.map((field) => `metadata.${field}`), ...pruned.unknown]
  reportFields([...strictErrors, ...duplicates.map(duplicateText), ...unknown.map(unknownText)], context, refuse)
  return withDefaults(info, pruned.object)
}

function unknownText(path: string): string {
  return `unknown field "${path}"`
}

/**
 * Formats the error about a duplicate key. For a YAML body, `duplicate` is already an error message, with the line of the key. For a JSON
 * body, `duplicate` is the path of the key. A JSON patch is a list, so the path of a key in a JSON patch begins with an index.
 */
function duplicateText(duplicate: string): string {
  if (yamlDuplicate.test(duplicate)) return duplicate
  return `${duplicate.startsWith('[') ? 'json patch ' : ''}duplicate field "${duplicate}"`
}

const yamlDuplicate = /^line \d+: key /

/**
 * Returns the errors about duplicate and unknown fields of a built-in type, as Go's decoder does:
 *
 * - The duplicate keys of a YAML body come first.
 * - At most 100 other errors follow. They are sorted by the positions of their fields, because the decoder finds duplicate and unknown
 *   fields in one pass.
 * - Duplicate keys in the value of an unknown field are not reported, because the decoder skips this value.
 */
function inOrder(object: JsonObject, duplicates: readonly string[], unknown: readonly string[]): string[] {
  const first = unknown.slice(0, maxStrictErrors)
  const isSkipped = (path: string): boolean => first.some((field) => rest(path, field) !== undefined)
  const [lines, paths] = [duplicates.filter((text) => yamlDuplicate.test(text)), duplicates.filter((text) => !yamlDuplicate.test(text))]
  const problems = [
    ...paths.filter((path) => !isSkipped(path)).map((path) => ({ path, text: duplicateText(path) })),
    ...first.map((path) => ({ path, text: unknownText(path) })),
  ]
  const isSorted = problems.length === first.length || first.length === 0
  return [...lines, ...(isSorted ? problems : sorted(object, problems)).slice(0, maxStrictErrors).map(({ text }) => text)]
}

interface Problem {
  /** The path of the field that has the problem. The path is relative to the first argument of `sorted`. */
  readonly path: string
  readonly text: string
}

/**
 * Sorts problems by the position of their fields in `value`. Problems whose fields are not found come last. The function visits only the
 * values that contain problems. It does not build paths, because paths can be very long.
 */
function sorted(value: JsonValue | undefined, problems: readonly Problem[]): Problem[] {
  const here = problems.filter(({ path }) => path === '')
  const missing = new Set(problems.filter(({ path }) => path !== ''))
  const found: Problem[] = []
  const visit = (field: JsonValue | undefined, name: string): void => {
    const below: Problem[] = []
    for (const problem of missing) {
      const path = rest(problem.path, name)
      if (path === undefined) continue
      missing.delete(problem)
      below.push({ ...problem, path })
    }
    if (below.length > 0) found.push(...sorted(field, below))
  }
  if (Array.isArray(value)) value.forEach((item, index) => visit(item, `[${index}]`))
  else if (isObject(value)) for (const [key, field] of Object.entries(value)) visit(field, key)
  return [...here, ...found, ...missing]
}

/** Returns the rest of a path after `start`; undefined if the path does not begin with the path `start`. */
function rest(path: string, start: string): string | undefined {
  if (!path.startsWith(start)) return undefined
  const next = path[start.length]
  return next === '.' ? path.slice(start.length + 1) : next === '[' || next === undefined ? path.slice(start.length) : undefined
}

function withDefaults(info: ResourceInfo, object: JsonObject): JsonObject {
  if (info.schema !== undefined) return info.schema.default(object)
  const known = info.goType === undefined ? object : knownPart(info, info.goType, object)
  return info.strategy.default?.(known) ?? known
}

function knownPart({ strategy }: ResourceInfo, type: StructType, object: JsonObject): JsonObject {
  return strategy.distinguishesEmptyLists === true ? asDecoded(type, object) : withEmptyManagers(asGo(type, object), object)
}

/**
 * Restores an empty `managedFields` that `asGo` has removed. The field must be kept, because an empty `managedFields` resets all managers.
 */
function withEmptyManagers(known: JsonObject, { metadata }: JsonObject): JsonObject {
  const managers = isObject(metadata) ? metadata.managedFields : undefined
  return Array.isArray(managers) && managers.length === 0 ? withMetadata(known, { managedFields: managers }) : known
}

function reportFields(texts: readonly string[], context: RequestContext, refuse: Refuse): void {
  if (context.fieldValidation === 'Ignore' || texts.length === 0) return
  if (context.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${strictTexts(texts).join(', ')}`)
  for (const text of texts) context.warn(text)
}

/** Combines the errors about all duplicate keys of a YAML body into one error. */
function strictTexts(texts: readonly string[]): string[] {
  const lines = texts.filter((text) => yamlDuplicate.test(text))
  const others = texts.filter((text) => !yamlDuplicate.test(text))
  return lines.length === 0 ? others : [['yaml: unmarshal errors:', ...lines].join('\n  '), ...others]
}

/** Reports duplicate keys in the body of a server-side apply request. Such a body is always decoded as YAML. */
export function reportYamlDuplicates(duplicates: readonly string[], context: RequestContext): void {
  const refuse = (detail: string): StatusError =>
    badRequest(`error strict decoding YAML: error converting YAML to JSON: ${detail.replace(/^strict decoding error: /, '')}`)
  reportFields(duplicates.map(duplicateText), context, refuse)
}

/** Sets a missing apiVersion and kind of a built-in type from the URL. A custom resource must have both fields. */
function completeTypeMeta(info: ResourceInfo, object: JsonObject, refuse: RefuseType): JsonObject {
  const expected = apiVersionOf(info)
  const { apiVersion, kind } = object
  if (info.custom) {
    if (!isText(kind)) throw badRequest(`Object 'Kind' is missing in '${stringifyJson(object)}'`)
    if (apiVersion !== expected) throw wrongVersion(isText(apiVersion) ? apiVersion : '', expected)
    if (kind !== info.kind)
      throw invalidObject({ ...info, kind }, metadataText(object, 'name'), [invalid('kind', kind, `must be ${info.kind}`)])
  } else {
    checkType(info, object, refuse)
  }
  if (apiVersion === expected && kind === info.kind) return object
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return { apiVersion: expected, kind: info.kind, ...rest }
}

/**
 * Throws when the apiVersion or the kind of an object differs from `expected`, the built-in type of the request. If the object has no
 * apiVersion or no kind, the value from `expected` is used. As in kube-apiserver, the error depends on the type of the object:
 *
 * - If the type is not registered, the error states this.
 * - If the type is another version of the expected kind, the error states that the API versions do not match.
 * - If the type is another registered kind, the object is decoded as that kind, and the first decoding error is thrown. If there is no
 *   decoding error, the thrown error states that the object's kind cannot be converted to the expected kind.
 */
function checkType(expected: GroupVersionKind, object: JsonObject, refuse: RefuseType): void {
  const apiVersion = isText(object.apiVersion) ? object.apiVersion : apiVersionOf(expected)
  const kind = isText(object.kind) ? object.kind : expected.kind
  if (apiVersion === apiVersionOf(expected) && kind === expected.kind) return
  const found = { ...parseApiVersion(apiVersion), kind }
  if (!isRegistered(apiVersion, kind)) throw refuse(noSuchKind({ apiVersion, kind }), found)
  if (found.group === expected.group && kind === expected.kind) throw wrongVersion(apiVersion, apiVersionOf(expected))
  const goType = kindType(found)
  const error = goType === undefined ? undefined : checkShape(shapeOf(goType), object).error
  const goPackage = expected.group === '' ? 'core' : expected.group.split('.')[0]
  throw refuse(error ?? `converting (${found.version}.${kind}) to (${goPackage}.${expected.kind}): unknown conversion`, found)
}

function wrongVersion(apiVersion: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected})`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * Throws 400 when the body has another namespace than the URL (k8s.io/apiserver/pkg/registry/rest:
 * EnsureObjectNamespaceMatchesRequestNamespace).
 */
export function checkNamespace(info: ResourceInfo, object: JsonObject, namespace: string | undefined): void {
  const given = metadataText(object, 'namespace')
  if (info.namespaced && given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** Throws 400 when the body of a PUT has no name, or another name than the URL (k8s.io/apiserver/pkg/endpoints/handlers: checkName). */
export function checkName(object: JsonObject, name: string): void {
  const given = metadataText(object, 'name')
  if (given === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
}
