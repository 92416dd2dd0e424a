/** `Origin`: the reconcile that has written an object. */

/** Event handlers compare origins by identity: each reconcile is an origin of its own. */
export interface Origin {
  /** The name of the controller. */
  readonly controller: string
  /** The key of the object that is being reconciled, e.g. `default/web`. */
  readonly key: string
}

/**
 * The cause of a change: a reconcile of this process; undefined for another client; `unknown` for an event of the watch, which may be the
 * result of a write whose response has not arrived yet.
 */
export type Cause = Origin | 'unknown' | undefined
