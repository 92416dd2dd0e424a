/** Expressions of Kubernetes 1.36: checked against the types of their variables, and made ready to be evaluated. */
import type { Checked } from './checked.ts'
import { check } from './check.ts'
import { CelError, CostLimitExceeded, EvaluationPanic } from './errors.ts'
import { CelSyntaxError, formatIssues } from './issues.ts'
import { functions } from './library/index.ts'
import { parse } from './parser.ts'
import type { Failures } from './plan.ts'
import { Frame, planProgram } from './plan.ts'
import type { Type } from './types.ts'
import { dynType, unwrapOptional } from './types.ts'
import { literalIssues } from './validators.ts'
import type { Value } from './values.ts'

/** What one call of an expression may cost at most: about a tenth of a second. */
const perCallLimit = 1_000_000

/** How an evaluation ended: with a value or an error, and what it cost. */
export interface Outcome {
  readonly value: Value | undefined
  readonly error: CelError | CostLimitExceeded | undefined
  readonly cost: number
}

export interface CompiledExpression {
  readonly source: string
  readonly type: Type
  /** The variables that it reads. */
  readonly used: ReadonlySet<string>
  readonly checked: Checked
  /**
   * @param values of the variables, in the order in which they were declared; undefined for one that is not there. The array may
   * grow: what else the expression needs to remember comes after them.
   * @param failures why those are not there that are not, as far as there is a reason.
   */
  evaluate(values: (Value | undefined)[], failures?: Failures): Outcome
}

/** The expression, or what is wrong with it in the words of the API server. */
export type Compilation =
  | { readonly expression: CompiledExpression }
  | {
      readonly problem: string
      /** Where it is right in itself, but cannot be made ready. */
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
 * @param mayBeNull whether there may be a null where the types promise something else.
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
    // What was in an optional value may have lost the type of its schema.
    const isDynamic = mayBeNull || [...checked.types.values()].some((type) => unwrapOptional(type) !== undefined)
    const { slots, eval: evaluate } = planProgram(checked, names, isDynamic)
    const run = (values: (Value | undefined)[], failures?: Failures): Outcome => {
      while (values.length < slots) values.push(undefined)
      const frame = new Frame(values, perCallLimit, failures)
      // An error of an expression is no error of this program: nobody asks where in the code it came about.
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      try {
        const value = evaluate(frame)
        if (frame.cost > perCallLimit) throw new CostLimitExceeded()
        return { value, error: undefined, cost: frame.cost }
      } catch (error) {
        // Whatever was wrong besides: it had cost too much by then.
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

/** A value nested too deep for the stack is the object's fault, not this program's. */
function failure(error: unknown): CelError | CostLimitExceeded {
  if (error instanceof CelError || error instanceof CostLimitExceeded) return error
  if (error instanceof EvaluationPanic) return new CelError(`internal error: ${error.message}`)
  if (error instanceof RangeError) return new CelError('value is nested too deep')
  throw error
}
