/** `Origin`: the reconcile that has written an object. */

/** A reconcile that has written an object. Each reconcile has its own `Origin` object. These objects are compared by identity. */
export interface Origin {
  /** The name of the controller. */
  readonly controller: string
  /** The key of the object that is being reconciled, e.g. `default/web`. */
  readonly key: string
}

/**
 * The cause of a change:
 *
 * - an `Origin`: this reconcile of this process has written the object.
 * - `unknown`: an ADDED or MODIFIED event of the watch. The write is from another client, or from this process if the response to the write
 *   has not arrived yet.
 * - undefined: all other cases, e.g. a listed object.
 */
export type Cause = Origin | 'unknown' | undefined
