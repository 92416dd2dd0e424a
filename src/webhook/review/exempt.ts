/** Recognizes requests to which neither the schema nor the handlers apply. */
import type { JsonObject } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { DecodedReview } from './admission-review.ts'

/**
 * Returns true if a webhook that reviews the objects of a type must allow the request. The webhook applies neither its schema nor its
 * handlers to such a request. This function is not called for a webhook that reviews requests to a subresource. The following requests must
 * be allowed:
 *
 * - A request to a subresource. For example, a write to `/status` must be possible whatever the spec contains.
 * - A CONNECT request.
 * - An update of an object that is being deleted, if the update changes only the metadata. The removal of a finalizer must succeed even
 *   after the rules have become stricter.
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
