/** Errors that end the evaluation of an expression. */

/**
 * A CEL error, such as `no such key: x`. The operators `&&` and `||`, and the macros that expand to these operators, can ignore a CEL
 * error.
 */
export class CelError extends Error {
  override readonly name = 'CelError'
}

/** Thrown when the evaluation has exceeded its cost limit. Unlike a `CelError`, this error is never ignored by `&&`, `||` or a macro. */
export class CostLimitExceeded extends Error {
  override readonly name = 'CostLimitExceeded'
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Thrown where the Go code of kube-apiserver panics. Unlike a `CelError`, this error is never ignored by `&&`, `||` or a macro. */
export class EvaluationPanic extends Error {
  override readonly name = 'EvaluationPanic'
}

export function noSuchOverload(detail?: string): CelError {
  return new CelError(detail === undefined ? 'no such overload' : `no such overload: ${detail}`)
}
