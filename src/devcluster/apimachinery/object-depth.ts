/**
 * Limits the levels of nesting of stored objects. Without this limit, a deeply nested object could exhaust the stack in a recursive
 * function.
 */
import { isDeeperThan, maxNesting } from '../../schema/depth.ts'

/** Maximum number of levels of an object: the levels of a custom resource, and some levels for its managedFields. */
const maxObjectDepth = maxNesting + 100

export function isTooDeep(object: unknown): boolean {
  return isDeeperThan(object, maxObjectDepth)
}
