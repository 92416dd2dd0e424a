/** Recognizes requests to which neither the schema nor the handlers apply. */
import type { JsonObject } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { DecodedReview } from './admission-review.ts'

/**
 * Returns true for requests that a webhook for the objects of a type must allow:
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
 * Returns the object without its metadata. Changes of all other fields are reviewed even while the object is being deleted, because a
 * controller with a finalizer may still act on these fields.
 */
function content(object: JsonObject | undefined): object {
  return { ...object, metadata: undefined }
}
