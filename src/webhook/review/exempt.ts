/** Requests to which neither the schema nor the handlers apply. */
import type { JsonObject } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { DecodedReview } from './admission-review.ts'

/**
 * Returns true for a subresource, because `/status` must stay writable whatever the spec contains, and for an update that changes only the
 * metadata of an object that is being deleted, because removing a finalizer must never fail, even when the rules have become stricter.
 */
export function isExempt({ request: { operation, subResource }, object, oldObject }: DecodedReview): boolean {
  if (subResource !== '' || operation === 'CONNECT') return true
  return operation === 'UPDATE' && isBeingDeleted(oldObject) && jsonEqual(content(object), content(oldObject))
}

function isBeingDeleted(object: JsonObject | undefined): boolean {
  return isObject(object?.metadata) && object.metadata.deletionTimestamp !== undefined
}

/**
 * Returns the object without its metadata. A controller with a finalizer may still act on the rest of the object, so the webhook applies to
 * changes of the rest.
 */
function content(object: JsonObject | undefined): object {
  return { ...object, metadata: undefined }
}
