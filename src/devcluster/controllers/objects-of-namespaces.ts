/** Functions for controllers that maintain one object in each namespace. */
import type { ObjectKey } from '../../api/object.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../client/api-error.ts'

/**
 * Returns a function that maps an object to keys of namespaces. For an object with the given name, the function returns the key of the
 * object's namespace. For every other object, the function returns an empty list.
 */
export function inNamespaces(name: string) {
  return ({ metadata }: { readonly metadata: ObjectKey }): readonly ObjectKey[] =>
    metadata.name === name && metadata.namespace !== undefined ? [{ name: metadata.namespace }] : []
}

/**
 * Ignores the error if the failed write is no longer needed: either the object already exists, or its namespace is terminating or deleted.
 * Throws every other error.
 */
export function ignoreRaces(error: unknown): void {
  if (!isAlreadyExists(error) && !isNotFound(error) && !isForbidden(error)) throw error
}
