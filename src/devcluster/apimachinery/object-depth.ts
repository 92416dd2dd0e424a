/** Limits the nesting of stored objects, which recursive functions read. */
import { isDeeperThan, maxNesting } from '../../schema/depth.ts'

/** Maximum depth of an object: that of a custom resource, and the few levels that its managedFields have in addition. */
const maxObjectDepth = maxNesting + 100

export function isTooDeep(object: unknown): boolean {
  return isDeeperThan(object, maxObjectDepth)
}
