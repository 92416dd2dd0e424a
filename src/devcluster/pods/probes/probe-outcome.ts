/** `ProbeOutcome` and `ProbeError`: the ways in which one run of a probe can end (k8s.io/kubernetes/pkg/probe: Result). */

/** A warning counts as a success. */
export interface ProbeOutcome {
  readonly kind: 'success' | 'warning' | 'failure'
  /** The text for the Event of the kubelet. */
  readonly output: string
}

/**
 * The error of an attempt that ends without an outcome: the probe neither succeeds nor fails, for example because the command could not be
 * started. `runProbe` then makes up to two more attempts. If all three attempts end with this error, the result of the probe does not
 * change, as in the kubelet.
 */
export class ProbeError extends Error {
  /** The state that the message of the kubelet's Event contains: `… probe errored and resulted in STATE state`. Default `unknown`. */
  readonly state: 'unknown' | 'failure'

  constructor(message: string, options: ErrorOptions & { readonly state?: 'unknown' | 'failure' } = {}) {
    super(message, options)
    this.state = options.state ?? 'unknown'
  }
}
