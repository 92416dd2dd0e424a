/** How the evaluation of an expression ends without a value. */

/** An error of CEL itself, such as `no such key: x`. `&&`, `||` and the macros made of them may absorb it. */
export class CelError extends Error {
  override readonly name = 'CelError'
}

/** The expression cost more than it may; nothing absorbs this. */
export class CostLimitExceeded extends Error {
  override readonly name = 'CostLimitExceeded'
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** The API server's own program fails in such a place, which ends the evaluation: nothing absorbs this. */
export class EvaluationPanic extends Error {
  override readonly name = 'EvaluationPanic'
}

export function noSuchOverload(detail?: string): CelError {
  return new CelError(detail === undefined ? 'no such overload' : `no such overload: ${detail}`)
}
