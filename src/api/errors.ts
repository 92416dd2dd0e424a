/** `ProreusError`: the class of all errors that Proreus itself reports. */

/** The stable codes of errors, one for each kind of failure, with their meanings. */
export const errorCodes = {
  PRO_KIND_INVALID: 'The definition of a kind is invalid: its names, versions, storage, or an unknown keyword of a schema.',
  PRO_SCHEMA_INVALID: 'A schema is not structural, or cannot be expressed in a CRD.',
  PRO_CONFIG_INVALID: 'An option, a configuration file or an operator is invalid.',
  PRO_KUBECONFIG: 'The kubeconfig is missing, unreadable or unusable.',
  PRO_API: 'The API server answered with an error, or with an invalid response.',
  PRO_API_UNREACHABLE: 'The API server cannot be reached.',
  PRO_PORT_IN_USE: 'An address to listen on is in use.',
  PRO_CERTIFICATE: 'A certificate, key or authority is missing, damaged, expired or not trusted.',
  PRO_PERMISSION: 'A right on the API server is missing, or a file may not be read or written.',
  PRO_STATE_FILE: 'A state file is unusable.',
  PRO_INPUT: 'An argument is invalid.',
  PRO_ABORTED: 'The process is shutting down.',
} as const

export type ErrorCode = keyof typeof errorCodes

/**
 * An error with a machine-readable, stable `code`, and a human-readable `message` that states the cause and what the user can do. The
 * command line prints only the message of a `ProreusError`. For any other error, the command line also prints the stack trace.
 */
export class ProreusError extends Error {
  override readonly name: string = 'ProreusError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** Returns the message of a thrown value, followed by the messages of its causes, e.g. `message: cause`. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  const cause = error.cause === undefined ? '' : messageOf(error.cause)
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}
