/** `combinedError`: combines several errors into one error (k8s.io/apimachinery/pkg/util/errors: aggregate.Error). */

/**
 * Returns an error that lists each message once, in brackets. If all errors have the same message, the result has this message without
 * brackets.
 */
export function combinedError(errors: readonly unknown[]): Error {
  const messages = [...new Set(errors.map(messageOf))]
  const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
  return new Error(message, { cause: errors.length === 1 ? errors[0] : errors })
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
