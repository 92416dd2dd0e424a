/** `missingRule`: the RBAC rule for want of which a request was refused. */
import type { PolicyRule } from '../api/policy-rule.ts'
import { isForbidden } from './api-error.ts'

/**
 * What the API server says when its authorizer refuses (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: forbiddenMessage).
 * Admission answers with 403 too, and in other words: no rule would help there.
 */
const refusal = /\bUser "(?:[^"\\]|\\.)*" cannot (\S+) (?:resource "([^"]+)" in API group "([^"]*)"|path "([^"]+)")/

/** The rule that the first refused request among an error, its causes and its parts lacks; undefined when there is none. */
export function missingRule(error: unknown): PolicyRule | undefined {
  if (!(error instanceof Error)) return undefined
  if (isForbidden(error)) return ruleIn(error.message)
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  for (const part of parts) {
    const rule = missingRule(part)
    if (rule !== undefined) return rule
  }
  return undefined
}

function ruleIn(message: string): PolicyRule | undefined {
  const [, verb, resource, group, path] = refusal.exec(message) ?? []
  if (verb === undefined) return undefined
  if (resource !== undefined && group !== undefined) return { apiGroups: [group], resources: [resource], verbs: [verb] }
  return path === undefined ? undefined : { apiGroups: [], resources: [], nonResourceURLs: [path], verbs: [verb] }
}

/** What to do about an error of a part of an operator, to stand behind its message; empty when it is not about a permission. */
export function permissionAdvice(error: unknown, part: 'controller' | 'webhook'): string {
  const rule = missingRule(error)
  return rule === undefined ? '' : `: it lacks a permission; add ${ruleText(rule)} to the \`rbac\` of the ${part}, and apply its RBAC anew`
}

/** As it stands in a program. */
function ruleText(rule: PolicyRule): string {
  const fields = Object.entries(rule).map(([name, values]: [string, readonly string[]]) => {
    return `${name}: [${values.map((value) => `'${value}'`).join(', ')}]`
  })
  return `{ ${fields.join(', ')} }`
}
