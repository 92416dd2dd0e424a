/** `matchConditions`: what must be true of a request for the API server to ask a webhook about it. */
import type { JsonObject } from '../api/json.ts'
import { qualifiedName } from '../api/names.ts'
import { dynamicValue } from '../schema/cel/dynamic-value.ts'
import { compileMatchCondition } from '../schema/cel/match-conditions.ts'

export interface MatchCondition {
  /** A qualified name, for logs and metrics of the API server; unique in its webhook. */
  readonly name: string
  /** CEL, true or false: `request.userInfo.username != "system:kube-scheduler"`. */
  readonly expression: string
}

/** As many as the API server takes. */
const maxConditions = 64

/** All that the API server would refuse in conditions. */
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
  // The API server takes it, and then finds that it is null.
  return compiled.expression.used.has('namespaceObject') ? 'namespaceObject is not known to webhooks: use namespaceSelector' : undefined
}

const ofTheObject: ReadonlySet<string> = new Set(['object', 'oldObject'])

/** Whether a condition that only looks at the object keeps a create of it from the webhook; the others take a cluster to tell. */
export function isRuledOut(conditions: readonly MatchCondition[], object: JsonObject): boolean {
  return conditions.some(({ expression }) => {
    const compiled = compileMatchCondition(expression.trim())
    if ('problem' in compiled || ![...compiled.expression.used].every((variable) => ofTheObject.has(variable))) return false
    return compiled.expression.evaluate([dynamicValue(object), null]).value === false
  })
}
