/** Recognizes requests to which neither the schema nor the handlers apply. */
import type { JsonObject } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { DecodedReview } from './admission-review.ts'

/**
 * Returns true for requests that every webhook for the objects of a type must allow. A webhook for a subresource does not use this
 * function. The requests are:
 *
 * - Requests to subresources, because `/status` must stay writable whatever the spec contains.
 * - CONNECT requests.
 * - An update that changes only the metadata of an object that is being deleted. The removal of a finalizer must succeed even after the
 *   rules have become stricter.
 */
export function isExempt({ request: { operation, subResource }, object, oldObject }: DecodedReview): boolean {
  if (subResource !== '' || operation === 'CONNECT') return true
  return operation === 'UPDATE' && isBeingDeleted(oldObject) && jsonEqual(content(object), content(oldObject))
}

function isBeingDeleted(object: JsonObject | undefined): boolean {
  return isObject(object?.metadata) && object.metadata.deletionTimestamp !== undefined
}

/**
 * Returns the object without its metadata. If an update changes one of the remaining fields, the update is reviewed, even while the object
 * is being deleted. The review is necessary because a controller that removes a finalizer may still act on these fields.
 */
function content(object: JsonObject | undefined): object {
  return { ...object, metadata: undefined }
}
