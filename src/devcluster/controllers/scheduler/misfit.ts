/** The reason for which a Pod does not fit on a node. */
export interface Misfit {
  /** The message of the scheduler's plugin. */
  readonly reason: string
  /** True when the Pod would not fit even after the removal of other Pods from the node (UnschedulableAndUnresolvable). */
  readonly isFinal: boolean
}
