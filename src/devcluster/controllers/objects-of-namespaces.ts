/** Functions for controllers that maintain one object in each namespace. */
import type { ObjectKey } from '../../api/object.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../client/api-error.ts'

/** Returns a function that maps an object with this name to the key of its namespace, and any other object to no key. */
export function inNamespaces(name: string) {
  return ({ metadata }: { readonly metadata: ObjectKey }): readonly ObjectKey[] =>
    metadata.name === name && metadata.namespace !== undefined ? [{ name: metadata.namespace }] : []
}

/**
 * Ignores the error of a write that is no longer needed: the object already exists, or its namespace is terminating or deleted. Throws
 * every other error.
 */
export function ignoreRaces(error: unknown): void {
  if (!isAlreadyExists(error) && !isNotFound(error) && !isForbidden(error)) throw error
}
