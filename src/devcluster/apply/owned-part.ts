/** The parts of objects that managers can own. */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { AppliedType } from './server-side-apply.ts'
import { asGo } from '../types/go-value.ts'

/** Metadata that the server itself writes, and that nobody owns. */
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

/** The part of a configuration that a write through this subresource can own. */
export function ownedPart(info: AppliedType, config: JsonObject, subresource: string): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, status, ...rest } = config
  const kept = Object.fromEntries(Object.entries(isObject(metadata) ? metadata : {}).filter(([key]) => !untrackedMetadata.has(key)))
  const ownStatus = status === undefined ? {} : { status }
  if (subresource === 'status') return { metadata: info.custom ? {} : kept, ...ownStatus }
  return { ...rest, metadata: kept, ...(Object.hasOwn(info.subresources, 'status') ? {} : ownStatus) }
}

/** The same of a whole object; of none at all it is what Go has always, which nobody comes to own as such. */
export function trackedPart(info: AppliedType, object: JsonObject = {}, subresource: string): JsonObject {
  return ownedPart(info, info.goType === undefined ? object : asGo(info.goType, object), subresource)
}
