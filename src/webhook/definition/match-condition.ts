/** `matchConditions`: CEL expressions. The API server calls the webhook only if all expressions are true. */
import type { JsonObject } from '../../api/json.ts'
import { qualifiedName } from '../../api/name-syntax.ts'
import { dynamicValue } from '../../cel/types/dynamic-value.ts'
import { compileMatchCondition } from '../../cel/match-conditions.ts'

export interface MatchCondition {
  /** A qualified name, which is unique in the webhook. The API server uses it in its logs and metrics. */
  readonly name: string
  /** A CEL expression of type bool, for example `request.userInfo.username != "system:kube-scheduler"`. */
  readonly expression: string
}

/** The API server's maximum number of match conditions in a webhook. */
const maxConditions = 64

/** Returns all errors that would make the API server reject the match conditions. */
export function matchConditionProblems(conditions: readonly MatchCondition[]): string[] {
  const names = new Set<string>()
  const problems = conditions.length > maxConditions ? [`matchConditions: must be ${maxConditions} at most`] : []
  conditions.forEach(({ name, expression }, index) => {
    const at = `matchConditions[${index}]`
    problems.push(...qualifiedName(name).map((message) => `${at}.name: ${message}`))
    if (names.has(name)) problems.push(`${at}.name: "${name}" is there twice`)
    names.add(name)
    const problem = expressionProblem(expression)
    if (problem !== undefined) problems.push(`${at}.expression: ${problem}`)
  })
  return problems
}

function expressionProblem(expression: string): string | undefined {
  if (expression.trim() === '') return 'must not be empty'
  const compiled = compileMatchCondition(expression.trim())
  if ('problem' in compiled) return compiled.problem
  // The API server accepts `namespaceObject` in match conditions of webhooks, but its value there is always null.
  return compiled.expression.used.has('namespaceObject') ? 'namespaceObject is not known to webhooks: use namespaceSelector' : undefined
}

const ofTheObject: ReadonlySet<string> = new Set(['object', 'oldObject'])

/**
 * Returns true if at least one of the match conditions is false for a request that creates this object. Conditions that do not compile, and
 * conditions that use variables other than `object` and `oldObject`, are ignored.
 */
export function isRuledOut(conditions: readonly MatchCondition[], object: JsonObject): boolean {
  return conditions.some(({ expression }) => {
    const compiled = compileMatchCondition(expression.trim())
    if ('problem' in compiled || ![...compiled.expression.used].every((variable) => ofTheObject.has(variable))) return false
    return compiled.expression.evaluate([dynamicValue(object), null]).value === false
  })
}
