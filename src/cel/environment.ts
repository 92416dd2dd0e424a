/**
 * Compiles and evaluates expressions in the CEL environment of Kubernetes 1.36. The steps are those of cel-go: parser, checker and planner.
 */
import type { Checked } from './plan/checked.ts'
import { check } from './check/check.ts'
import { CelError, CostLimitExceeded, EvaluationPanic } from './types/errors.ts'
import { CelSyntaxError, formatIssues } from './syntax/issues.ts'
import { functions } from './library/index.ts'
import { parse } from './syntax/parser.ts'
import type { Failures } from './plan/plan.ts'
import { Frame, planProgram } from './plan/plan.ts'
import type { Type } from './types/types.ts'
import { dynType, unwrapOptional } from './types/types.ts'
import { literalIssues } from './check/validators.ts'
import type { Value } from './types/values.ts'
import { perCallLimit } from './limits.ts'

/** Result of one evaluation: its value or its error, and its actual cost. */
export interface Outcome {
  readonly value: Value | undefined
  readonly error: CelError | CostLimitExceeded | undefined
  readonly cost: number
}

export interface CompiledExpression {
  readonly source: string
  readonly type: Type
  /** The variables that the expression refers to. */
  readonly used: ReadonlySet<string>
  readonly checked: Checked
  /**
   * Evaluates the expression once.
   *
   * @param values the values of the variables in the order of their declaration; undefined for a variable without a value. The method
   *   appends slots for local variables to the array.
   * @param failures the errors of the variables, in the same order as `values`; undefined for a variable without an error. A variable has
   *   an error if its data does not match the schema. If the expression reads such a variable, the evaluation of this part of the
   *   expression fails with the error of the variable.
   */
  evaluate(values: (Value | undefined)[], failures?: Failures): Outcome
}

/** The compiled expression, or the compile error with the message of kube-apiserver. */
export type Compilation =
  | { readonly expression: CompiledExpression }
  | {
      readonly problem: string
      /**
       * The result of the type check. It is undefined if the type check failed. It is set if the type check succeeded, but the CEL program
       * could not be created, for example because a constant cannot be converted.
       */
      readonly checked?: Checked
    }

/**
 * Compiles an expression, such as a match condition.
 *
 * ```ts
 * const compiled = compileExpression("object.metadata.name != 'x'", { object: dynType })
 * if ('expression' in compiled) compiled.expression.evaluate([dynamicValue(object)])
 * ```
 *
 * @param mayBeNull true if values may be null although their CEL types do not allow null. For example, list items can be `nullable` in the
 *   schema, which the CEL type of the list cannot express.
 */
export function compileExpression(source: string, variables: Readonly<Record<string, Type>>, mayBeNull = false): Compilation {
  const names = Object.keys(variables)
  const declarations = { variables: new Map(Object.entries(variables)), functions }
  let checked: Checked
  try {
    const result = check(parse(source), declarations)
    const issues = result.issues.length > 0 ? result.issues : literalIssues(result.checked)
    if (issues.length > 0) return { problem: `compilation failed: ${formatIssues(source, issues)}` }
    checked = result.checked
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return { problem: `compilation failed: ${formatIssues(source, error.issues)}` }
  }
  try {
    // With `isDynamic`, function calls check the types of their arguments. This check is necessary if a value may be null. It is also
    // necessary for optionals, because the value in an optional may have lost its schema (see plain-optional.ts).
    const isDynamic = mayBeNull || [...checked.types.values()].some((type) => unwrapOptional(type) !== undefined)
    const { slots, eval: evaluate } = planProgram(checked, names, isDynamic)
    const run = (values: (Value | undefined)[], failures?: Failures): Outcome => {
      while (values.length < slots) values.push(undefined)
      const frame = new Frame(values, perCallLimit, failures)
      // Capturing a stack trace is slow. Errors of expressions do not need a stack trace.
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      try {
        const value = evaluate(frame)
        if (frame.cost > perCallLimit) throw new CostLimitExceeded()
        return { value, error: undefined, cost: frame.cost }
      } catch (error) {
        // An exceeded cost limit takes precedence over an error of the expression.
        const isCancelled = error instanceof CelError && frame.cost > perCallLimit
        return { value: undefined, error: isCancelled ? new CostLimitExceeded() : failure(error), cost: frame.cost }
      } finally {
        Error.stackTraceLimit = stackTraceLimit
      }
    }
    return { expression: { source, type: checked.types.get(checked.expr) ?? dynType, used: checked.used, checked, evaluate: run } }
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    return { problem: `program instantiation failed: ${error.message}`, checked }
  }
}

/** Returns the error to report for a thrown error. A RangeError means that a deeply nested object exhausted the stack. */
function failure(error: unknown): CelError | CostLimitExceeded {
  if (error instanceof CelError || error instanceof CostLimitExceeded) return error
  if (error instanceof EvaluationPanic) return new CelError(`internal error: ${error.message}`)
  if (error instanceof RangeError) return new CelError('value is nested too deep')
  throw error
}
