/** Selects the fields of an object that field managers can own. */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { AppliedType } from './applied-type.ts'
import { asGo } from '../types/go-value.ts'

/** Fields of `metadata` that no manager owns (k8s.io/apimachinery/pkg/util/managedfields/internal: stripmeta.go). */
const untrackedMetadata = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
])

/**
 * Returns the part of `config` whose fields a manager can own through a request to `subresource`. `subresource` is empty for a request to
 * the object itself.
 */
export function ownedPart(info: AppliedType, config: JsonObject, subresource: string): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, status, ...rest } = config
  const unchanged = info.subresources[subresource]?.keptMetadata ?? []
  const tracked = Object.entries(isObject(metadata) ? metadata : {}).filter(
    ([key]) => !untrackedMetadata.has(key) && !unchanged.includes(key),
  )
  const ownMetadata = Object.fromEntries(tracked)
  const ownStatus = status === undefined ? {} : { status }
  if (subresource === 'status') return { metadata: info.custom ? {} : ownMetadata, ...ownStatus }
  return { ...rest, metadata: ownMetadata, ...(Object.hasOwn(info.subresources, 'status') ? {} : ownStatus) }
}

/**
 * Encodes an object as Go does. Returns the fields that a manager can own through a request to `subresource`.
 *
 * If `object` is undefined, the result contains only the empty fields that Go encodes in every object, such as `status: {}`. When a manager
 * creates an object, the manager owns only the fields that differ from this result, and therefore none of these empty fields.
 */
export function trackedPart(info: AppliedType, object: JsonObject = {}, subresource: string): JsonObject {
  return ownedPart(info, info.goType === undefined ? object : asGo(info.goType, object), subresource)
}
