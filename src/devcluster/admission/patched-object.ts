/** Decodes an object again after a webhook's patch has changed it. */
import { invalid } from '../../api/field-error.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import { noSuchKind } from '../protobuf/decode-object.ts'
import { badRequest, internalError, invalidObject } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { checkShape } from '../types/check-json-types.ts'
import { shapeOf } from '../types/go-shape.ts'
import { objectMetaType } from '../types/go-types.ts'
import { asGo } from '../types/go-value.ts'

/**
 * Decodes a patched object of the type `info`, and returns the decoded object. All unknown fields of a built-in object are dropped. In a
 * custom resource, only the unknown fields of the metadata are dropped.
 *
 * @throws {StatusError} when the object cannot be decoded.
 */
export function readPatched(info: ResourceInfo, object: JsonObject): JsonObject {
  return info.custom ? readCustom(info, object) : readBuiltin(info, object)
}

function readBuiltin(info: ResourceInfo, object: JsonObject): JsonObject {
  const { apiVersion, kind } = { apiVersion: textOr(object.apiVersion, apiVersionOf(info)), kind: textOr(object.kind, info.kind) }
  if (kind !== info.kind || apiVersion !== apiVersionOf(info)) {
    throw internalError(noSuchKind({ apiVersion, kind }))
  }
  const typed = { ...object, apiVersion, kind }
  if (info.goType === undefined) return typed
  const { error } = checkShape(shapeOf(info.goType), typed)
  if (error !== undefined) throw internalError(error)
  return asGo(info.goType, typed)
}

/**
 * Decodes a custom resource. The kind must be the kind of `info`. Unknown fields of the metadata are dropped. The apiVersion is set to the
 * apiVersion of `info`.
 */
function readCustom(info: ResourceInfo, object: JsonObject): JsonObject {
  const { kind, metadata } = object
  if (textOr(kind, '') === '') throw internalError(`Object 'Kind' is missing in '${stringifyJson(object)}'`)
  if (kind !== info.kind) {
    const name = isObject(metadata) ? textOr(metadata.name, '') : ''
    throw invalidObject({ group: info.group, kind: textOr(kind, '') }, name, [invalid('kind', kind, `must be ${info.kind}`)])
  }
  return { ...object, apiVersion: apiVersionOf(info), ...(isObject(metadata) ? { metadata: asGo(objectMetaType(), metadata) } : {}) }
}

/**
 * Sets a missing `metadata.namespace` to the namespace of the request.
 *
 * @throws {StatusError} 400 when the namespace of the object differs from the namespace of the request.
 */
export function inNamespace(object: JsonObject, namespace: string | undefined): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  if (namespace === undefined || metadata.namespace === namespace) return object
  if (textOr(metadata.namespace, '') !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

function textOr(value: JsonValue | undefined, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other
}
