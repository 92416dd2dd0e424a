/** `meta/v1 Status`: the body of the API server's response to a failed request. A webhook that denies a request also returns a `Status`. */

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { resourceVersion?: string; continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  /** The machine-readable reason: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`, `Expired`, …. */
  reason?: string
  details?: StatusDetails
  /** The HTTP status code. */
  code?: number
}

/** Returns a failure `Status`. */
export function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, ...(details && { details }), code }
}
