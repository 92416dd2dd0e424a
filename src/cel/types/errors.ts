/** Errors that end the evaluation of an expression. */

/** A CEL error, such as `no such key: x`. `&&`, `||` and the macros that expand to them may absorb it. */
export class CelError extends Error {
  override readonly name = 'CelError'
}

/** Thrown when the expression exceeded its cost limit. This error is never absorbed. */
export class CostLimitExceeded extends Error {
  override readonly name = 'CostLimitExceeded'
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Thrown where kube-apiserver's Go code panics, which ends the evaluation. This error is never absorbed. */
export class EvaluationPanic extends Error {
  override readonly name = 'EvaluationPanic'
}

export function noSuchOverload(detail?: string): CelError {
  return new CelError(detail === undefined ? 'no such overload' : `no such overload: ${detail}`)
}
