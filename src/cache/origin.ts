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
 * - the reconcile of this process that has written the object,
 * - `unknown` for an event of the watch, because the event may be the result of a write of this process whose response has not arrived yet,
 * - undefined in all other cases, e.g. for a listed object.
 */
export type Cause = Origin | 'unknown' | undefined
