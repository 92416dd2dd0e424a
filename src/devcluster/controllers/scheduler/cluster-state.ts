/** The part of the cluster's state that the scheduler uses to select a node for a Pod. */
import type { ReadonlyNode, ReadonlyObject, ReadonlyPod } from '../api-types.ts'

export interface ClusterState {
  readonly nodes: readonly ReadonlyNode[]
  /** Returns the Pods that are bound to a node and have not ended. */
  podsOn(node: string): readonly ReadonlyPod[]
  /** Returns a namespace. Returns undefined when the cache does not contain it. */
  namespace(name: string): ReadonlyObject | undefined
}
