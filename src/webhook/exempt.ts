/** Requests about an object whose content the schema and handlers have no say in. */
import type { JsonObject } from '../api/json.ts'
import { isObject, jsonEqual } from '../api/json.ts'
import type { DecodedReview } from './review.ts'

/**
 * Subresources, for `/status` must stay writable whatever the spec is; and changes to the metadata of an object that is being deleted, for
 * an object that was valid once must be able to lose its finalizers.
 */
export function isExempt({ request: { operation, subResource }, object, oldObject }: DecodedReview): boolean {
  if (subResource !== '' || operation === 'CONNECT') return true
  return operation === 'UPDATE' && isBeingDeleted(oldObject) && jsonEqual(content(object), content(oldObject))
}

function isBeingDeleted(object: JsonObject | undefined): boolean {
  return isObject(object?.metadata) && object.metadata.deletionTimestamp !== undefined
}

/** What an object says beside its metadata; finalizers may still act on it, so a change of it is never let through unseen. */
function content(object: JsonObject | undefined): object {
  return { ...object, metadata: undefined }
}
