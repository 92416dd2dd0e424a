/** `ProbeOutcome` and `ProbeError`: the ways in which one run of a probe can end (k8s.io/kubernetes/pkg/probe: Result). */

/** A warning counts as a success. */
export interface ProbeOutcome {
  readonly kind: 'success' | 'warning' | 'failure'
  /** The text for the Event of the kubelet. */
  readonly output: string
}

/**
 * The error of a run without an outcome, for example because the command could not be started. If further attempts also fail, the kubelet
 * ignores the run (`runProbe`).
 */
export class ProbeError extends Error {
  /** The state in the Event of the kubelet. */
  readonly state: 'unknown' | 'failure'

  constructor(message: string, options: ErrorOptions & { readonly state?: 'unknown' | 'failure' } = {}) {
    super(message, options)
    this.state = options.state ?? 'unknown'
  }
}
