/** `RequestReport`: the outcome of one attempt of a request to the API server, for metrics. */

export interface RequestReport {
  readonly method: string
  /** The Kubernetes API verb: `get`, `list`, `watch`, … */
  readonly verb: string
  readonly host: string
  /** The HTTP status code; `error` when there was no response. */
  readonly code: number | 'error'
  /** Seconds until the response was complete. For a stream, seconds until the response headers arrived. */
  readonly seconds: number
  /** True when an earlier attempt of the same request has failed; absent for the first attempt. */
  readonly isRetry?: boolean
  /** Size of the request's body in bytes. Absent for a stream. */
  readonly requestBytes?: number
  /** Size of the response's body in bytes. Absent for a stream, and when there was no response. */
  readonly responseBytes?: number
}

/** Returns the sizes of the bodies of a request and its response. */
export function sizesOf(body = '', received: string | undefined): Pick<RequestReport, 'requestBytes' | 'responseBytes'> {
  const requestBytes = Buffer.byteLength(body)
  return received === undefined ? { requestBytes } : { requestBytes, responseBytes: Buffer.byteLength(received) }
}
