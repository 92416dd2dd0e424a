/** The messages between the soak drill and its operator. There is one answer for each question, in the order of the questions. */

export type Question = 'heap' | 'state'

export interface Heap {
  /** Bytes of the heap that are used after a garbage collection. */
  readonly heapUsed: number
}

export interface State {
  readonly reconciles: number
  /** The number of keys that wait for a worker. */
  readonly depth: number
  /** The duration in seconds of the oldest running reconcile; 0 when none is running. */
  readonly longestSeconds: number
}

export type Answer = Heap | State
