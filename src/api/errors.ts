/** The error type of everything that Proreus itself reports. */

/** Stable codes, one for each kind of failure; listed with their meaning in docs/reference/errors.md. */
export type ErrorCode =
  | 'PRO_KIND_INVALID'
  | 'PRO_SCHEMA_INVALID'
  | 'PRO_CONFIG_INVALID'
  | 'PRO_KUBECONFIG'
  | 'PRO_API'
  | 'PRO_API_UNREACHABLE'
  | 'PRO_PORT_IN_USE'
  | 'PRO_CERTIFICATE'
  | 'PRO_PERMISSION'
  | 'PRO_STATE_FILE'
  | 'PRO_INPUT'
  | 'PRO_ABORTED'

/**
 * An error with a stable `code` for programs and a `message` that says to a person what happened and what to do.
 * The command line prints the message alone; a stack is for errors that are not of this class.
 */
export class ProreusError extends Error {
  override readonly name: string = 'ProreusError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** The message of anything that was thrown, and of its causes, on one line. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  const cause = error.cause === undefined ? '' : messageOf(error.cause)
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}
