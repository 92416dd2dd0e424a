/**
 * Match conditions of admission webhooks. The webhook is called only if all of its match conditions are true
 * (`k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions: Match`).
 */
import type { JsonObject } from '../api/json.ts'
import { admissionVariables } from './admission-variables.ts'
import { dynamicValue } from './types/dynamic-value.ts'
import type { CompiledExpression } from './environment.ts'
import { compileExpression } from './environment.ts'
import type { AuthorizerValue, ResourceCheck } from './library/authorization.ts'
import { fullTypeName } from './types/types.ts'
import { conditionsBudget } from './limits.ts'

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/**
 * The compiled expression, or its compile error. `internal` is true if the type check succeeded and the creation of the CEL program failed.
 */
export type MatchConditionCompilation =
  { readonly expression: CompiledExpression } | { readonly problem: string; readonly internal: boolean }

/** The admission request for which the match conditions are evaluated. */
export interface MatchRequest {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
  /** The `request` field of the AdmissionReview, without its fields object and oldObject. */
  readonly request: JsonObject
  readonly authorizer: AuthorizerValue
  readonly requestResource: ResourceCheck
}

/** Undefined if all conditions are true, `{}` if a condition is false, and `{ error }` if the evaluation failed. */
export type Mismatch = undefined | { readonly error?: string }

/**
 * Compiles a match condition. Error messages are those of kube-apiserver.
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

/**
 * Evaluates all match conditions of a webhook. If the cost budget is exhausted, the result is an error. If a condition is false and the
 * cost budget is not exhausted, the result is `{}`, and the errors of the other conditions are ignored.
 */
export function evaluateMatchConditions(conditions: readonly MatchConditionCompilation[], input: MatchRequest): Mismatch {
  const values = [
    input.object === undefined ? null : dynamicValue(input.object),
    input.oldObject === undefined ? null : dynamicValue(input.oldObject),
    null,
    dynamicValue(input.request),
    input.authorizer,
    input.requestResource,
  ]
  const errors: string[] = []
  let left = conditionsBudget
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
  const distinct = [...new Set(errors)]
  return { error: distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]` }
}
