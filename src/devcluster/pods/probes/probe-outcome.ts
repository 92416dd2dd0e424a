/** `ProbeOutcome` and `ProbeError`: the ways in which one run of a probe can end (k8s.io/kubernetes/pkg/probe: Result). */

/** A warning counts as a success. */
export interface ProbeOutcome {
  readonly kind: 'success' | 'warning' | 'failure'
  /** The text for the Event of the kubelet. */
  readonly output: string
}

/** A run without an outcome, for example because the command could not be started. The kubelet tries again, and then ignores the run. */
export class ProbeError extends Error {
  /** The state that the Event of the kubelet names. */
  readonly state: 'unknown' | 'failure'

  constructor(message: string, options: ErrorOptions & { readonly state?: 'unknown' | 'failure' } = {}) {
    super(message, options)
    this.state = options.state ?? 'unknown'
  }
}
