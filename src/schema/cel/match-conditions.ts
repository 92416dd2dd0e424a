/** Match conditions of admission webhooks: expressions that must all be true of a request before the webhook is called. */
import type { JsonObject } from '../../api/json.ts'
import { admissionVariables } from './admission-variables.ts'
import { dynamicValue } from './dynamic-value.ts'
import type { CompiledExpression } from './environment.ts'
import { compileExpression } from './environment.ts'
import type { AuthorizerValue, ResourceCheck } from './library/authorization.ts'
import { fullTypeName } from './types.ts'

/** What all conditions of one webhook may cost together: about a quarter of a second. */
const budget = 2_500_000
const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** `internal`: the expression itself is well-formed, and no program can be made of it. */
export type MatchConditionCompilation =
  { readonly expression: CompiledExpression } | { readonly problem: string; readonly internal: boolean }

/** What conditions look at. */
export interface MatchRequest {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
  /** `request` of an AdmissionReview, without its objects. */
  readonly request: JsonObject
  readonly authorizer: AuthorizerValue
  readonly requestResource: ResourceCheck
}

/** Undefined: all are true. Otherwise one is false, or what went wrong. */
export type Mismatch = undefined | { readonly error?: string }

/**
 * Compiles the expression of a match condition, with what is wrong with it in the words of the API server.
 *
 * ```ts
 * compileMatchCondition("object.metadata.name") // { problem: 'must evaluate to bool but got dyn', internal: false }
 * ```
 */
export function compileMatchCondition(source: string): MatchConditionCompilation {
  const compiled = compileExpression(source, admissionVariables)
  if ('problem' in compiled) return { ...compiled, internal: compiled.problem.startsWith('program instantiation failed') }
  const { type } = compiled.expression
  if (type.kind === 'bool') return compiled
  return { problem: `must evaluate to bool but got ${fullTypeName(type)}`, internal: false }
}

/** Evaluates all conditions: a false one decides, whatever errors the others have. */
export function evaluateMatchConditions(conditions: readonly MatchConditionCompilation[], given: MatchRequest): Mismatch {
  const values = [
    given.object === undefined ? null : dynamicValue(given.object),
    given.oldObject === undefined ? null : dynamicValue(given.oldObject),
    null,
    dynamicValue(given.request),
    given.authorizer,
    given.requestResource,
  ]
  const errors: string[] = []
  let left = budget
  let isFalse = false
  for (const condition of conditions) {
    if ('problem' in condition) {
      errors.push(`compilation error: ${condition.problem}`)
      continue
    }
    const { value, error, cost } = condition.expression.evaluate([...values])
    left -= cost
    if (left < 0) return { error: outOfBudget }
    if (error !== undefined) errors.push(`expression '${condition.expression.source}' resulted in error: ${error.message}`)
    else if (value === false) isFalse = true
  }
  if (isFalse) return {}
  if (errors.length === 0) return undefined
  const told = [...new Set(errors)]
  return { error: told.length === 1 ? told[0]! : `[${told.join(', ')}]` }
}
